// @ts-check
/**
 * The replies on the page. Takes frames and fragments, keeps every reply's element as they say: paints drafts, sets what is
 * ready, and makes room for turns that another window began.
 */
import { Cursors } from "#chat/cursors";
import { isTouched, morph, watchDetails } from "#chat/morph";
import { Painter, loadMarkdown } from "#chat/paint";
import { localiseTimes } from "#chat/times";

/** @typedef {import("./cursors.js").Frame} Frame */
/** @typedef {import("./cursors.js").Numbered} Numbered */
/** @typedef {import("./cursors.js").LaneName} LaneName */

/** @type {LaneName[]} */
const LANES = ["answer", "reasoning", "refusal"];
const FINALS = new Set(["confirmed", "cancelled", "incomplete", "failed", "expired"]);
/** A final frame follows its notice at once; if it does not, the server is asked. */
const FINAL_WAIT_MS = 1500;
const HIDDEN_PAINT_MS = 1000;

/**
 * @typedef {object} Hooks
 * @property {(handle: number, seq: number) => void} painted
 * @property {() => void} gap the server has to be asked again
 * @property {(generation: string | null) => void} writing
 * @property {() => void} grew
 * @property {() => void} missing the server knows nothing of a reply that it had told of
 * @property {(words: string) => void} announce
 */

/** One reply that is still a draft on this page. */
class Live {
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

export class Thread {
  #cursors = new Cursors();
  /** @type {Map<number, Live>} */
  #live = new Map();
  /** @type {Set<string>} */
  #fetching = new Set();
  /** Replies that this page stopped following before they ended. @type {Set<string>} */
  #abandoned = new Set();
  #scheduled = false;

  /**
   * @param {HTMLElement} root
   * @param {Hooks} hooks
   */
  constructor(root, hooks) {
    this.root = root;
    this.hooks = hooks;
    watchDetails(root);
    this.#adopt(root);
  }

  get position() {
    return this.#cursors.position();
  }

  rejoin() {
    this.#cursors.rejoin();
  }

