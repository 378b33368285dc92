// A box to write in: Enter sends, Shift+Enter breaks the line, a mention of the bot that can be taken out.

import { h, morphChildren } from "./dom.js";
import { icon } from "./icons.js";
import { localise, say } from "./strings.js";

/** One composer; it keeps a draft for each place (`open(place)`) until it is sent. */
export class Composer {
  #drafts = new Map();
  #place = null;
  #mention = true;
  #canMention = false;
  #bot = "";
  #label;
  #send;
  #escape;

  /**
   * `send(place, text, mention)` returns a promise; when it rejects, the text stays. `escape()` is called on Escape.
   * `ids` are the `data-testid`s of the field and the button; `label` is the key of the field's words.
   */
  constructor({ ids, label, send, escape }) {
    this.#label = label;
    this.#send = send;
    this.#escape = escape;
    this.chip = h("span", { class: "chip-slot" });
    this.field = h("textarea", { rows: "1", "data-testid": ids.field });
    const sending = { type: "submit", class: "round send", "data-testid": ids.button, "data-label": "send" };
    this.button = h("button", sending, icon("send"));
    this.element = h("form", { class: "composer" }, this.chip, this.field, this.button);
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
    this.element.addEventListener("keydown", (event) => this.#onKey(event));
    this.field.addEventListener("input", () => this.#drawButton());
    this.chip.addEventListener("click", (event) => event.target.closest("button") && this.#toggleMention());
  }

  /** Write in another place (a space or a thread); what was begun here waits as a draft. */
  open(place, { bot, canMention }) {
    if (place !== this.#place) {
      this.#drafts.set(this.#place, this.field.value);
      this.field.value = this.#drafts.get(place) ?? "";
      this.#place = place;
      this.#mention = true;
    }
    this.#bot = bot;
    this.#canMention = canMention;
    this.draw();
  }

  /** Draw the words anew, in the language spoken now. */
  draw() {
    this.#drawChip();
    this.#drawButton();
    this.field.dataset.label = this.#canMention && !this.#mention ? "writeToPeople" : this.#label;
    localise(this.element, { bot: this.#bot });
  }

  /** Put the words of a suggestion in and send them. */
  ask(text) {
    this.field.value = text;
    return this.submit();
  }

  /** Send what is written. The text goes away only when the server has taken it. */
  async submit() {
    const text = this.field.value.trim();
    if (!text || this.field.readOnly) return;
    const place = this.#place;
    this.#lock(true);
    try {
      await this.#send(place, text, this.#canMention && this.#mention);
      this.#sent(place);
    } catch {
      // Whoever sends tells the person; the text is still here.
    } finally {
      this.#lock(false);
    }
  }

  #sent(place) {
    if (place !== this.#place) {
      this.#drafts.delete(place);
      return;
    }
    this.field.value = "";
    this.#mention = true;
    this.draw();
  }

  #lock(locked) {
    this.field.readOnly = locked;
    this.#drawButton();
  }

  #onKey(event) {
    // While an input method composes, Enter and Escape belong to it; Safari tells only by the key code.
    if (event.isComposing || event.keyCode === 229) return;
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
    const values = { bot: this.#bot };
    this.chip.hidden = !this.#canMention;
    const [label, ...look] = this.#mention
      ? ["removeMention", h("span", {}, `@${this.#bot}`), icon("close")]
      : ["addMention", h("span", {}, "@")];
    const words = { "aria-label": say(label, values), title: say(label, values) };
    const button = h("button", { type: "button", class: "chip", ...words }, ...look);
    morphChildren(this.chip, h("span", {}, button));
  }

  #drawButton() {
    this.button.disabled = this.field.readOnly || !this.field.value.trim();
  }
}
