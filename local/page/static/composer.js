// The box to write in: Enter sends, Shift+Enter starts a new line. It has a mention of the bot that can be removed,
// a list of commands, and a file.

import { attachmentOf, CommandList, takesWords } from "./commands.js";
import { h, morphChildren } from "./dom.js";
import { icon } from "./icons.js";
import { localise, say } from "./strings.js";

/** A composer. It keeps a draft for each place (`open(place)`) until the draft is sent. */
export class Composer {
  #drafts = new Map();
  #place = null;
  #mention = true;
  #around = { bot: "", canMention: false, isHere: true, commands: [] };
  #file = null;
  #label;
  #send;
  #command;
  #escape;

  /**
   * `send(place, {text, mention, file})` returns a promise; when it rejects, all stays. `command(place, command)`
   * gives one that takes no words, and returns a promise, too. `escape()` is called on Escape. `ids` are the `data-testid`s of the field and
   * the button; `label` is the key of the field's words.
   */
  constructor({ ids, label, send, command, escape }) {
    this.#label = label;
    this.#send = send;
    this.#command = command;
    this.#escape = escape;
    this.chip = h("span", { class: "chip-slot" });
    this.attached = h("span", { class: "attached-slot", hidden: true });
    this.field = h("textarea", { rows: "1", "data-testid": ids.field });
    this.list = new CommandList(this.field, (command) => this.#chosen(command));
    this.slash = h("button", { type: "button", class: "round tool", "data-label": "commands" }, icon("slash"));
    this.attach = h("button", { type: "button", class: "round tool", "data-label": "attach" }, icon("attach_file"));
    this.picker = h("input", { type: "file", class: "unseen", tabindex: "-1", "aria-hidden": "true" });
    const sending = { type: "submit", class: "round send", "data-testid": ids.button, "data-label": "send" };
    this.button = h("button", sending, icon("send"));
    const tools = h("span", { class: "tools" }, this.slash, this.attach, this.picker);
    this.element = h("form", { class: "composer" }, this.list.element, this.attached, this.chip, this.field, tools, this.button);
    this.#listen();
  }

  /** Write in another place (a space or a thread). The text in the current one stays as a draft. */
  open(place, around) {
    // Where the bot is not a member, a mention would add it. So it is off until the person asks for it.
    if (place !== this.#place || around.isHere !== this.#around.isHere) this.#mention = around.isHere;
    if (place !== this.#place) {
      this.#drafts.set(this.#place, this.field.value);
      this.field.value = this.#drafts.get(place) ?? "";
      this.#place = place;
      this.#file = null;
      this.list.close();
    }
    this.#around = around;
    this.draw();
  }

  /** Draw the texts again, in the current language. */
  draw() {
    this.#drawChip();
    this.#drawFile();
    this.#drawButton();
    this.field.dataset.label = this.#around.canMention && !this.#mention ? "writeToPeople" : this.#label;
    this.slash.hidden = !this.#around.isHere;
    localise(this.element, { bot: this.#around.bot });
  }

  /** Send the text of a suggestion. */
  ask(text) {
    this.field.value = text;
    return this.submit();
  }

  /** Send the text. It stays in the box until the server has accepted it. */
  async submit() {
    const text = this.field.value.trim();
    if (!(text || this.#file) || this.field.readOnly) return;
    const place = this.#place;
    this.#lock(true);
    try {
      await this.#send(place, { text, mention: this.#around.canMention && this.#mention, file: this.#file });
      this.#sent(place);
    } catch {
      // The caller of `send` shows the error. The text is still here.
    } finally {
      this.#lock(false);
    }
  }

  #listen() {
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
    this.element.addEventListener("keydown", (event) => this.#onKey(event));
    this.field.addEventListener("input", () => {
      this.#drawButton();
      if (this.#around.isHere && /^\/\S*$/.test(this.field.value)) this.#openList(false);
      else this.list.close();
    });
    this.chip.addEventListener("click", (event) => event.target.closest("button") && this.#toggleMention());
    this.slash.addEventListener("mousedown", (event) => event.preventDefault());
    this.slash.addEventListener("click", () => {
      this.field.focus();
      if (this.list.isOpen) this.list.close();
      else this.#openList(true);
    });
    this.attach.addEventListener("click", () => this.picker.click());
    this.picker.addEventListener("change", () => this.#attach(this.picker.files[0]));
    this.attached.addEventListener("click", (event) => event.target.closest("button") && this.#attach(null));
  }

  #openList(all) {
    this.list.open(this.#around.commands, this.#around.bot, all);
  }

  #chosen(command) {
    if (takesWords(command)) {
      this.field.value = `${command.name} `;
      this.#drawButton();
      return;
    }
    if (this.field.value === "/") this.field.value = "";
    this.#drawButton();
    // The caller of `send` shows what was refused.
    this.#command(this.#place, command).catch(() => {});
  }

  #attach(file) {
    this.#file = file ? attachmentOf(file) : null;
    this.picker.value = "";
    this.draw();
    this.field.focus();
  }

  #sent(place) {
    if (place !== this.#place) {
      this.#drafts.delete(place);
      return;
    }
    this.field.value = "";
    this.#file = null;
    this.#mention = this.#around.isHere;
    this.draw();
  }

  #lock(locked) {
    this.field.readOnly = locked;
    this.#drawButton();
  }

  #onKey(event) {
    // While an input method composes, Enter and Escape belong to it. Safari shows this only by the key code.
    if (event.isComposing || event.keyCode === 229) return;
    if (event.target === this.field && this.list.onKey(event)) {
      event.preventDefault();
      event.stopPropagation();
      return;
    }
    if (event.key === "Escape") this.#escape();
    if (event.key !== "Enter" || event.shiftKey || event.target !== this.field) return;
    event.preventDefault();
    this.submit();
  }

  #toggleMention() {
    this.#mention = !this.#mention;
    this.draw();
    this.field.focus();
  }

  #drawChip() {
    const { bot, canMention } = this.#around;
    this.chip.hidden = !canMention;
    const [label, ...look] = this.#mention
      ? ["removeMention", h("span", {}, `@${bot}`), icon("close")]
      : ["addMention", h("span", {}, "@")];
    const words = { "aria-label": say(label, { bot }), title: say(label, { bot }) };
    const button = h("button", { type: "button", class: "chip", ...words }, ...look);
    morphChildren(this.chip, h("span", {}, button));
  }

  #drawFile() {
    this.attached.hidden = !this.#file;
    if (!this.#file) return;
    const words = { "aria-label": say("removeFile", this.#file), title: say("removeFile", this.#file) };
    const button = h("button", { type: "button", class: "chip", ...words }, icon("attach_file"), h("span", {}, this.#file.name), icon("close"));
    morphChildren(this.attached, h("span", {}, button, h("span", { class: "hint" }, say("fileHint"))));
  }

  #drawButton() {
    this.button.disabled = this.field.readOnly || !(this.field.value.trim() || this.#file);
  }
}
