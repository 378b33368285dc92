// Buttons and chips of cards and messages, as elements without behaviour; `data-act="press"` marks what can be clicked.
// Field names: the Chat API's `GoogleAppsCardV1Button`, `GoogleAppsCardV1Chip` and `GoogleAppsCardV1OnClick`.

import { h } from "./dom.js";
import { icon } from "./icons.js";
import { safeAddress } from "./richtext.js";
import { say } from "./strings.js";

/** A row of buttons. */
export function buttonRow(buttons = []) {
  return h("div", { class: "buttons" }, ...buttons.map(renderButton));
}

/** A row of chips. */
export function chipRow({ chips = [], layout }) {
  const asButtons = chips.map(({ label, enabled = true, disabled, ...chip }) =>
    renderButton({ ...chip, text: label, type: "CHIP", disabled: disabled || !enabled }),
  );
  return h("div", { class: layout === "HORIZONTAL_SCROLLABLE" ? "buttons scrolled" : "buttons" }, ...asButtons);
}

/** The element for one button. */
export function renderButton({ text, icon: drawing, altText, type = "OUTLINED", color, disabled, onClick = {} }) {
  if (onClick.overflowMenu) return overflow({ text, drawing, altText, items: onClick.overflowMenu.items ?? [] });
  const look = ["button", type.toLowerCase(), !text && "icon-only"].filter(Boolean).join(" ");
  const name = altText ?? (text ? null : drawing?.altText);
  const content = [drawing && pictogram({ ...drawing, altText: "" }), text && h("span", {}, text)];
  const element = pressable(onClick, { class: look, "aria-label": name, title: text ? null : name, disabled }, content);
  // The content security policy allows a style that is set as a property, but not as an attribute.
  if (color) element.style.setProperty("--own", `rgb(${["red", "green", "blue"].map((part) => 255 * (color[part] ?? 0)).join(" ")})`);
  return element;
}

/** An element for `onClick`: a link, a button, or plain content if a click does nothing. */
export function pressable({ openLink, action }, attributes, content) {
  const target = safeAddress(openLink?.url);
  if (target && !attributes.disabled) {
    return h("a", { ...attributes, href: target, target: "_blank", rel: "noopener noreferrer" }, ...content);
  }
  if (!action?.function) return h("button", { type: "button", ...attributes, disabled: true }, ...content);
  const parameters = Object.fromEntries((action.parameters ?? []).map(({ key, value = "" }) => [key, value]));
  const told = { "data-act": "press", "data-function": action.function, "data-parameters": JSON.stringify(parameters) };
  return h("button", { type: "button", ...attributes, ...told }, ...content);
}

/** The drawing or picture of an icon. */
export function pictogram({ materialIcon, knownIcon, iconUrl, altText }) {
  const picture = safeAddress(iconUrl);
  if (picture) return h("img", { src: picture, alt: altText ?? "", class: "icon" });
  const drawing = icon(materialIcon?.name ?? knownIcon, altText);
  if (materialIcon?.fill) drawing.classList.add("solid");
  return drawing;
}

function overflow({ text, drawing, altText, items }) {
  const label = altText ?? drawing?.altText ?? say("more");
  const summary = h(
    "summary",
    { class: text ? "button outlined" : "button outlined icon-only", "aria-label": text ? null : label, title: text ? null : label },
    pictogram(drawing ? { ...drawing, altText: "" } : { materialIcon: { name: "more_vert" } }),
    text && h("span", {}, text),
  );
  const entries = items.map(({ text: words, startIcon, disabled, onClick = {} }) =>
    pressable(onClick, { class: "menu-item", disabled }, [startIcon && pictogram({ ...startIcon, altText: "" }), h("span", {}, words)]),
  );
  return h("details", { class: "overflow" }, summary, h("div", { class: "menu" }, ...entries));
}

/** Close the menus of buttons on Escape and on a click elsewhere, and scroll an open one into view. */
export function listenToMenus() {
  const open = () => [...document.querySelectorAll("details.overflow[open]")];
  document.addEventListener("click", ({ target }) => {
    for (const menu of open()) if (!menu.contains(target)) menu.open = false;
  });
  document.addEventListener("keydown", ({ key }) => {
    if (key !== "Escape") return;
    for (const menu of open()) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  });
  document.addEventListener("toggle", ({ target }) => target.matches("details.overflow[open]") && target.lastChild.scrollIntoView({ block: "nearest" }), true);
}
