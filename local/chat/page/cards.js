// Cards v2, as far as the bot sends them. Field names: the Chat API's `GoogleAppsCardV1Card`.

import { h } from "./dom.js";
import { icon } from "./icons.js";
import { fromMarkdown } from "./markdown.js";
import { fromHtml, link, safeAddress } from "./richtext.js";
import { say } from "./strings.js";

const WIDGETS = {
  buttonList: ({ buttons }) => buttonRow(buttons),
  decoratedText,
  divider: () => h("hr"),
  textParagraph: (paragraph) => h("div", { class: "rich" }, ...textNodes(paragraph)),
};

/** The element for one entry of `cardsV2`. */
export function renderCard({ cardId, card }) {
  return h(
    "div",
    { class: "card", "data-testid": "card", "data-key": `card-${cardId ?? ""}` },
    card.header && header(card.header),
    ...(card.sections ?? []).map(section),
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

function section({ header: title, widgets = [], collapsible, uncollapsibleWidgetsCount = 0 }) {
  const shown = collapsible ? uncollapsibleWidgetsCount : widgets.length;
  const hidden = widgets.slice(shown);
  return h(
    "div",
    { class: "card-section" },
    title && h("div", { class: "section-title" }, ...fromHtml(title)),
    ...widgets.slice(0, shown).map(widget),
    hidden.length > 0 && folded(hidden),
  );
}

function folded(widgets) {
  return h(
    "details",
    { class: "folded" },
    h(
      "summary",
      {},
      icon("chevron_right"),
      h("span", { class: "when-closed" }, say("showMore")),
      h("span", { class: "when-open" }, say("showLess")),
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
  const { startIcon, startIconVerticalAlignment, endIcon, button, wrapText, onClick } = fields;
  const text = h("div", { class: wrapText ? "rich" : "rich one-line" }, ...line(fields, "text", "contentText"));
  const label = (part, extended) => {
    const nodes = line(fields, part, extended);
    return nodes.length > 0 && h("div", { class: "small" }, ...nodes);
  };
  const lines = [label("topLabel", "topLabelText"), text, label("bottomLabel", "bottomLabelText")];
  const target = onClick?.openLink?.url;
  return h(
    "div",
    { class: startIconVerticalAlignment === "TOP" ? "decorated top" : "decorated" },
    startIcon && pictogram(startIcon),
    h("div", { class: "decorated-lines" }, ...(target ? [link(target, ...lines.filter(Boolean))].flat() : lines)),
    endIcon && pictogram(endIcon),
    button && renderButton(button),
  );
}

/** Each line of a decorated text comes as plain HTML text or, since 2025, as a whole text paragraph. */
function line(fields, part, extended) {
  return textNodes(fields[extended] ?? { text: fields[part] });
}

function pictogram({ materialIcon, knownIcon, iconUrl, altText }) {
  const picture = safeAddress(iconUrl);
  if (picture) return h("img", { src: picture, alt: altText ?? "", class: "icon" });
  return icon(materialIcon?.name ?? knownIcon, altText);
}

function buttonRow(buttons) {
  return h("div", { class: "buttons" }, ...buttons.map(renderButton));
}

function renderButton({ text, icon: drawing, altText, type = "OUTLINED", disabled, onClick }) {
  const target = safeAddress(onClick?.openLink?.url);
  const look = { class: `button ${type.toLowerCase()}`, "aria-label": text ? null : altText };
  const content = [drawing && pictogram(text ? { ...drawing, altText: "" } : drawing), text];
  if (target && !disabled) {
    return h("a", { ...look, href: target, target: "_blank", rel: "noopener noreferrer" }, ...content);
  }
  const inert = onClick?.action ? say("inert") : null;
  return h("button", { ...look, type: "button", disabled, "aria-disabled": inert && "true", title: inert }, ...content);
}
