// Formatted text from strangers: parsed where nothing runs, then rebuilt from an allow-list.

import { h } from "./dom.js";

const KEPT = new Set("b blockquote br code del em i li ol p pre s strike strong u ul".split(" "));
const AS_BOLD_LINE = new Set("h1 h2 h3 h4 h5 h6".split(" "));
const DROPPED = new Set("embed head iframe math noscript object script style svg template textarea title".split(" "));
const SCHEMES = new Set(["http:", "https:", "mailto:"]);

/** The nodes for HTML text: allowed elements without their attributes, the text of unknown ones, no active content. */
export function fromHtml(html) {
  const parsed = new DOMParser().parseFromString(html, "text/html");
  return [...parsed.body.childNodes].flatMap(rebuilt);
}

/** A link that opens in a new tab, or just its content if the address is not a web or mail address. */
export function link(address, ...content) {
  const url = safeAddress(address);
  if (!url) return content;
  return h("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, ...content);
}

/** The absolute web or mail address in `address`, or null. */
export function safeAddress(address) {
  const url = URL.canParse(address) ? new URL(address) : null;
  return url && SCHEMES.has(url.protocol) ? url.href : null;
}

function rebuilt(node) {
  if (node.nodeType === Node.TEXT_NODE) return [node.nodeValue];
  if (node.nodeType !== Node.ELEMENT_NODE) return [];
  const tag = node.localName;
  if (DROPPED.has(tag)) return [];
  const content = [...node.childNodes].flatMap(rebuilt);
  if (KEPT.has(tag)) return [h(tag, {}, ...content)];
  if (AS_BOLD_LINE.has(tag)) return [h("p", {}, h("b", {}, ...content))];
  if (tag === "a") return [link(node.getAttribute("href"), ...content)].flat();
  if (tag === "font") return [coloured(node.getAttribute("color"), content)];
  return content;
}

function coloured(colour, content) {
  const span = h("span", {}, ...content);
  span.style.color = colour ?? "";
  return span;
}
