// @ts-check
/**
 * Follows the end of the page while a reply grows, but only for a reader who is there: whoever scrolls up stays where they
 * are, and finds a button to come back.
 */

const NEAR_PX = 24;

/**
 * What a scroll means: going up lets go, reaching the end takes hold again.
 * @param {boolean} following
 * @param {{before: number, now: number, toEnd: number}} scroll in pixels
 */
export function follows(following, { before, now, toEnd }) {
  if (toEnd <= NEAR_PX) return true;
  return now < before ? false : following;
}

export class Follow {
  #following = true;
  #last = 0;
  #writing = false;

  /** @param {HTMLElement | null} button "jump to latest" */
  constructor(button) {
    this.button = button;
    this.#last = scrollY;
    addEventListener("scroll", () => this.#scrolled(), { passive: true });
    button?.addEventListener("click", () => this.jump());
  }

  /** Something was painted. */
  painted() {
    if (this.#following && this.#toEnd() > 0) this.#toBottom("instant");
    this.#show();
  }

  /** @param {boolean} writing whether there is a reply that grows */
  setWriting(writing) {
    this.#writing = writing;
    this.#show();
  }

  /** Go to the end and stay there. */
  jump() {
    this.#following = true;
    this.#toBottom(matchMedia("(prefers-reduced-motion: reduce)").matches ? "instant" : "auto");
    this.#show();
  }

  #scrolled() {
    this.#following = follows(this.#following, { before: this.#last, now: scrollY, toEnd: this.#toEnd() });
    this.#last = scrollY;
    this.#show();
  }

  /** @param {ScrollBehavior} behavior */
  #toBottom(behavior) {
    scrollTo({ top: document.documentElement.scrollHeight, behavior });
    this.#last = scrollY;
  }

  #toEnd() {
    return document.documentElement.scrollHeight - innerHeight - scrollY;
  }

  #show() {
    if (this.button) this.button.hidden = this.#following || !this.#writing;
  }
}
