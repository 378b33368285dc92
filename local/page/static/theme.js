// Light or dark: as the system says, until the person says otherwise.

import { icon } from "./icons.js";
import { recall, remember } from "./prefs.js";

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
