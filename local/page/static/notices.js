// A short notice at the bottom of the page, and a question before something that cannot be undone.

import { say } from "./strings.js";

const SHOWN_MS = 10_000;
let hiding = 0;

/** Show `text` until it is dismissed, for at most ten seconds. */
export function showToast({ toast, "toast-text": line, "toast-close": close }, text) {
  const hide = () => {
    toast.hidden = true;
  };
  line.textContent = text;
  toast.hidden = false;
  close.onclick = hide;
  clearTimeout(hiding);
  hiding = setTimeout(hide, SHOWN_MS);
}

/** Ask `question` in a dialog; `yes` is the key of the button's text, and `act()` runs when the button is pressed. */
export function confirmed({ confirm, "confirm-text": line, "confirm-yes": button }, question, yes, act) {
  line.textContent = question;
  button.textContent = say(yes);
  confirm.returnValue = "";
  confirm.onclose = () => confirm.returnValue && act();
  confirm.showModal();
}
