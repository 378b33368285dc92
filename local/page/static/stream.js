// The stream of the space shown: what is drawn in it, and how it scrolls.

import { h, morphChildren } from "./dom.js";
import { renderStream, renderWelcome } from "./messages.js";

/** How near the end of the stream (in pixels) counts as being at its end. */
const AT_END = 60;
/** What stays visible above a long answer, in pixels. */
const MARGIN = 12;

/** `stream` and `latest` are its element and the button that leads to its end; `composer` is that of threads. */
export class Stream {
  #element;
  #latest;
  #composer;
  #atEnd = true;
  #space = null;

  constructor({ stream, latest }, composer) {
    this.#element = stream;
    this.#latest = latest;
    this.#composer = composer;
    stream.addEventListener("scroll", () => this.#noteScroll());
    latest.addEventListener("click", () => {
      stream.scrollTop = stream.scrollHeight;
    });
  }

  /** Stay at the end from now on, wherever it was scrolled to. */
  toEnd() {
    this.#atEnd = true;
  }

  /** Bring it up to date; `around` is what the composer of the open thread is told. */
  draw(state, around) {
    if (this.#space !== state.space) {
      this.#element.replaceChildren();
      this.#atEnd = true;
      this.#space = state.space;
    }
    const topics = renderStream(state, this.#element);
    morphChildren(this.#element, h("div", {}, ...(topics.length ? topics : [renderWelcome(state.bot.displayName)])));
    const slot = this.#element.querySelector(".thread-slot");
    if (slot) {
      this.#composer.open(state.openThread, around);
      if (!slot.contains(this.#composer.element)) slot.append(this.#composer.element);
    }
    this.#keepInView();
  }

  #keepInView() {
    const last = [...this.#element.querySelectorAll(".message")].at(-1);
    const { scrollHeight } = this.#element;
    // The end of the stream, but never past the beginning of an answer that is longer than the window.
    if (this.#atEnd) this.#element.scrollTop = last ? Math.min(scrollHeight, last.offsetTop - MARGIN) : 0;
    else if (this.#composer.element.contains(document.activeElement)) this.#composer.element.scrollIntoView({ block: "nearest" });
    this.#noteScroll();
  }

  #noteScroll() {
    const { scrollHeight, scrollTop, clientHeight } = this.#element;
    this.#atEnd = scrollHeight - scrollTop - clientHeight < AT_END;
    this.#latest.hidden = this.#atEnd;
  }
}
