// The list of conversations, which is a drawer on a narrow screen.

import { h, morphChildren } from "./dom.js";
import { icon } from "./icons.js";
import { isDirect } from "./state.js";
import { say } from "./strings.js";

const NARROW = matchMedia("(max-width: 640px)");

/** Whether the list is a drawer now. */
export function isNarrow() {
  return NARROW.matches;
}

/** Update the list. */
export function drawSpaces(list, state) {
  const direct = state.reachable.filter(isDirect);
  const shared = state.reachable.filter((space) => !isDirect(space));
  const groups = [group("directMessages", direct, state), group("spaces", shared, state)];
  morphChildren(list, h("nav", {}, ...groups.filter(Boolean)));
}

function group(title, spaces, state) {
  if (spaces.length === 0) return null;
  const items = spaces.map((space) => h("li", {}, entry(space, state)));
  return h("div", {}, h("h2", {}, say(title)), h("ul", {}, ...items));
}

function entry(space, state) {
  const here = space.name === state.space;
  const unread = state.unread.has(space.name);
  return h(
    "button",
    {
      type: "button", class: unread ? "space unread" : "space", tabindex: here ? "0" : "-1",
      "aria-current": here && !state.place ? "page" : null, "data-testid": "space", "data-name": space.name,
    },
    isDirect(space) ? h("img", { src: "/static/logo.svg", alt: "", class: "icon" }) : icon("tag"),
    h("span", { class: "space-name" }, isDirect(space) ? state.bot.displayName : space.displayName),
    unread && h("span", { class: "dot", role: "img", "aria-label": say("newMessages") }),
  );
}

/** Arrow keys, Home and End move through the list. Calls `enter(name)` for the chosen space. */
export function listenToSpaces(list, enter) {
  list.addEventListener("click", (event) => {
    const chosen = event.target.closest("[data-name]");
    if (chosen) enter(chosen.dataset.name);
  });
  list.addEventListener("keydown", (event) => {
    const entries = [...list.querySelectorAll("[data-name]")];
    const at = entries.indexOf(document.activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: entries.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    entries.at(to % entries.length).focus();
  });
}

/** The drawer of a narrow screen. */
export class Drawer {
  constructor({ drawer, menu, shade }) {
    this.parts = { drawer, menu, shade };
    menu.addEventListener("click", () => (this.isOpen ? this.close() : this.open()));
    shade.addEventListener("click", () => this.close());
    document.addEventListener("keydown", ({ key }) => key === "Escape" && this.close());
    NARROW.addEventListener("change", () => this.#show(false));
    this.#show(false);
  }

  get isOpen() {
    return this.parts.menu.getAttribute("aria-expanded") === "true";
  }

  open() {
    this.#show(true);
    this.parts.drawer.querySelector("[aria-current]")?.focus();
  }

  /** Close it and return the focus to the menu button. */
  close() {
    if (!this.isOpen) return;
    this.#show(false);
    this.parts.menu.focus();
  }

  #show(open) {
    const { drawer, menu, shade } = this.parts;
    menu.setAttribute("aria-expanded", String(open));
    drawer.classList.toggle("open", open);
    shade.hidden = !open;
  }
}
