// Cards v2, as far as the bot sends them. Field names: the Chat API's `GoogleAppsCardV1Card`.

import { buttonRow, chipRow, pictogram, pressable, renderButton } from "./buttons.js";
import { h } from "./dom.js";
import { icon } from "./icons.js";
import { selectionInput, switchControl, textInput } from "./inputs.js";
import { fromMarkdown } from "./markdown.js";
import { fromHtml, safeAddress } from "./richtext.js";
import { say } from "./strings.js";

const WIDGETS = {
  buttonList: ({ buttons }) => buttonRow(buttons),
  chipList: chipRow,
  columns: ({ columnItems = [] }) =>
    h("div", { class: "columns" }, ...columnItems.map(({ widgets = [] }) => h("div", {}, ...widgets.map(widget)))),
  decoratedText,
  divider: () => h("hr"),
  image: ({ imageUrl, altText }) => h("img", { class: "picture", src: safeAddress(imageUrl), alt: altText ?? "" }),
  selectionInput,
  textInput,
  textParagraph: (paragraph) => h("div", { class: "rich" }, ...textNodes(paragraph)),
};

/** The element for one entry of `cardsV2`: a form, so that its inputs belong together. */
export function renderCard({ cardId, card }) {
  return h(
    "form",
    { class: "card", "data-testid": "card", "data-key": `card-${cardId ?? ""}` },
    card.header && header(card.header),
    ...(card.sections ?? []).map(section),
    card.fixedFooter && footer(card.fixedFooter),
  );
}

/** The element for one accessory widget of a message. */
export function renderAccessory({ buttonList }) {
  return buttonRow(buttonList?.buttons ?? []);
}

function header({ title, subtitle, imageUrl, imageAltText, imageType }) {
  const picture = safeAddress(imageUrl);
  return h(
    "div",
    { class: "card-header" },
    picture && h("img", { src: picture, alt: imageAltText ?? "", class: imageType === "CIRCLE" ? "circle" : null }),
    h("div", {}, h("div", { class: "card-title" }, title), subtitle && h("div", { class: "card-subtitle" }, subtitle)),
  );
}

/** The two buttons at the end of a dialog; the first is its main action. */
function footer({ primaryButton, secondaryButton }) {
  const buttons = [secondaryButton && { type: "BORDERLESS", ...secondaryButton }, primaryButton && { type: "FILLED", ...primaryButton }];
  return h("div", { class: "card-section card-footer" }, buttonRow(buttons.filter(Boolean)));
}

function section({ header: title, widgets = [], collapsible, uncollapsibleWidgetsCount = 0, collapseControl }) {
  const shown = collapsible ? uncollapsibleWidgetsCount : widgets.length;
  const hidden = widgets.slice(shown);
  return h(
    "div",
    { class: "card-section" },
    title && h("div", { class: "section-title" }, ...fromHtml(title)),
    ...widgets.slice(0, shown).map(widget),
    hidden.length > 0 && folded(hidden, collapseControl ?? {}),
  );
}

function folded(widgets, { expandButton, collapseButton }) {
  return h(
    "details",
    { class: "folded" },
    h(
      "summary",
      {},
      icon("chevron_right"),
      h("span", { class: "when-closed" }, expandButton?.text ?? say("showMore")),
      h("span", { class: "when-open" }, collapseButton?.text ?? say("showLess")),
    ),
    ...widgets.map(widget),
  );
}

function widget(fields) {
  const kind = Object.keys(fields).find((name) => name in WIDGETS);
  if (kind) return WIDGETS[kind](fields[kind]);
  return h("div", { class: "hint" }, say("unsupported", { widget: Object.keys(fields).join(", ") }));
}

function textNodes({ text = "", textSyntax }) {
  return textSyntax === "MARKDOWN" ? fromMarkdown(text) : fromHtml(text);
}

function decoratedText(fields) {
  const { startIcon, startIconVerticalAlignment, endIcon, button, switchControl: control, wrapText, onClick } = fields;
  const text = h("div", { class: wrapText ? "rich" : "rich one-line" }, ...line(fields, "text", "contentText"));
  const label = (part, extended) => {
    const nodes = line(fields, part, extended);
    return nodes.length > 0 && h("div", { class: "small" }, ...nodes);
  };
  const lines = [label("topLabel", "topLabelText"), text, label("bottomLabel", "bottomLabelText")].filter(Boolean);
  const leads = safeAddress(onClick?.openLink?.url) || onClick?.action;
  return h(
    "div",
    { class: startIconVerticalAlignment === "TOP" ? "decorated top" : "decorated" },
    startIcon && pictogram(startIcon),
    h("div", { class: "decorated-lines" }, ...(leads ? [pressable(onClick, { class: "whole-line" }, lines)] : lines)),
    endIcon && pictogram(endIcon),
    control && switchControl(control, text.textContent),
    button && renderButton(button),
  );
}

/** Each line of a decorated text comes as plain HTML text or, since 2025, as a whole text paragraph. */
function line(fields, part, extended) {
  return textNodes(fields[extended] ?? { text: fields[part] });
}
