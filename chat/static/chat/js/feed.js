// @ts-check
/**
 * The conversation's feed: one line at a time, its cursor in the address, frames down and acknowledgements up. It comes
 * back by itself, slower each time, and says so; where a transport does not get through, by the next one. It knows no page;
 * clock, chance and transports are given to it.
 */
import { parse } from "#chat/cursors";
import { AWAY, Ladder, MORE, TRANSPORTS } from "#chat/transports";

/** @typedef {import("./cursors.js").Frame} Frame */
/** @typedef {"open" | "lost" | "gone"} Status */

/** The server ended the socket for good: the person is not signed in, or the conversation is not there (any more). */
const FOR_GOOD = new Set([4401, 4404]);
const LOST = 1006;
const ACK_MS = 1000;
const NOTE_MS = 1000;
const STEADY_MS = 5000;

/**
 * How long to wait before attempt number `attempt` (0, 1, 2 …): doubles up to 15 s, and never the same for two pages.
 * @param {number} attempt
 * @param {number} chance from 0 to 1
 */
export function backoffMs(attempt, chance) {
  return Math.min(15000, 500 * 2 ** Math.min(attempt, 10)) * (0.5 + chance / 2);
}

export class Feed {
  /** @type {import("./transports.js").Line | null} */
  #line = null;
  #attempt = 0;
  #opened = false;
  #lost = false;
  #stopped = false;
  /** Nobody looks at the page, and its transport is one to let go of then. */
  #away = false;
  /** @type {any} */
  #retryTimer = null;
  /** @type {any} */
  #openingTimer = null;
  /** @type {any} */
  #noteTimer = null;
  /** @type {any} */
  #steadyTimer = null;
  /** @type {any} */
  #ackTimer = null;
  #ackedAt = -Infinity;
  /** @type {[number, number] | null} */
  #ack = null;

  /**
   * @param {object} parts
   * @param {{socket: string, events: string}} parts.urls
   * @param {() => string | null} parts.position where the page stands, read at each connection
   * @param {() => void} parts.joining called before each connection
   * @param {(frame: Frame) => void} parts.receive
   * @param {(status: Status) => void} parts.tell
   * @param {() => void} [parts.refused] a connection did not come about: the server is away, or does not let this page in
   * @param {import("./transports.js").Transport[]} [parts.transports] best first
   * @param {import("./transports.js").Transport} [parts.away] while nobody looks
   * @param {() => number} [parts.now] in milliseconds
   * @param {() => number} [parts.random]
   * @param {(run: () => void, ms: number) => any} [parts.after]
   * @param {(timer: any) => void} [parts.cancel]
   */
  constructor({
    urls,
    position,
    joining,
    receive,
    tell,
    refused = () => {},
    transports = TRANSPORTS,
    away = AWAY,
    now = () => performance.now(),
    random = Math.random,
    after = (run, ms) => setTimeout(run, ms),
    cancel = (timer) => clearTimeout(timer),
  }) {
    this.urls = urls;
    this.position = position;
    this.joining = joining;
    this.receive = receive;
    this.tell = tell;
    this.refused = refused;
    this.ladder = new Ladder(transports);
    this.away = away;
    this.now = now;
    this.random = random;
    this.after = after;
    this.cancel = cancel;
  }

  /** Whether a connection was lost, or refused, and none has come about since. */
  get lost() {
    return this.#lost;
  }

  /** Connect now, whatever was planned; also after a gap, from where the page stands. */
  open() {
    this.#stopped = this.#opened = false;
    this.cancel(this.#retryTimer);
    this.#retryTimer = null;
    this.#drop();
    this.joining();
    this.#noteTimer ??= this.after(() => this.tell("lost"), NOTE_MS);
    const { at, connect, patienceMs } = this.#away ? this.away : this.ladder.transport;
    /** @type {import("./transports.js").Line} */
    let line;
    try {
      line = this.#line = connect(this.urls[at], this.position);
    } catch {
      this.#closed(LOST); // a browser that is told to have no such thing
      return;
    }
    this.#openingTimer = this.after(() => this.#closed(LOST), patienceMs);
    line.onopen = () => {
      if (line !== this.#line) return;
      if (!this.#away) this.ladder.opened();
      this.#opened = true;
      this.#lost = false;
      this.cancel(this.#openingTimer);
      this.cancel(this.#noteTimer);
      this.#noteTimer = null;
      this.#steadyTimer = this.after(() => (this.#attempt = 0), STEADY_MS);
      this.tell("open");
    };
    line.onmessage = (event) => {
      if (line !== this.#line) return;
      const frame = parse(event.data);
      if (frame) this.receive(frame);
    };
    line.onclose = (event) => {
      if (line === this.#line) this.#closed(event.code);
    };
  }

  /** Try now if it was waiting: the machine is online again, or a reply has begun. */
  hurry() {
    if (this.#retryTimer !== null) this.open();
    else this.#line?.hurry?.();
  }

  /** Nobody looks at the page: it lets go of a line that others may need more, and asks now and then instead. */
  rest() {
    if (this.#stopped || this.#away || !this.ladder.transport.rests) return;
    this.#away = true;
    if (this.#retryTimer === null) this.open();
  }

  /** Somebody looks again. */
  wake() {
    const was = this.#away;
    this.#away = false;
    if (was && !this.#stopped) this.open();
    else this.hurry();
  }

  /** No more: the page is left. */
  close() {
    this.#stopped = true;
    this.#away = false;
    this.cancel(this.#retryTimer);
    this.cancel(this.#noteTimer);
    this.#retryTimer = this.#noteTimer = null;
    this.#drop();
  }

  /**
   * The page has painted up to here; told at most once a second, the last one never lost.
   * @param {number} handle
   * @param {number} seq
   */
  ack(handle, seq) {
    this.#ack = [handle, seq];
    if (this.#ackTimer !== null) return;
    const wait = this.#ackedAt + ACK_MS - this.now();
    if (wait <= 0) this.#sendAck();
    else
      this.#ackTimer = this.after(() => {
        this.#ackTimer = null;
        this.#sendAck();
      }, wait);
  }

  #sendAck() {
    if (!this.#ack || this.#line?.readyState !== 1) return;
    this.#line.send?.(JSON.stringify({ ack: this.#ack }));
    this.#ack = null;
    this.#ackedAt = this.now();
  }

  /** @param {number} code */
  #closed(code) {
    this.#drop();
    if (this.#stopped) return;
    if (code === MORE) {
      this.open();
      return;
    }
    this.#lost = true;
    if (FOR_GOOD.has(code)) {
      this.cancel(this.#noteTimer);
      this.#noteTimer = null;
      this.tell("gone");
      return;
    }
    this.#noteTimer ??= this.after(() => this.tell("lost"), NOTE_MS);
    const next = !this.#opened && !this.#away && this.ladder.failed() && !this.ladder.cameRound;
    const wait = next ? 0 : backoffMs(this.#attempt++, this.random());
    this.#retryTimer = this.after(() => this.open(), wait);
    if (!this.#opened) this.refused();
  }

  #drop() {
    this.cancel(this.#steadyTimer);
    this.cancel(this.#ackTimer);
    this.cancel(this.#openingTimer);
    this.#steadyTimer = this.#ackTimer = this.#openingTimer = null;
    this.#ack = null;
    const line = this.#line;
    this.#line = null;
    if (line && line.readyState <= 1) line.close();
  }
}
