// Where the address says the person is: in the chat, or somewhere in the operator view.

const OPERATOR = /^#operator(?:\/(group|state|case)\/([^/]+))?$/;

/** The place in the operator view: `{view, id}` with the view `groups`, `group`, `state` or `case`; null: the chat. */
export function placeIn(fragment) {
  const [found, view = "groups", id = ""] = fragment.match(OPERATOR) ?? [];
  if (!found) return null;
  try {
    return { view, id: decodeURIComponent(id) };
  } catch {
    return { view: "groups", id: "" };
  }
}

/** The address of a place. */
export function addressOf(view, id) {
  return view === "groups" ? "#operator" : `#operator/${view}/${encodeURIComponent(id)}`;
}
