// @ts-check
/**
 * The replies on the page. Takes frames and fragments, keeps every reply's element as they say: paints drafts, sets what is
 * ready, and makes room for turns that another window began.
 */
import { Cursors } from "#chat/cursors";
import { FINALS, LANES, Live, endHere, isOver } from "#chat/live";
import { watchDetails } from "#chat/morph";
import { loadMarkdown } from "#chat/paint";
import { localiseTimes } from "#chat/times";

/** @typedef {import("./cursors.js").Frame} Frame */
/** @typedef {import("./cursors.js").Numbered} Numbered */

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
 * @property {import("./stretch.js").Stretch} stretch how much of the conversation the page shows
 */

export class Thread {
  #cursors = new Cursors();
  /** @type {Map<number, Live>} */
  #live = new Map();
  /** @type {Set<string>} */
  #fetching = new Set();
  /** A reply that is being written on a branch that this page does not show. @type {{id: string, handle: number} | null} */
  #elsewhere = null;
  /** The newest reply that the page was told of; what is older and not on it belongs to another branch. */
  #newest = 0;
  /** Fragments in the order in which they were asked for: one that is overtaken takes nothing away. */
  #asked = 0;
  #placed = 0;
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
    this.#newest = Number(root.dataset.newest ?? 0);
    watchDetails(root);
    this.#adopt(root);
    // What waited for the next animation frame would wait until somebody looks; and the server for word that it was painted.
    document.addEventListener("visibilitychange", () => document.hidden && setTimeout(this.#paint, HIDDEN_PAINT_MS));
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
    return newest?.id ?? this.#elsewhere?.id ?? null;
  }

  /** The last message that the page shows: what the person writes next comes after it. */
  get leaf() {
    const turn = /** @type {HTMLElement | null} */ (this.root.querySelector(":scope > .turn:last-of-type"));
    const answer = /** @type {HTMLElement | null} */ (turn?.querySelector(":scope > .reply [data-answer]"));
    return answer?.dataset.answer ?? turn?.dataset.message ?? "";
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
   * Put a turn's fragment in its place: where it is already, or after the turn that it follows. What stands on the page
   * after it and is of another branch goes; where the page lacks what it follows, the whole branch is fetched.
   * @param {string} html
   * @param {number} [asked] its place in the order of questions to the server
   */
  place(html, asked = ++this.#asked) {
    const turn = /** @type {HTMLElement | null} */ (fragment(html).querySelector(".turn"));
    if (!turn) {
      void this.reload();
      return;
    }
    const isLate = asked < this.#placed;
    this.#placed = Math.max(this.#placed, asked);
    const old = this.#turn(turn.dataset.message);
    if (!old && turn.dataset.follows && !this.#turn(turn.dataset.follows)) {
      if (this.hooks.stretch.isCut) this.#beyond(turn);
      else void this.reload();
      return;
    }
    this.#keepLive(turn);
    const hadFocus = old?.contains(document.activeElement) ?? false;
    const before = old ?? this.#turn(turn.dataset.follows);
    if (!isLate && (!old || "last" in turn.dataset)) this.#leave(before ? before.nextElementSibling : this.root.firstElementChild);
    if (old) {
      this.#let(old);
      old.replaceWith(turn);
    } else this.root.append(turn);
    if (!isLate && "last" in turn.dataset) this.hooks.stretch.end();
    localiseTimes(turn, new Date());
    this.#adopt(turn);
    if (hadFocus) turn.querySelector("article:last-of-type")?.scrollIntoView({ block: "nearest" });
    this.hooks.grew();
  }

  /** A turn of a part of the conversation that the page does not show: a reply that is written there can be stopped. @param {Element} turn */
  #beyond(turn) {
    for (const article of /** @type {NodeListOf<HTMLElement>} */ (turn.querySelectorAll("article[data-generation]")))
      if (!isOver(article)) this.#away(article.dataset.generation ?? "", Number(article.dataset.handle));
    this.hooks.writing(this.writing);
  }

  /**
   * Earlier or later turns of the branch that is shown.
   * @param {HTMLElement[]} turns
   * @param {Element | null} before what they stand before; null for the end
   */
  put(turns, before) {
    const fresh = turns.filter(({ dataset }) => !this.#turn(dataset.message));
    for (const turn of fresh) this.root.insertBefore(turn, before);
    for (const turn of fresh) localiseTimes(turn, new Date());
    this.#adopt(...fresh);
  }

  /**
   * Show the active branch as the server has it now, in the place of what is shown.
   * @returns {Promise<boolean>} whether that could be done
   */
  async reload() {
    const asked = ++this.#asked;
    const first = /** @type {HTMLElement | null} */ (this.root.firstElementChild);
    const fresh = await this.hooks.stretch.anew(first?.dataset.follows ?? "");
    if (!fresh || asked < this.#placed) return false;
    this.#placed = asked;
    this.hooks.stretch.take(fresh);
    this.#newest = Math.max(this.#newest, Number(fresh.dataset.newest ?? 0));
    this.#elsewhere = null;
    this.#keepLive(fresh);
    this.#leave(this.root.firstElementChild);
    this.root.replaceChildren(...fresh.childNodes);
    localiseTimes(this.root, new Date());
    this.#adopt(this.root);
    this.hooks.grew();
    return true;
  }

  /** @param {string | undefined} message */
  #turn(message) {
    return message ? this.root.querySelector(`:scope > [data-message="${CSS.escape(message)}"]`) : null;
  }

  /** What is painted here goes on in its own element; what has ended, and not by a sign-out, is no draft again. @param {ParentNode} fresh */
  #keepLive(fresh) {
    for (const article of fresh.querySelectorAll("article[data-generation]")) {
      const { handle, generation } = /** @type {HTMLElement} */ (article).dataset;
      if (isOver(article)) continue;
      const here = this.#live.get(Number(handle))?.article ?? this.#article(generation ?? "");
      const hasEnded = here && isOver(here) && here.dataset.reason !== "signed_out";
      if (here && (this.#live.has(Number(handle)) || hasEnded)) article.replaceWith(here);
    }
  }

  /** @param {string} generation @returns {HTMLElement | null} */
  #article(generation) {
    return this.root.querySelector(`[data-generation="${CSS.escape(generation)}"]`);
  }

  /** This turn and those after it are no longer shown. @param {Element | null} from */
  #leave(from) {
    for (let turn = from; turn; ) {
      const next = turn.nextElementSibling;
      this.#let(turn);
      turn.remove();
      turn = next;
    }
  }

  /** Follow nothing in it any more; a reply that is being written there is remembered, for it can be stopped. @param {Element} turn */
  #let(turn) {
    for (const [handle, live] of this.#live) {
      if (!turn.contains(live.article)) continue;
      this.#live.delete(handle);
      this.#away(live.id, handle);
    }
  }

