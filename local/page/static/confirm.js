// A question before something that cannot be taken back.

import { say } from "./strings.js";

/** Ask `question` in a dialog; `yes` is what the button says and does: `act()` runs when it is pressed. */
export function confirmed({ confirm, "confirm-text": line, "confirm-yes": button }, question, yes, act) {
  line.textContent = question;
  button.textContent = say(yes);
  confirm.returnValue = "";
  confirm.onclose = () => confirm.returnValue && act();
  confirm.showModal();
}
