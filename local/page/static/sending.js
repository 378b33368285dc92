// What becomes of what a person writes: a message, a command, or that the bot is added.

import { post } from "./api.js";
import { commandIn } from "./commands.js";
import { isDirect } from "./state.js";
import { spoken } from "./strings.js";

/** Send what is written in `space`, in `thread` or (null) a new one; resolves to the message, if it is one. */
export function send(state, { space, thread, text, mention, file }) {
  const who = { person: state.person, locale: spoken() };
  if (!state.botIsHere && (mention || isDirect(state.current))) {
    return post("/page/members", { ...who, space, bot: "add", text });
  }
  const given = file || !state.botIsHere ? null : commandIn(text, state.commands);
  if (given) return command(state, given.command, { space, thread, text: given.words });
  return post("/page/messages", { ...who, space, thread, text, mention, attachment: file });
}

/** Give a command. */
export function command(state, { id }, { space, thread, text = "" }) {
  return post("/page/commands", { person: state.person, locale: spoken(), space, thread, text, command: id });
}

/** What Chat is told of a file that is attached: nothing is uploaded. */
export function attachmentOf({ name, type }) {
  return { name: name.slice(0, 200), type: /^[a-z]+\/[a-zA-Z0-9.+-]+$/.test(type) ? type : "application/octet-stream" };
}
