// @ts-check
/** The dialog in which a person looks for messages: asks while they type, shows the list that the search page would show. */

import { actionOf, composes } from "#chat/keys";

const WAIT_MS = 150;
const MAC = /Mac|iPhone|iPad/.test(globalThis.navigator?.platform ?? "");

/**
 * Which of the hits has the focus after a key; the line itself is -1.
 * @param {number} at
 * @param {number} count
 * @param {string} key
 */
export function step(at, count, key) {
  if (count === 0) return -1;
  if (key === "ArrowDown") return Math.min(at + 1, count - 1);
  if (key === "ArrowUp") return Math.max(at - 1, -1);
  return at;
}

export class Finder {
  #timer = 0;
  /** @type {AbortController | null} */
  #asking = null;
  #shown = "";

  /**
   * @param {HTMLDialogElement} dialog
   * @param {(root: ParentNode) => void} dress what is done to a list before it is shown
   */
  constructor(dialog, dress) {
    this.dialog = dialog;
    this.dress = dress;
    this.form = /** @type {HTMLFormElement} */ (dialog.querySelector("form"));
    this.line = /** @type {HTMLInputElement} */ (dialog.querySelector("input[type=search]"));
    this.found = /** @type {HTMLElement} */ (dialog.querySelector(".found"));
    this.line.addEventListener("input", (event) => {
      if (!(/** @type {InputEvent} */ (event).isComposing)) this.#soon();
    });
    this.line.addEventListener("compositionend", () => this.#soon());
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#go();
    });
    dialog.addEventListener("keydown", (event) => this.#key(event));
    dialog.addEventListener("click", (event) => {
      const target = event.target instanceof Element ? event.target : null;
      if (target === dialog || target?.closest("[data-close]")) dialog.close();
    });
  }

  toggle() {
    if (this.dialog.open) {
      this.dialog.close();
      return;
    }
    this.dialog.showModal();
    this.line.select();
    this.line.focus();
    if (this.#shown !== this.line.value || !this.found.firstElementChild) void this.ask();
  }

  #soon() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.ask(), WAIT_MS);
  }

  /** Enter opens the first hit, once the list belongs to what is written. */
  async #go() {
    clearTimeout(this.#timer);
    if (this.#shown !== this.line.value) await this.ask();
    /** @type {HTMLAnchorElement | null} */ (this.found.querySelector("a.hit"))?.click();
  }

  /** Ask for what stands on the line; an older question that is still under way is given up. */
  async ask() {
    const query = this.line.value;
    this.#asking?.abort();
    const asking = (this.#asking = new AbortController());
    const url = `${this.form.action}?${new URLSearchParams({ q: query })}`;
    try {
      const response = await fetch(url, { headers: { "X-Fragment": "1" }, signal: asking.signal });
      if (!response.ok || response.redirected) throw new Error(`expected a list, got ${response.status}`);
      const html = await response.text();
      if (asking.signal.aborted) return;
      this.found.innerHTML = html; // our own page's template
      this.dress(this.found);
      this.#shown = query;
    } catch {
      if (!asking.signal.aborted) this.found.textContent = this.dialog.dataset.failed ?? "";
    }
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (actionOf(event, MAC) === "search") {
      event.preventDefault(); // the keys that opened it; they reach nothing else below an open dialog
      this.dialog.close();
      return;
    }
    if (event.key === "Escape" && !composes(event)) {
      event.preventDefault(); // in a field for searching it would only empty that, and the person wants to be gone
      this.dialog.close();
      return;
    }
    if (composes(event) || (event.key !== "ArrowDown" && event.key !== "ArrowUp")) return;
    const hits = /** @type {HTMLElement[]} */ ([...this.found.querySelectorAll("a.hit")]);
    const to = step(hits.indexOf(/** @type {HTMLElement} */ (document.activeElement)), hits.length, event.key);
    event.preventDefault();
    (to < 0 ? this.line : hits[to])?.focus();
  }
}
