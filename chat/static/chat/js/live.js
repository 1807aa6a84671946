// @ts-check
/** One reply that is being written: its element with a painter for each lane. Takes text, knows no frames and no server. */
import { isTouched } from "#chat/morph";
import { Painter } from "#chat/paint";

/** @typedef {import("./cursors.js").LaneName} LaneName */

/** @type {LaneName[]} */
export const LANES = ["answer", "reasoning", "refusal"];
export const FINALS = new Set(["confirmed", "cancelled", "incomplete", "failed", "expired"]);

/** @param {Element} article */
export function isOver(article) {
  return FINALS.has(/** @type {HTMLElement} */ (article).dataset.state ?? "");
}

/** One reply that is still a draft on this page. */
export class Live {
  /** @type {Record<LaneName, Painter>} */
  painters;
  seq = 0;
  painted = 0;
  started = false;

  /** @param {HTMLElement} article */
  constructor(article) {
    this.article = article;
    this.id = article.dataset.generation ?? "";
    this.handle = Number(article.dataset.handle);
    this.seq = this.painted = Number(article.dataset.seq);
    const make = (/** @type {LaneName} */ lane) => {
      const source = /** @type {HTMLTemplateElement | null} */ (article.querySelector(`template[data-source="${lane}"]`));
      const element = /** @type {HTMLElement} */ (article.querySelector(`[data-lane="${lane}"]`));
      return new Painter(element, source?.content.textContent ?? "");
    };
    this.painters = { answer: make("answer"), reasoning: make("reasoning"), refusal: make("refusal") };
    this.started = LANES.some((lane) => this.painters[lane].text !== "");
  }

  paint() {
    for (const lane of LANES) this.painters[lane].paint();
    const { answer, reasoning, refusal } = this.painters;
    const details = /** @type {HTMLDetailsElement} */ (this.article.querySelector("details.reasoning"));
    details.hidden = reasoning.text === "";
    if (!isTouched(details)) details.open = answer.text === "";
    refusal.element.hidden = refusal.text === "";
    this.painted = this.seq;
    this.article.dataset.seq = String(this.seq);
  }
}
