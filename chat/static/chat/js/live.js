// @ts-check
/** One reply that is being written: its element with a painter for each lane. Takes text and how it ends, knows no frames and no server. */
import { isTouched, morph, morphSoftly } from "#chat/morph";
import { Painter } from "#chat/paint";
import { localiseTimes } from "#chat/times";

/** @typedef {import("./cursors.js").LaneName} LaneName */

/** @type {LaneName[]} */
export const LANES = ["answer", "reasoning", "refusal"];
export const FINALS = new Set(["confirmed", "cancelled", "incomplete", "failed", "expired"]);

/** @param {Element} article */
export function isOver(article) {
  return FINALS.has(/** @type {HTMLElement} */ (article).dataset.state ?? "");
}

/**
 * Nobody will hear more of this reply here: it ends as the page knows it.
 * @param {HTMLElement} article
 * @param {HTMLTemplateElement} ending how, as the server words it
 */
export function endHere(article, ending) {
  const end = /** @type {DocumentFragment} */ (ending.content.cloneNode(true));
  const status = article.querySelector(":scope > .status");
  const model = end.querySelector(".model");
  if (model) model.textContent = status?.querySelector(".model")?.textContent ?? "";
  end.querySelector("time")?.setAttribute("datetime", new Date().toISOString());
  localiseTimes(end, new Date());
  article.dataset.state = ending.dataset.state;
  article.dataset.reason = ending.dataset.reason;
  for (const source of article.querySelectorAll("template[data-source]")) source.remove();
  if (status) status.replaceWith(end);
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

  /** Paint all of it again: from now on it can be shown as Markdown. */
  anew() {
    for (const lane of LANES) this.painters[lane].replace(this.painters[lane].text);
    this.paint();
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

  /**
   * Set what the server says in the draft's place. The answer first, and a long one in pieces, between which the page goes on;
   * only when all of it stands there is the reply no draft any more. False where it left the page meanwhile.
   * @param {Extract<import("./cursors.js").Frame, {type: "final"}>} frame
   * @param {DocumentFragment | Element} said used up
   */
  async end(frame, said) {
    const { article } = this;
    localiseTimes(said, new Date());
    const [old, fresh] = [article, said].map((root) => root.querySelector('[data-lane="answer"]'));
    // What was held back stands there at once or not at all: no part of it was ever a draft.
    const isDraft = Boolean(old?.textContent && fresh);
    if (old && fresh && isDraft && !(await morphSoftly(old, fresh, () => !article.isConnected))) return false;
    article.dataset.state = frame.state;
    article.dataset.reason = frame.reason ?? "";
    article.dataset.seq = String(frame.seq);
    morph(article, said, null, (_, element) => isDraft && element === fresh);
    return true;
  }
}
