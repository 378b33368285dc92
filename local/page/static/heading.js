// What stands above: where the person is, in words.

import { isDirect } from "./state.js";
import { say } from "./strings.js";

/** Bring the heading and the title of the window up to date. */
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
