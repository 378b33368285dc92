// The Markdown of cards: bold, italic, strike-through, code, links, lists, fenced blocks; no headings, no tables.
// https://developers.google.com/workspace/chat/format-messages lists them.

import { h } from "./dom.js";
import { link } from "./richtext.js";

const ITEM = /^(\s*)(?:[-*]|(\d+)[.)])\s+(.*)$/;
const FENCE = /^\s*```/;
const INLINE = new RegExp(
  [
    /`(?<code>[^`]+)`/,
    /\[(?<label>[^\]]+)\]\((?<address>[^\s)]+)\)/,
    /\*\*(?<stars>(?=\S).+?)\*\*/,
    /__(?<bars>(?=\S).+?)__/,
    /~{1,2}(?<struck>(?=\S)[^~]+)~{1,2}/,
    /\*(?<star>(?=\S)[^*]+)\*/,
    /(?<!\w)_(?<bar>(?=\S)[^_]+)_(?!\w)/,
  ].map(({ source }) => source).join("|"),
);

/** The nodes for Markdown text. */
export function fromMarkdown(text) {
  const rest = text.split("\n");
  const blocks = [];
  while (rest.length) {
    if (FENCE.test(rest[0])) blocks.push(fenced(rest));
    else if (ITEM.test(rest[0])) blocks.push(list(rest));
    else if (rest[0].trim()) blocks.push(paragraph(rest));
    else rest.shift();
  }
  return blocks;
}

function fenced(rest) {
  rest.shift();
  const code = [];
  while (rest.length && !FENCE.test(rest[0])) code.push(rest.shift());
  rest.shift();
  return h("pre", {}, h("code", {}, code.join("\n")));
}

function paragraph(rest) {
  const nodes = inline(rest.shift());
  while (rest.length && rest[0].trim() && !ITEM.test(rest[0]) && !FENCE.test(rest[0])) {
    nodes.push(h("br"), ...inline(rest.shift()));
  }
  return h("p", {}, ...nodes);
}

function list(rest) {
  const [, indent, number] = rest[0].match(ITEM);
  const items = h(number ? "ol" : "ul", { start: number && number !== "1" ? number : null });
  while (rest.length) {
    const [, deeper, nextNumber, text] = rest[0].match(ITEM) ?? [];
    if (text === undefined || deeper.length < indent.length) break;
    const nested = deeper.length > indent.length + 1;
    if (!nested && Boolean(nextNumber) !== Boolean(number)) break;
    if (nested && items.lastChild) items.lastChild.append(list(rest));
    else items.append(h("li", {}, ...inline(rest.shift() && text)));
  }
  return items;
}

function inline(text) {
  const found = text.match(INLINE);
  if (!found) return text ? [text] : [];
  const { index, groups } = found;
  const after = text.slice(index + found[0].length);
  return [text.slice(0, index), ...styled(groups), ...inline(after)].filter((node) => node !== "");
}

function styled({ code, label, address, stars, bars, struck, star, bar }) {
  if (code) return [h("code", {}, code)];
  if (label) return [link(address, ...inline(label))].flat();
  if (struck) return [h("s", {}, ...inline(struck))];
  if (stars ?? bars) return [h("b", {}, ...inline(stars ?? bars))];
  return [h("i", {}, ...inline(star ?? bar))];
}
