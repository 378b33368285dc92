// The commands of the bot, and sending: what a person writes becomes a message or a command, or adds the bot.

import { post } from "./api.js";
import { h } from "./dom.js";
import { isDirect } from "./state.js";
import { say, spoken } from "./strings.js";

const SLASH = "SLASH_COMMAND";
let lists = 0;

/** The slash command in a text and the words after it: `{command, words}`, or null. */
function commandIn(text, commands) {
  const [, name, words] = text.match(/^(\/\S+)\s*([^]*)$/) ?? [];
  const command = commands.find((each) => each.type === SLASH && each.name === name?.toLowerCase());
  return command ? { command, words } : null;
}

/** The list above a text field. It calls `chosen(command)` for the chosen one; the field keeps the focus. */
export class CommandList {
  #field;
  #chosen;
  #commands = [];
  #active = 0;
  #bot = "";

  constructor(field, chosen) {
    lists += 1;
    this.#field = field;
    this.#chosen = chosen;
    this.element = h("div", { class: "commands", role: "listbox", id: `commands-${lists}`, hidden: true });
    field.setAttribute("aria-autocomplete", "list");
    field.setAttribute("aria-controls", this.element.id);
    // A press would take the focus from the field and close the list before the click.
    this.element.addEventListener("mousedown", (event) => event.preventDefault());
    this.element.addEventListener("click", ({ target }) => {
      const entry = target.closest("[data-id]");
      if (entry) this.#choose(this.#commands.find(({ id }) => id === Number(entry.dataset.id)));
    });
    field.addEventListener("blur", () => this.close());
  }

  get isOpen() {
    return !this.element.hidden;
  }

  /** Show the commands that start with the text in the field, or all; `bot` is the name of the bot. */
  open(commands, bot, all = false) {
    this.#bot = bot;
    const begun = all ? "" : this.#field.value.toLowerCase();
    this.#commands = commands.filter(({ name, type }) => all || (begun === "/" ? true : type === SLASH && name.startsWith(begun)));
    this.#active = 0;
    this.element.hidden = this.#commands.length === 0;
    this.element.setAttribute("aria-label", say("commands"));
    this.#draw();
  }

  close() {
    this.element.hidden = true;
    this.#field.removeAttribute("aria-activedescendant");
  }

  /** Handle a key while the list is open. Returns whether the list used it. */
  onKey({ key, shiftKey }) {
    if (!this.isOpen) return false;
    const count = this.#commands.length;
    if (key === "ArrowDown") this.#active = (this.#active + 1) % count;
    else if (key === "ArrowUp") this.#active = (this.#active + count - 1) % count;
    else if (key === "Escape") this.close();
    else if ((key === "Enter" && !shiftKey) || key === "Tab") this.#choose(this.#commands[this.#active]);
    else return false;
    if (this.isOpen) this.#draw();
    return true;
  }

  #choose(command) {
    this.close();
    this.#chosen(command);
  }

  #draw() {
    if (!this.isOpen) return;
    const entries = this.#commands.map((command, index) => this.#entry(command, index));
    this.element.replaceChildren(...entries);
    this.#field.setAttribute("aria-activedescendant", entries[this.#active].id);
    entries[this.#active].scrollIntoView({ block: "nearest" });
  }

  #entry({ id, name, type }, index) {
    const what = say(`command_${name.replace("/", "").toLowerCase()}`, { bot: this.#bot }) ?? "";
    return h(
      "div",
      { class: "command", role: "option", id: `${this.element.id}-${id}`, "data-id": id, "aria-selected": String(index === this.#active) },
      h("b", {}, name),
      h("span", { class: "hint" }, what),
      type !== SLASH && h("span", { class: "badge" }, say("quickCommand")),
    );
  }
}

/** Whether a command takes the words after it. */
export function takesWords({ type }) {
  return type === SLASH;
}

/** Send a text to `space`, in `thread` or (null) a new one. Resolves to the message, if the text becomes one. */
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

/** The name and type of a file, as Chat gets them. Nothing is uploaded. */
export function attachmentOf({ name, type }) {
  return { name: name.slice(0, 200), type: /^[a-z]+\/[a-zA-Z0-9.+-]+$/.test(type) ? type : "application/octet-stream" };
}