  /** @param {string} id @param {number} handle */
  #away(id, handle) {
    this.#elsewhere = { id, handle };
    this.#cursors.know(handle, 0, { over: true }); // its frames are read, and put nowhere
  }

  /**
   * Learn of a turn from the server, once however many notices come.
   * @param {string} generation
   * @param {number} [handle] where the reply may be on another branch
   */
  async fetch(generation, handle) {
    if (this.#fetching.has(generation)) return;
    this.#fetching.add(generation);
    const asked = ++this.#asked;
    try {
      const pattern = this.root.dataset.turn ?? "";
      const response = await fetch(pattern.replace(/[0-9a-f-]{36}/, generation));
      if (response.status === 204) {
        if (handle !== undefined && !this.shows(generation)) {
          this.#away(generation, handle);
          this.hooks.writing(this.writing);
        }
      } else if (response.ok && !response.redirected) this.place(await response.text(), asked);
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
      live.paint();
      this.#cursors.know(live.handle, live.seq, { over: true });
      this.#abandoned.add(live.id);
      endHere(live.article, ending);
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
  shows = (generation) => this.#article(generation) !== null;

  /** @param {ParentNode[]} roots */
  #adopt(...roots) {
    for (const element of roots.flatMap((each) => [...each.querySelectorAll("article[data-generation]")])) {
      const article = /** @type {HTMLElement} */ (element);
      const handle = Number(article.dataset.handle);
      const over = isOver(article);
      if (this.#elsewhere?.handle === handle) this.#elsewhere = null;
      this.#newest = Math.max(this.#newest, handle);
      if (over) this.#live.delete(handle);
      else if (this.#live.get(handle)?.article === article) continue;
      else {
        const live = new Live(article);
        this.#live.set(handle, live);
        if (live.started) {
          void loadMarkdown();
          if (roots[0] !== this.root) this.hooks.announce("started"); // it was quicker than its place on the page
        }
      }
      for (const frame of this.#cursors.know(handle, Number(article.dataset.seq), { over })) this.receive(frame);
    }
    this.hooks.writing(this.writing);
  }

  /** @param {Extract<Frame, {type: "turn"}>} notice */
  #notice({ generation, handle, state }) {
    const isNew = handle > this.#newest;
    this.#newest = Math.max(this.#newest, handle);
    if (!this.shows(generation)) {
      const isOver = FINALS.has(state);
      if (this.#elsewhere?.id === generation) {
        if (!isOver) return;
        this.#elsewhere = null;
        this.hooks.writing(this.writing);
      } else if (isNew || !isOver) void this.fetch(generation, isOver ? undefined : handle);
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
      void this.#finish(live, frame);
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
    // A hidden tab has no animation frames; it is kept up to date slowly.
    if (document.hidden) setTimeout(this.#paint, HIDDEN_PAINT_MS);
    else requestAnimationFrame(this.#paint);
  }

  #paint = () => {
    if (!this.#scheduled) return;
    this.#scheduled = false;
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
  };

  /** The modules have come: what stands there plain is shown as Markdown. */
  #repaint() {
    for (const live of this.#live.values()) live.anew();
    this.hooks.grew();
  }

  /**
   * @param {Live} live
   * @param {Extract<Frame, {type: "final"}>} frame
   */
  async #finish(live, frame) {
    const { article } = live;
    this.#live.delete(frame.handle);
    const said = frame.html ? fragment(frame.html) : await this.#ask(frame.generation);
    if (!said) await this.fetch(frame.generation);
    else if (await live.end(frame, said)) {
      if (frame.state === "confirmed") this.hooks.announce("ready");
      else this.hooks.announce(article.querySelector(".ending p")?.textContent ?? "");
    }
    this.hooks.painted(frame.handle, frame.seq);
    if (frame.successor) void this.fetch(frame.successor);
    this.hooks.writing(this.writing);
    this.hooks.grew();
  }

  /** A reply that is too long for one frame: as its turn shows it. @param {string} generation */
  async #ask(generation) {
    const response = await fetch((this.root.dataset.turn ?? "").replace(/[0-9a-f-]{36}/, generation)).catch(() => null);
    if (response?.status !== 200 || response.redirected) return null;
    return fragment(await response.text()).querySelector(`[data-generation="${CSS.escape(generation)}"]`);
  }
}

/** @param {string} html */
function fragment(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content;
}
