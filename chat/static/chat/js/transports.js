// @ts-check
/**
 * The ways on which frames come down, best first, and when to give one up. Takes an address and where the page stands;
 * gives lines that behave like a WebSocket. A line opens when it has proven that it brings something: behind a proxy that
 * holds a body back, a stream of events looks open and says nothing.
 */

/**
 * @typedef {object} Line
 * @property {number} readyState 1 while it is open, as a WebSocket's
 * @property {(() => void) | null} onopen
 * @property {((event: {data: string}) => void) | null} onmessage
 * @property {((event: {code: number}) => void) | null} onclose
 * @property {(text: string) => void} [send] where the page can say what it has painted
 * @property {() => void} [hurry] something is to be expected: look now
 * @property {() => void} close
 */
/** @typedef {() => string | null} Position where the page stands, read whenever the server is asked */
/**
 * @typedef {object} Transport
 * @property {string} name
 * @property {"socket" | "events"} at which of the server's addresses
 * @property {number} strikes openings that may fail in a row, while it has never opened, before the next one is tried
 * @property {number} patienceMs how long an opening may take
 * @property {boolean} rests whether a page that nobody looks at lets go of it, for `AWAY`
 * @property {(url: string, position: Position) => Line} connect
 */

/** What a line is closed with, beside a WebSocket's own codes: the server has told all that one response may bring. */
export const MORE = 4000;
const LOST = 1006;
const SIGNED_OUT = 4401;
const NOT_FOUND = 4404;
/** The server's reasons for an end, as the socket's codes say them. @type {Record<string, number>} */
const CODES = { gone: NOT_FOUND, signed_out: SIGNED_OUT, draining: 1001, failed: 1011 };

const RUNNING_MS = 600;
const IDLE_MS = 4000;
const AWAY_RUNNING_MS = 3000;
const AWAY_IDLE_MS = 30000;
const ANSWER_MS = 10000;
/** Openings that may fail in a row once it has opened: then the network is another one. */
const STRIKES_PROVEN = 6;

/**
 * @param {string} base of the feed, without a cursor
 * @param {string | null} position
 */
export function address(base, position) {
  return position === null ? base : `${base}${base.includes("?") ? "&" : "?"}after=${position}`;
}

/** Server-sent events as a line. @implements {Line} */
export class EventsLine {
  readyState = 0;
  /** @type {Line["onopen"]} */
  onopen = null;
  /** @type {Line["onmessage"]} */
  onmessage = null;
  /** @type {Line["onclose"]} */
  onclose = null;

  /**
   * @param {string} url
   * @param {(url: string) => EventSource} [make]
   */
  constructor(url, make = (target) => new EventSource(target)) {
    this.source = make(url);
    this.source.addEventListener("message", (event) => {
      this.#prove();
      if (this.readyState === 1) this.onmessage?.({ data: event.data });
    });
    this.source.addEventListener("end", () => this.#prove());
    this.source.addEventListener("more", () => this.#end(MORE));
    // The server's own word is an event with data; without any the line was lost. It would come back by itself, but
    // without telling the page, which has to know that the server may have forgotten some of the draft.
    this.source.addEventListener("error", (/** @type {Event & {data?: string}} */ event) => {
      this.#end(event.data === undefined ? LOST : (CODES[JSON.parse(event.data).reason] ?? LOST));
    });
  }

  close() {
    this.readyState = 3;
    this.source.close();
  }

  #prove() {
    if (this.readyState !== 0) return;
    this.readyState = 1;
    this.onopen?.();
  }

  /** @param {number} code */
  #end(code) {
    if (this.readyState === 3) return;
    this.close();
    this.onclose?.({ code });
  }
}

/** One question after the other as a line; each names the cursor. @implements {Line} */
export class PollLine {
  readyState = 0;
  /** @type {Line["onopen"]} */
  onopen = null;
  /** @type {Line["onmessage"]} */
  onmessage = null;
  /** @type {Line["onclose"]} */
  onclose = null;
  /** Where the server says that this line stands, for a page that waits for the next reply. @type {string | null} */
  #cursor = null;
  /** @type {any} */
  #timer = null;
  /** @type {AbortController | null} */
  #asking = null;
  #again = false;

