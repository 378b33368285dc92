// The stream of the current space: what it shows, and how it scrolls.

import { h, morphChildren } from "./dom.js";
import { renderStream, renderWelcome } from "./messages.js";

/** The distance from the end of the stream (in pixels) that counts as being at its end. */
const AT_END = 60;
/** The space that stays visible above a long answer, in pixels. */
const MARGIN = 12;

/** `stream` is its element, `latest` the button that leads to its end, `composer` the one of threads. */
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

  /** Stay at the end from now on. */
  toEnd() {
    this.#atEnd = true;
  }

  /** Update it. `around` is for the composer of the open thread. */
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
    // Scroll to the end of the stream, but not past the start of an answer that is longer than the window.
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
