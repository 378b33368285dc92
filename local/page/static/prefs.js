// What the page remembers in this browser, such as light or dark. A browser that refuses storage forgets it.

import { icon } from "./icons.js";

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
    // Private windows may refuse. The page works without it.
  }
}

const DARK = matchMedia("(prefers-color-scheme: dark)");

/** Make `button` switch between light and dark. */
export function listenToTheme(button) {
  const isDark = () => (recall("theme") ?? (DARK.matches ? "dark" : "light")) === "dark";
  const show = (dark) => {
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    button.setAttribute("aria-pressed", String(dark));
    button.replaceChildren(icon(dark ? "light_mode" : "dark_mode"));
  };
  button.addEventListener("click", () => {
    const dark = button.getAttribute("aria-pressed") !== "true";
    remember("theme", dark ? "dark" : "light");
    show(dark);
  });
  DARK.addEventListener("change", () => show(isDark()));
  show(isDark());
}
