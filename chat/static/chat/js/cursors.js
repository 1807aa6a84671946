// @ts-check
/**
 * Which frame of which reply comes next. Takes frames as they arrive, says what to do with each; knows no socket
 * and no page. A reply is named by its handle, its number in the conversation.
 */

/** @typedef {"answer" | "reasoning" | "refusal"} LaneName */
/** @typedef {{type: "paint", handle: number, seq: number, text: string, lane: LaneName, after: number}} Paint */
/** @typedef {{type: "draft", handle: number, seq: number, answer: string, reasoning: string, refusal: string}} Draft */
/**
 * @typedef {{type: "final", generation: string, handle: number, seq: number, state: string, reason: string | null,
 *   html: string, successor: string | null}} Final
 */
/**
 * @typedef {{type: "turn", generation: string, handle: number, parent: string | null, state: string,
 *   reason: string | null, attempt: number, retry_of: string | null}} Turn
 */
/** @typedef {Paint | Draft | Final} Numbered */
/** @typedef {Numbered | Turn} Frame */
/** @typedef {"apply" | "ignore" | "wait" | "gap"} Verdict */

/** @type {Record<string, LaneName>} */
const LANES = { a: "answer", r: "reasoning", f: "refusal" };

/** How many frames wait for a reply that the page does not show yet; past that the server is asked again. */
export const WAITING_MAX = 2000;

/**
 * Read one line of the feed; null for what this page does not know (a newer server may say more).
 * @param {string} text
 * @returns {Frame | null}
 */
export function parse(text) {
  const value = JSON.parse(text);
  if (Array.isArray(value)) {
    const [handle, seq, piece, letter = "a", after = seq - 1] = value;
    const lane = LANES[letter];
    return lane ? { type: "paint", handle, seq, text: piece, lane, after } : null;
  }
  return ["draft", "final", "turn"].includes(value?.type) ? value : null;
}

/** The page's place in every reply that it shows. */
export class Cursors {
  /** @type {Map<number, {seq: number, over: boolean, joining: boolean}>} */
  #known = new Map();
  /** @type {Map<number, Numbered[]>} */
  #waiting = new Map();

  /**
   * The page shows this reply up to `seq`. Gives the frames that had come before it did.
   * @param {number} handle
   * @param {number} seq
   * @param {{over: boolean}} state
   * @returns {Numbered[]}
   */
  know(handle, seq, { over }) {
    this.#known.set(handle, { seq, over, joining: false });
    const frames = this.#waiting.get(handle) ?? [];
    this.#waiting.delete(handle);
    return frames;
  }

  /** @param {number} handle */
  has(handle) {
    return this.#known.has(handle);
  }

  /** @param {number} handle */
  isOver(handle) {
    return this.#known.get(handle)?.over ?? false;
  }

  /**
   * What to do with a numbered frame: a duplicate is ignored, a gap sends the page back to the server.
   * @param {Numbered} frame
   * @returns {Verdict}
   */
  take(frame) {
    const place = this.#known.get(frame.handle);
    if (!place) return this.#wait(frame);
    if (place.over) return "ignore";
    const joining = place.joining;
    if (frame.type === "final") {
      place.seq = frame.seq;
      place.over = true;
      return "apply";
    }
    if (frame.type === "draft") {
      // On joining the server's draft is the truth even if it is shorter: after a crash it is the last one saved.
      if (!joining && frame.seq <= place.seq) return "ignore";
    } else {
      if (frame.seq <= place.seq) return "ignore";
      if (frame.after !== place.seq) return "gap";
    }
    place.seq = frame.seq;
    place.joining = false;
    return "apply";
  }

  /** A new connection begins: what waited is asked for again. */
  rejoin() {
    this.#waiting.clear();
    for (const place of this.#known.values()) place.joining = !place.over;
  }

  /** Where the newest reply that is still being written stands, for the address of the feed; null if none is. */
  position() {
    let newest = -1;
    for (const [handle, place] of this.#known) if (!place.over && handle > newest) newest = handle;
    return newest < 0 ? null : `${newest}:${this.#known.get(newest)?.seq}`;
  }

  /**
   * @param {Numbered} frame
   * @returns {Verdict}
   */
  #wait(frame) {
    const frames = this.#waiting.get(frame.handle) ?? [];
    if (frames.length >= WAITING_MAX) return "gap";
    frames.push(frame);
    this.#waiting.set(frame.handle, frames);
    return "wait";
  }
}
