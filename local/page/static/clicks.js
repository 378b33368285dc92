// Clicks on the bot's buttons: those in progress, those that failed, and the dialogs that they open.

import { post } from "./api.js";
import { renderCard } from "./cards.js";
import { h } from "./dom.js";
import { icon } from "./icons.js";
import { inputsOf } from "./inputs.js";
import { say, spoken } from "./strings.js";

/** How long Chat tries to reach the bot, in milliseconds. */
const PATIENCE_MS = 60_000;

/** `dialog` is the element that shows dialogs; `say(text)` shows a notice to the person. */
export class Clicks {
  #dialog;
  #state;
  #say;
  #underWay = new Set();

  constructor({ dialog, state, say: told }) {
    this.#dialog = dialog;
    this.#state = state;
    this.#say = told;
    dialog.addEventListener("click", ({ target }) => {
      const button = target.closest("[data-act=press]");
      if (button) this.press(button, dialog.dataset.message);
    });
  }

  /** Click a button of a message, or of its open dialog. */
  async press(button, message) {
    const { function: name, parameters } = button.dataset;
    const key = [message, name, parameters].join(" ");
    if (this.#underWay.has(key)) return;
    const inDialog = this.#dialog.contains(button);
    const body = {
      message,
      function: name,
      parameters: JSON.parse(parameters),
      inputs: inputsOf(button.closest(".card")),
      person: this.#state.person,
      locale: spoken(),
      dialog: inDialog,
    };
    this.#mark(key, button, true);
    try {
      this.#show(await post("/page/clicks", body, PATIENCE_MS), message, inDialog);
    } catch (error) {
      this.#tell(this.#reason(error), inDialog);
    } finally {
      this.#mark(key, button, false);
    }
  }

  #mark(key, button, underWay) {
    if (underWay) this.#underWay.add(key);
    else this.#underWay.delete(key);
    // Not `disabled`, because the button would lose the focus.
    for (const name of ["aria-busy", "aria-disabled"]) {
      if (underWay) button.setAttribute(name, "true");
      else button.removeAttribute(name);
    }
    button.closest("details.overflow")?.removeAttribute("open");
  }

  #show({ dialog, notice }, message, inDialog) {
    if (notice) this.#say(notice);
    if (!dialog) {
      if (inDialog) this.#dialog.close();
      return;
    }
    this.#dialog.dataset.message = message;
    const title = h("h2", { id: "card-dialog-title" }, this.#state.bot.displayName);
    const closing = h("button", { class: "round", value: "", "aria-label": say("close"), title: say("close") }, icon("close"));
    this.#dialog.replaceChildren(
      h("form", { method: "dialog", class: "dialog-head" }, title, closing),
      renderCard({ cardId: "dialog", card: dialog }),
      h("p", { class: "dialog-trouble", role: "alert" }),
    );
    if (!this.#dialog.open) this.#dialog.showModal();
    this.#dialog.querySelector(".card :is(input, textarea, select, button)")?.focus();
  }

  #reason(error) {
    const bot = this.#state.bot.displayName;
    if (!this.#state.connection.bringsClicks) return say("noClicks", { bot });
    return say("notClicked", { bot, reason: error.message || say("unreachable") });
  }

  #tell(words, inDialog) {
    const line = inDialog && this.#dialog.querySelector(".dialog-trouble");
    if (line) line.textContent = words;
    else this.#say(words);
  }
}
