// @ts-check
/**
 * What is told while a reply is on its way: to the eye, how long the wait has been; to a listener, progress at pauses and
 * never each token. Takes which reply is being written, gives sentences; knows neither frames nor Markdown.
 */

export const STILL_AFTER_MS = 3000;
const LISTENER_WAITS_MS = 6000;
const PAUSE_MS = 2000;
const AT_LEAST_EACH_MS = 20_000;
const TICK_MS = 500;

/**
 * @typedef {object} Seen what a listener has had so far; times in milliseconds
 * @property {number} since the wait began
 * @property {number} words on the page now
 * @property {number} grewAt
 * @property {number} toldWords
 * @property {number} toldAt
 * @property {boolean} toldWait
 */

/**
 * What a listener is told now: that nothing has come yet, once; how far the reply is, where it pauses or has gone on for long.
 * @param {Seen} seen
 * @param {number} now
 * @returns {"waiting" | "words" | null}
 */
export function due(seen, now) {
  if (seen.words === 0) return !seen.toldWait && now - seen.since >= LISTENER_WAITS_MS ? "waiting" : null;
  if (seen.words === seen.toldWords) return null;
  return now - seen.grewAt >= PAUSE_MS || now - seen.toldAt >= AT_LEAST_EACH_MS ? "words" : null;
}

/** How many words. @param {string} text */
export function wordsIn(text) {
  return text.match(/\S+/g)?.length ?? 0;
}

export class Progress {
  /** @type {HTMLElement | null} */
  #article = null;
  /** @type {Seen} */
  #seen = { since: 0, words: 0, grewAt: 0, toldWords: 0, toldAt: 0, toldWait: false };
  #timer = 0;

  /**
   * @param {HTMLElement} root
   * @param {(words: "waiting" | "words", count: number) => void} tell
   */
  constructor(root, tell) {
    this.root = root;
    this.tell = tell;
  }

  /** @param {string | null} generation the reply that is being written */
  follow(generation) {
    if (generation === (this.#article?.dataset.generation ?? null)) return;
    clearInterval(this.#timer);
    this.#article = generation === null ? null : this.root.querySelector(`[data-generation="${CSS.escape(generation)}"]`);
    if (!this.#article) return;
    const mark = this.#mark();
    const now = performance.now();
    const since = now - 1000 * Number(mark?.dataset.waited ?? 0);
    this.#seen = { since, words: 0, grewAt: now, toldWords: 0, toldAt: now, toldWait: false };
    this.#timer = setInterval(() => this.#tick(performance.now()), TICK_MS);
    this.#tick(now);
  }

  /** @param {number} now */
  #tick(now) {
    if (!this.#article) return;
    const seen = this.#seen;
    const words = wordsIn(this.#article.querySelector("[data-lane=answer]")?.textContent ?? "");
    if (words !== seen.words) [seen.words, seen.grewAt] = [words, now];
    const mark = this.#mark();
    const waited = now - seen.since;
    if (mark && words === 0 && waited >= STILL_AFTER_MS) {
      const text = (mark.dataset.still ?? "").replace("{}", String(Math.floor(waited / 1000)));
      if (mark.textContent !== text) mark.textContent = text;
    }
    const what = due(seen, now);
    if (!what) return;
    if (what === "waiting") seen.toldWait = true;
    else [seen.toldWords, seen.toldAt] = [words, now];
    this.tell(what, words);
  }

  /** @returns {HTMLElement | null} */
  #mark() {
    return this.#article?.querySelector(".status [data-still]") ?? null;
  }
}
