// @ts-check
/**
 * The conversation's feed: one WebSocket, its cursor in the address, frames down and acknowledgements up. It comes back by
 * itself, slower each time, and says so. It knows no page; clock, chance and socket are given to it.
 */
import { parse } from "#chat/cursors";

/** @typedef {import("./cursors.js").Frame} Frame */
/** @typedef {"open" | "lost" | "gone"} Status */

/** The server ended the socket for good: the person is not signed in, or the conversation is not there (any more). */
const FOR_GOOD = new Set([4401, 4404]);
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

/**
 * @param {string} base of the feed, without a cursor
 * @param {string | null} position
 */
export function address(base, position) {
  return position === null ? base : `${base}?after=${position}`;
}

export class Feed {
  /** @type {WebSocket | null} */
  #socket = null;
  #attempt = 0;
  #opened = false;
  #lost = false;
  #stopped = false;
  /** @type {any} */
  #retryTimer = null;
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
   * @param {string} parts.url
   * @param {() => string | null} parts.position where the page stands, read at each connection
   * @param {() => void} parts.joining called before each connection
   * @param {(frame: Frame) => void} parts.receive
   * @param {(status: Status) => void} parts.tell
   * @param {() => void} [parts.refused] a connection did not come about: the server is away, or does not let this page in
   * @param {(url: string) => WebSocket} [parts.connect]
   * @param {() => number} [parts.now] in milliseconds
   * @param {() => number} [parts.random]
   * @param {(run: () => void, ms: number) => any} [parts.after]
   * @param {(timer: any) => void} [parts.cancel]
   */
  constructor({
    url,
    position,
    joining,
    receive,
    tell,
    refused = () => {},
    connect = (target) => new WebSocket(target),
    now = () => performance.now(),
    random = Math.random,
    after = (run, ms) => setTimeout(run, ms),
    cancel = (timer) => clearTimeout(timer),
  }) {
    this.url = url;
    this.position = position;
    this.joining = joining;
    this.receive = receive;
    this.tell = tell;
    this.refused = refused;
    this.connect = connect;
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
    const socket = this.connect(address(this.url, this.position()));
    this.#socket = socket;
    this.#noteTimer ??= this.after(() => this.tell("lost"), NOTE_MS);
    socket.onopen = () => {
      if (socket !== this.#socket) return;
      this.#opened = true;
      this.#lost = false;
      this.cancel(this.#noteTimer);
      this.#noteTimer = null;
      this.#steadyTimer = this.after(() => (this.#attempt = 0), STEADY_MS);
      this.tell("open");
    };
    socket.onmessage = (event) => {
      if (socket !== this.#socket) return;
      const frame = parse(event.data);
      if (frame) this.receive(frame);
    };
    socket.onclose = (event) => {
      if (socket === this.#socket) this.#closed(event.code);
    };
  }

  /** Try now if it was waiting for its next attempt: the machine is online again, or the page is looked at. */
  hurry() {
    if (this.#retryTimer !== null) this.open();
  }

  /** No more: the page is left. */
  close() {
    this.#stopped = true;
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
    if (!this.#ack || this.#socket?.readyState !== 1) return;
    this.#socket.send(JSON.stringify({ ack: this.#ack }));
    this.#ack = null;
    this.#ackedAt = this.now();
  }

  /** @param {number} code */
  #closed(code) {
    this.#drop();
    if (this.#stopped) return;
    this.#lost = true;
    if (FOR_GOOD.has(code)) {
      this.cancel(this.#noteTimer);
      this.#noteTimer = null;
      this.tell("gone");
      return;
    }
    this.#noteTimer ??= this.after(() => this.tell("lost"), NOTE_MS);
    this.#retryTimer = this.after(() => this.open(), backoffMs(this.#attempt++, this.random()));
    if (!this.#opened) this.refused();
  }

  #drop() {
    this.cancel(this.#steadyTimer);
    this.cancel(this.#ackTimer);
    this.#steadyTimer = this.#ackTimer = null;
    this.#ack = null;
    const socket = this.#socket;
    this.#socket = null;
    if (socket && socket.readyState <= 1) socket.close();
  }
}