  /**
   * @param {string} url
   * @param {Position} position
   * @param {object} [parts]
   * @param {number} [parts.runningMs] between an answer and the next question, while a reply is written
   * @param {number} [parts.idleMs] the same while none is
   * @param {(url: string, options: {signal: AbortSignal}) => Promise<Response>} [parts.ask]
   * @param {(run: () => void, ms: number) => any} [parts.after]
   * @param {(timer: any) => void} [parts.cancel]
   */
  constructor(
    url,
    position,
    {
      runningMs = RUNNING_MS,
      idleMs = IDLE_MS,
      ask = (target, options) => fetch(target, options),
      after = (run, ms) => setTimeout(run, ms),
      cancel = (timer) => clearTimeout(timer),
    } = {},
  ) {
    this.url = url;
    this.position = position;
    this.runningMs = runningMs;
    this.idleMs = idleMs;
    this.ask = ask;
    this.after = after;
    this.cancel = cancel;
    void this.#ask();
  }

  hurry() {
    if (this.#asking) this.#again = true;
    else if (this.readyState === 1) void this.#ask();
  }

  close() {
    this.readyState = 3;
    this.cancel(this.#timer);
    this.#asking?.abort();
  }

  async #ask() {
    this.cancel(this.#timer);
    this.#again = false;
    const asking = (this.#asking = new AbortController());
    const limit = this.after(() => asking.abort(), ANSWER_MS);
    /** @type {{frames: unknown[], cursor: string, end: boolean} | number} */
    let answer;
    try {
      const response = await this.ask(address(this.url, this.position() ?? this.#cursor), { signal: asking.signal });
      if (response.redirected) answer = SIGNED_OUT;
      else if (response.status === 404) answer = NOT_FOUND;
      else answer = response.ok ? await response.json() : LOST;
    } catch {
      answer = LOST;
    }
    this.cancel(limit);
    this.#asking = null;
    if (this.readyState === 3) return;
    if (typeof answer === "number") {
      this.close();
      this.onclose?.({ code: answer });
      return;
    }
    this.#take(answer);
  }

  /** @param {{frames: unknown[], cursor: string, end: boolean}} answer */
  #take({ frames, cursor, end }) {
    this.#cursor = cursor;
    if (this.readyState === 0) {
      this.readyState = 1;
      this.onopen?.();
    }
    for (const frame of frames) {
      // A gap makes the feed begin anew, on another line.
      if (this.readyState === 1) this.onmessage?.({ data: JSON.stringify(frame) });
    }
    if (this.readyState !== 1) return;
    const wait = this.#again ? 0 : end ? this.idleMs : this.runningMs;
    this.#timer = this.after(() => void this.#ask(), wait);
  }
}

/** @type {Transport[]} */
export const TRANSPORTS = [
  {
    name: "socket",
    at: "socket",
    strikes: 2,
    patienceMs: 5000,
    rests: false,
    connect: (url, position) => new WebSocket(address(url, position())),
  },
  {
    name: "events",
    at: "events",
    strikes: 1,
    patienceMs: 4000,
    rests: true,
    connect: (url, position) => new EventsLine(address(url, position())),
  },
  {
    name: "poll",
    at: "events",
    strikes: 2,
    patienceMs: ANSWER_MS,
    rests: true,
    connect: (url, position) => new PollLine(`${url}?poll=1`, position),
  },
];

/**
 * What a page that nobody looks at holds instead of a stream: a browser has few connections to a server, and a hidden page
 * that keeps one takes it from those that are looked at. A question now and then holds none, and still brings how a reply
 * ended, for the tab's icon and for a notification. @type {Transport}
 */
export const AWAY = {
  name: "away",
  at: "events",
  strikes: Infinity,
  patienceMs: ANSWER_MS,
  rests: false,
  connect: (url, position) => new PollLine(`${url}?poll=1`, position, { runningMs: AWAY_RUNNING_MS, idleMs: AWAY_IDLE_MS }),
};

/** Which transport is the one to use; past the last it begins again with the first. */
export class Ladder {
  #at = 0;
  #failures = 0;
  /** @type {Set<number>} */
  #proven = new Set();
  /** Whether every transport has failed: then it is not the transports' fault. */
  cameRound = false;

  /** @param {Transport[]} transports */
  constructor(transports) {
    this.transports = transports;
  }

  get transport() {
    return this.transports[this.#at];
  }

  opened() {
    this.#failures = 0;
    this.cameRound = false;
    this.#proven.add(this.#at);
  }

  /** An opening failed. Gives whether another transport is the one to use now. */
  failed() {
    const strikes = this.#proven.has(this.#at) ? STRIKES_PROVEN : this.transport.strikes;
    if (++this.#failures < strikes) return false;
    this.#failures = 0;
    this.#at = (this.#at + 1) % this.transports.length;
    if (this.#at === 0) this.cameRound = true;
    return true;
  }
}
