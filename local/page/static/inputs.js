// The inputs of a card (text, choices, switches) and their values. Field names: the Chat API's
// `GoogleAppsCardV1TextInput`, `GoogleAppsCardV1SelectionInput` and `GoogleAppsCardV1SwitchControl`.

import { h } from "./dom.js";

/** The element for a text input. */
export function textInput({ name, label, hintText, value, type, placeholderText, validation }) {
  const attributes = { name, placeholder: placeholderText, maxlength: validation?.characterLimit };
  const field =
    type === "MULTIPLE_LINE" ? h("textarea", { ...attributes, rows: "3" }, value ?? "") : h("input", { ...attributes, type: "text", value });
  return h("label", { class: "input" }, label && h("span", { class: "small" }, label), field, hintText && h("span", { class: "hint" }, hintText));
}

/** The element for a selection input. */
export function selectionInput({ name, label, type = "CHECK_BOX", items = [] }) {
  if (type === "DROPDOWN") {
    const options = items.map(({ text, value, selected }) => h("option", { value, selected }, text));
    return h("label", { class: "input" }, label && h("span", { class: "small" }, label), h("select", { name }, ...options));
  }
  const kind = type === "RADIO_BUTTON" ? "radio" : "checkbox";
  const look = type === "SWITCH" ? "choice switch" : "choice";
  const choices = items.map(({ text, value, selected, bottomText }) =>
    h("label", { class: look }, h("input", { type: kind, name, value, checked: selected, role: type === "SWITCH" ? "switch" : null }),
      h("span", {}, text, bottomText && h("span", { class: "hint" }, ` ${bottomText}`))),
  );
  return h("fieldset", { class: "choices" }, label && h("legend", { class: "small" }, label), ...choices);
}

/** The element for the switch at the end of a decorated text. */
export function switchControl({ name, value, selected, controlType }, label) {
  const role = controlType === "CHECK_BOX" || controlType === "CHECKBOX" ? null : "switch";
  const box = h("input", { type: "checkbox", name, value, checked: selected, role, "aria-label": label });
  return h("span", { class: role ? "choice switch" : "choice" }, box);
}

/** The values of the inputs of a card: `{name: [value]}`. */
export function inputsOf(card) {
  const inputs = {};
  for (const [name, value] of card ? new FormData(card) : []) (inputs[name] ??= []).push(value);
  return inputs;
}
