// Where the person is, in the chat or in the operator view: the address, and the heading that says so.

import { isDirect } from "./state.js";
import { say } from "./strings.js";

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

/** Update the heading and the title of the window. */
export function drawHeading({ title, subtitle }, state) {
  const words = wordsFor(state);
  title.textContent = words.title;
  subtitle.textContent = words.subtitle;
  document.title = words.title && words.title !== "threadwise" ? `${words.title} · threadwise` : "threadwise";
}

function wordsFor({ place, current, botIsHere, bot: { displayName: bot } }) {
  if (place) return { title: say("deadLetters"), subtitle: say("deadLettersHint") };
  if (!current) return { title: "", subtitle: "" };
  if (!botIsHere) return { title: isDirect(current) ? bot : current.displayName, subtitle: "" };
  if (isDirect(current)) return { title: bot, subtitle: say("directHint", { bot }) };
  return { title: current.displayName, subtitle: say("spaceHint", { bot }) };
}