  /** The reply that is being written, if any. */
  get writing() {
    let newest = null;
    for (const live of this.#live.values()) if (!newest || live.handle > newest.handle) newest = live;
    return newest?.id ?? null;
  }

  /** @param {Frame} frame */
  receive(frame) {
    if (frame.type === "turn") {
      this.#notice(frame);
      return;
    }
    const verdict = this.#cursors.take(frame);
    if (verdict === "gap") this.hooks.gap();
    if (verdict === "apply") this.#apply(frame);
    // The server counts what it sent until it hears of it, used or not.
    if (verdict === "ignore") this.hooks.painted(frame.handle, frame.seq);
  }

  /**
   * Put a turn's fragment in its place: a new one at the end, one that is there in its old place.
   * @param {string} html
   */
  place(html) {
    const template = document.createElement("template");
    template.innerHTML = html;
    const turn = /** @type {HTMLElement | null} */ (template.content.querySelector(".turn"));
    if (!turn) return;
    for (const article of turn.querySelectorAll("article[data-generation]")) {
      const live = this.#live.get(Number(/** @type {HTMLElement} */ (article).dataset.handle));
      if (live && !isOver(article)) article.replaceWith(live.article);
    }
    const old = this.root.querySelector(`[data-message="${CSS.escape(turn.dataset.message ?? "")}"]`);
    const hadFocus = old?.contains(document.activeElement) ?? false;
    if (old) old.replaceWith(turn);
    else this.root.append(turn);
    localiseTimes(turn, new Date());
    this.#adopt(turn);
    if (hadFocus) turn.querySelector("article:last-of-type")?.scrollIntoView({ block: "nearest" });
    this.hooks.grew();
  }

  /**
   * Learn of a turn from the server, once however many notices come.
   * @param {string} generation
   */
  async fetch(generation) {
    if (this.#fetching.has(generation)) return;
    this.#fetching.add(generation);
    try {
      const pattern = this.root.dataset.turn ?? "";
      const response = await fetch(pattern.replace(/[0-9a-f-]{36}/, generation));
      if (response.ok && !response.redirected) this.place(await response.text());
      else this.hooks.missing();
    } catch {
      this.hooks.gap(); // offline: the feed comes back by itself and tells of the turn again
    } finally {
      this.#fetching.delete(generation);
    }
  }

  /**
   * The page will hear no more: what is being written ends here, for everybody to see.
   * @param {HTMLTemplateElement} ending how, as the server words it
   */
  abandon(ending) {
    if (this.#live.size === 0) return;
    for (const live of this.#live.values()) {
      const { article } = live;
      live.paint();
      this.#cursors.know(live.handle, live.seq, { over: true });
      this.#abandoned.add(live.id);
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
    this.#live.clear();
    this.hooks.announce(ending.content.querySelector(".ending p")?.textContent ?? "");
    this.hooks.writing(null);
    this.hooks.grew();
  }

  /** The page hears again: how did it go on? */
  takeUp() {
    for (const generation of this.#abandoned) void this.fetch(generation);
    this.#abandoned.clear();
  }

  /** Whether the page shows this reply already. @param {string} generation */
  shows(generation) {
    return this.root.querySelector(`[data-generation="${CSS.escape(generation)}"]`) !== null;
  }

  /** @param {ParentNode} root */
  #adopt(root) {
    for (const element of root.querySelectorAll("article[data-generation]")) {
      const article = /** @type {HTMLElement} */ (element);
      const handle = Number(article.dataset.handle);
      const over = isOver(article);
      if (over) this.#live.delete(handle);
      else if (this.#live.get(handle)?.article === article) continue;
      else {
        const live = new Live(article);
        this.#live.set(handle, live);
        if (live.started) {
          void loadMarkdown();
          if (root !== this.root) this.hooks.announce("started"); // it was quicker than its place on the page
        }
      }
      for (const frame of this.#cursors.know(handle, Number(article.dataset.seq), { over })) this.receive(frame);
    }
    this.hooks.writing(this.writing);
  }

  /** @param {Extract<Frame, {type: "turn"}>} notice */
  #notice({ generation, handle, state }) {
    if (!this.shows(generation)) {
      void this.fetch(generation);
      return;
    }
    const live = this.#live.get(handle);
    if (!live) return;
    if (!FINALS.has(state)) live.article.dataset.state = state;
    else
      setTimeout(() => {
        if (this.#live.get(handle) === live) void this.fetch(generation);
      }, FINAL_WAIT_MS);
  }

  /** @param {Numbered} frame */
  #apply(frame) {
    const live = this.#live.get(frame.handle);
    if (!live) return;
    if (frame.type === "final") {
      if (frame.html) this.#finish(live, frame);
      else void this.#finishLong(frame);
      return;
    }
    if (frame.type === "paint") live.painters[frame.lane].append(frame.text);
    else for (const lane of LANES) live.painters[lane].replace(frame[lane]);
    live.seq = frame.seq;
    this.#schedule();
  }

  #schedule() {
    if (this.#scheduled) return;
    this.#scheduled = true;
    const run = () => {
      this.#scheduled = false;
      this.#paint();
    };
    // A hidden tab has no animation frames; it is kept up to date slowly.
    if (document.hidden) setTimeout(run, HIDDEN_PAINT_MS);
    else requestAnimationFrame(run);
  }

  #paint() {
    let begun = false;
    for (const live of this.#live.values()) {
      if (live.painted === live.seq) continue;
      live.paint();
      this.hooks.painted(live.handle, live.seq);
      if (!live.started) {
        live.started = begun = true;
        this.hooks.announce("started");
      }
    }
    this.hooks.grew();
    if (begun) {
      // The first text is on the page before the Markdown modules are even asked for.
      requestAnimationFrame(() => loadMarkdown().then(() => this.#repaint(), () => {}));
    }
  }

  /** The modules have come: what stands there plain is shown as Markdown. */
  #repaint() {
    for (const live of this.#live.values()) {
      for (const lane of LANES) live.painters[lane].replace(live.painters[lane].text);
      live.paint();
    }
    this.hooks.grew();
  }

  /**
   * A reply that is too long for one frame: its turn is fetched as a page would be.
   * @param {Extract<Frame, {type: "final"}>} frame
   */
  async #finishLong(frame) {
    this.hooks.painted(frame.handle, frame.seq);
    await this.fetch(frame.generation);
    if (frame.state === "confirmed") this.hooks.announce("ready");
    if (frame.successor) void this.fetch(frame.successor);
  }

  /**
   * @param {Live} live
   * @param {Extract<Frame, {type: "final"}>} frame
   */
  #finish(live, frame) {
    const { article } = live;
    this.#live.delete(frame.handle);
    const template = document.createElement("template");
    template.innerHTML = frame.html;
    localiseTimes(template.content, new Date());
    article.dataset.state = frame.state;
    article.dataset.reason = frame.reason ?? "";
    article.dataset.seq = String(frame.seq);
    morph(article, template.content);
    this.hooks.painted(frame.handle, frame.seq);
    if (frame.state === "confirmed") this.hooks.announce("ready");
    else this.hooks.announce(article.querySelector(".ending p")?.textContent ?? "");
    if (frame.successor) void this.fetch(frame.successor);
    this.hooks.writing(this.writing);
    this.hooks.grew();
  }
}

/** @param {Element} article */
function isOver(article) {
  return FINALS.has(/** @type {HTMLElement} */ (article).dataset.state ?? "");
}
