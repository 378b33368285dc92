// Builds elements, and updates the page without rebuilding it.

/** An element with attributes (true: present, false or null: absent) and children (strings become text). */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false && value != null) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child != null && child !== false));
  return element;
}

/** Text with its line breaks. */
export function lines(text) {
  return text.split("\n").flatMap((line, index) => (index ? [document.createElement("br"), line] : [line]));
}

/**
 * Make the children of `shown` look like those of `wanted`, touching only what differs: focus, selection, scroll
 * position, opened details and running animations stay. Children with the same `data-key` are the same child;
 * what is inside an element with `data-keep` is left alone, and one with `data-same` is as it was.
 */
export function morphChildren(shown, wanted) {
  const keys = new Set([...wanted.children].map(keyOf));
  for (const child of [...shown.children]) if (keyOf(child) && !keys.has(keyOf(child))) child.remove();
  const keyed = new Map([...shown.children].map((child) => [keyOf(child), child]));
  let cursor = shown.firstChild;
  for (const next of [...wanted.childNodes]) {
    const match = keyOf(next) ? keyed.get(keyOf(next)) : cursor;
    if (!match || keyOf(match) !== keyOf(next) || match.nodeName !== next.nodeName) {
      shown.insertBefore(next, cursor);
      continue;
    }
    if (match === cursor) cursor = cursor.nextSibling;
    else shown.insertBefore(match, cursor);
    morph(match, next);
  }
  while (cursor) {
    const gone = cursor;
    cursor = cursor.nextSibling;
    gone.remove();
  }
}

function keyOf(node) {
  return node.dataset?.key ?? null;
}

function morph(shown, wanted) {
  if (wanted.dataset?.same !== undefined || shown.isEqualNode(wanted)) return;
  if (shown.nodeType !== Node.ELEMENT_NODE) {
    shown.nodeValue = wanted.nodeValue;
    return;
  }
  morphAttributes(shown, wanted);
  if (!wanted.hasAttribute("data-keep")) morphChildren(shown, wanted);
}

function morphAttributes(shown, wanted) {
  for (const { name } of [...shown.attributes]) {
    const openedByHand = name === "open" && shown.nodeName === "DETAILS";
    if (!wanted.hasAttribute(name) && !openedByHand) shown.removeAttribute(name);
  }
  for (const { name, value } of wanted.attributes) {
    // The content security policy allows a style that is set as a property, but not as an attribute.
    if (name === "style") shown.style.cssText = wanted.style.cssText;
    else if (shown.getAttribute(name) !== value) shown.setAttribute(name, value);
  }
}
