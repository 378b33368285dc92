// What the page remembers in this browser. A browser that refuses storage just forgets.

/** The remembered value of `name`, or null. */
export function recall(name) {
  try {
    return localStorage.getItem(`threadwise.${name}`);
  } catch {
    return null;
  }
}

/** Remember `value` under `name`. */
export function remember(name, value) {
  try {
    localStorage.setItem(`threadwise.${name}`, value);
  } catch {
    // Private windows may refuse; the page works without.
  }
}
