// A short notice at the bottom of the page.

const SHOWN_MS = 10_000;
let hiding = 0;

/** Show `text` until it is dismissed, at most ten seconds. */
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
