// Requests to the server, and the stream of changes from it.

const ANSWER_MS = 15_000;
const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 8_000;

/** The JSON answer to a GET. Throws an Error with the server's message and `status`, or without them if it cannot be reached. */
export function get(path) {
  return ask(path, {});
}

/** The JSON answer to a POST of `body`, within a number of milliseconds. Throws as get() does. */
export function post(path, body, patience = ANSWER_MS) {
  const headers = { "Content-Type": "application/json" };
  return ask(path, { method: "POST", headers, body: JSON.stringify(body) }, patience);
}

async function ask(path, options, patience = ANSWER_MS) {
  let response;
  try {
    response = await fetch(path, { ...options, signal: AbortSignal.timeout(patience) });
  } catch {
    throw new Error("");
  }
  const answer = await response.json().catch(() => null);
  if (response.ok) return answer;
  const message = answer?.error?.message ?? `${response.status} ${response.statusText}`;
  throw Object.assign(new Error(message), { status: answer?.error?.status });
}

/**
 * Follow the server for as long as the page is open: `loaded(state)` after every (re)connection,
 * `changed(event)` for each change after it, `lost()` when the connection breaks.
 */
export function follow({ loaded, changed, lost }) {
  let delay = FIRST_RETRY_MS;

  function connect() {
    const source = new EventSource("/page/events");
    let overtaking = []; // changes that arrive before the state they belong on top of
    source.onopen = async () => {
      try {
        loaded(await get("/page/state"));
      } catch {
        retry();
        return;
      }
      overtaking.forEach(changed);
      overtaking = null;
      delay = FIRST_RETRY_MS;
    };
    source.onmessage = ({ data }) => {
      const change = JSON.parse(data);
      if (overtaking) overtaking.push(change);
      else changed(change);
    };
    source.onerror = retry;

    // We do not use the browser's own reconnection: it stops for good after a refused answer, and does not reload the state.
    function retry() {
      if (source.onerror === null) return;
      source.onerror = null;
      source.close();
      lost();
      setTimeout(connect, delay);
      delay = Math.min(delay * 2, LAST_RETRY_MS);
    }
  }

  connect();
}
