// @ts-check
/**
 * The line on which a person writes: Enter asks, Shift+Enter starts a new line, nothing fires while an input method
 * composes. A message that could not be sent stays in the line, with one sentence that says why, for as long as that is so.
 */

import { composes } from "#chat/keys";

/**
 * @typedef {{conversation: string, url: string, generation: string, handle: number, html: string}} Started
 * @typedef {"offline" | "signedOut" | "missing" | "busy" | "refused"} Cause why something failed
 * @typedef {{ok: true, value: any} | {ok: false, message: string, cause: Cause}} Answer
 */

/**
 * Whether an error still holds after this has happened: a reply ended, the server was reached again, the person wrote on.
 * @param {Cause} cause
 * @param {"ended" | "reached" | "written"} event
 * @param {boolean} lost whether the page knows of its own that the server is away
 */
export function holds(cause, event, lost) {
  if (cause === "busy") return event === "reached";
  if (cause === "offline") return event === "written" ? lost : event !== "reached";
  return event === "ended" || (event === "reached" && cause !== "signedOut");
}

/** The page's own token is as old as the page; signing in again, in another tab, makes a new one. */
async function renewToken() {
  const response = await fetch(location.href);
  if (!response.ok || response.redirected) return response;
  // A template's content, not a document: the rules that stand in that page have another page's nonce.
  const fresh = document.createElement("template");
  fresh.innerHTML = await response.text();
  const name = "input[name=csrfmiddlewaretoken]";
  const token = /** @type {HTMLInputElement | null} */ (fresh.content.querySelector(name))?.value ?? "";
  for (const field of document.querySelectorAll(name)) /** @type {HTMLInputElement} */ (field).value = token;
  return token;
}

/** What was sent has come; from here on the page's forms are other forms, whatever stands in them. */
export function renewKeys() {
  for (const field of document.querySelectorAll("input[name=once]")) {
    const bytes = crypto.getRandomValues(new Uint8Array(12));
    /** @type {HTMLInputElement} */ (field).value = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  }
}

/**
 * Whether this key asks. On a touch keyboard Enter is the only way to a new line, so it stays one.
 * @param {{key: string, shiftKey: boolean, altKey: boolean, isComposing: boolean, keyCode: number}} event
 * @param {boolean} coarse whether the main pointer is a finger
 */
export function asks(event, coarse) {
  if (composes(event)) return false;
  return event.key === "Enter" && !event.shiftKey && !event.altKey && !coarse;
}

/**
 * Post to one of our commands; every way in which it can fail becomes a sentence.
 * @param {string} url
 * @param {FormData} body
 * @param {{offline?: string, signedOut?: string, failed?: string}} sentences
 * @param {(() => Promise<string | Response>) | null} [renew] gives a fresh token, or the answer that had none
 * @returns {Promise<Answer>}
 */
export async function post(url, body, sentences, renew = renewToken) {
  /** @type {Response} */
  let response;
  let value = null;
  try {
    response = await fetch(url, { method: "POST", body, headers: { Accept: "application/json" } });
    if (response.headers.get("Content-Type")?.startsWith("application/json"))
      value = await response.json().catch(() => null);
    if (value?.error === "csrf" && renew) {
      const token = await renew();
      if (typeof token === "string") {
        body.set("csrfmiddlewaretoken", token);
        return await post(url, body, sentences, null);
      }
      response = token;
    }
  } catch {
    return { ok: false, message: sentences.offline ?? "", cause: "offline" };
  }
  if (response.redirected) return { ok: false, message: sentences.signedOut ?? "", cause: "signedOut" };
  if (response.ok && value) return { ok: true, value };
  const cause = response.status === 404 ? "missing" : value?.error === "busy" ? "busy" : "refused";
  return { ok: false, message: value?.message ?? sentences.failed ?? "", cause };
}

export class Composer {
  #sending = false;
  /** The reply that is being written, if any. @type {string | null} */
  #writing = null;
  /** Why the line shows an error, while it does. @type {Cause | null} */
  #cause = null;
  /** Stop was pressed on the page, not by Escape: the focus was there, and has to go somewhere. */
  #pressed = false;
  /** The reply that was told to stop and has not ended yet. @type {string | null} */
  #stopping = null;
  /** What was asked meanwhile: it goes when that has ended. @type {{text: string, button: HTMLElement | null} | null} */
  #next = null;

  /**
   * @param {HTMLFormElement} form
   * @param {object} hooks
   * @param {(started: Started) => void} hooks.started
   * @param {(sending: boolean) => void} [hooks.sending]
   * @param {(cause: Cause) => void} [hooks.failed] a command was answered so
   * @param {() => Promise<unknown>} [hooks.prepared] what goes along is ready to go
   * @param {() => boolean} [hooks.lost] whether the page has lost the server, and would not hear of a reply's end
   * @param {(sentence: string) => void} [hooks.announce] for who listens
   */
  constructor(form, { started, sending = () => {}, failed = () => {}, prepared = async () => {}, lost = () => false, announce = () => {} }) {
    this.form = form;
    this.started = started;
    this.sendingChanged = sending;
    this.failed = failed;
    this.prepared = prepared;
    this.lost = lost;
    this.announce = announce;
    this.line = /** @type {HTMLTextAreaElement} */ (form.elements.namedItem("text"));
    this.error = /** @type {HTMLElement} */ (form.querySelector("#composer-error"));
    this.note = /** @type {HTMLElement} */ (form.querySelector("#composer-note"));
    this.stopButton = /** @type {HTMLButtonElement} */ (form.querySelector(".stop"));
    this.askButton = /** @type {HTMLButtonElement} */ (form.querySelector(".ask"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.ask(event.submitter);
    });
    this.line.addEventListener("keydown", (event) => {
      if (!asks(event, matchMedia("(pointer: coarse)").matches)) return;
      event.preventDefault();
      form.requestSubmit(this.askButton);
    });
    this.line.addEventListener("input", () => {
      this.#grow();
      this.settle("written");
    });
    this.stopButton.addEventListener("click", (event) => {
      event.preventDefault();
      this.#pressed = true;
      void this.stop();
    });
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || event.shiftKey || composes(event) || event.defaultPrevented || !this.#writing) return;
      if (document.querySelector(":popover-open, dialog[open]")) return;
      event.preventDefault();
      void this.stop();
    });
    this.#grow();
  }

  get sending() {
    return this.#sending;
  }

  /** The person's text as it stands. */
  get text() {
    return this.line.value;
  }

  /**
   * Put a text on the line, ready to be asked.
   * @param {string} text
   */
  fill(text) {
    this.line.value = text;
    this.#grow();
    this.line.focus();
    this.line.setSelectionRange(text.length, text.length);
  }

  /** @param {string | null} generation the reply that is being written */
  setWriting(generation) {
    const bereft = this.#pressed || document.activeElement === this.stopButton;
    this.#writing = generation;
    this.form.toggleAttribute("data-writing", generation !== null);
    this.stopButton.disabled = false;
    if (generation !== null) {
      const pattern = this.stopButton.dataset.stop ?? "";
      this.stopButton.formAction = pattern.replace(/[0-9a-f-]{36}/, generation);
      if (this.#stopping === generation) this.stopButton.disabled = true;
      else if (this.forgo()) this.tell(this.form.dataset.busy ?? "", "busy"); // another one has begun
      return;
    }
    const next = this.#next;
    this.forgo();
    this.settle("ended");
    this.#pressed = false;
    if (bereft) this.takeFocus(); // the button goes away; the focus must not
    if (next) void this.ask(next.button, next.text);
  }

  /** What waits for a reply to stop does not go after all; it stands on the line still. Gives whether there was anything. */
  forgo() {
    const was = this.#next !== null;
    this.#next = this.#stopping = null;
    this.note.hidden = true;
    return was;
  }

  /** The line takes the focus where nothing else has it; never by opening a keyboard over the page, never by scrolling. */
  takeFocus() {
    const at = document.activeElement;
    if (at && at !== document.body && at !== this.stopButton) return;
    if (!matchMedia("(pointer: coarse)").matches) this.line.focus({ preventScroll: true });
  }

  /** The page hears the server, or does not; what was said of the other case is no longer true. @param {boolean} reached */
  setReached(reached) {
    if (reached) this.settle("reached");
    else if (this.forgo() || this.#cause === "busy") this.tell(this.form.dataset.offline ?? "", "offline");
  }

  /** The conversation is gone: what is asked from here on begins a new one. */
  beginAnew() {
    this.form.action = this.form.dataset.home ?? "";
    this.line.placeholder = this.form.dataset.anew ?? "";
  }

  /**
   * @param {HTMLElement | null} [button] by which it was asked; one with a name says what for
   * @param {string | null} [text] what is asked, where that was said a while ago; else what stands on the line
   */
  async ask(button = null, text = null) {
    if (this.#sending || this.#next) return;
    if (this.#writing !== null) {
      if (this.#stopping && !this.lost()) {
        this.#next = { button, text: this.line.value };
        this.tell("");
        this.note.hidden = false;
        this.announce(this.note.textContent ?? "");
        return;
      }
      // Without a connection nobody can say whether it is still being written.
      if (this.lost()) this.tell(this.form.dataset.offline ?? "", "offline");
      else this.tell(this.form.dataset.busy ?? "", "busy");
      return;
    }
    if (button?.dataset.empty && this.line.value.trim() === "") {
      this.tell(button.dataset.empty);
      this.line.focus({ preventScroll: true });
      return;
    }
    this.#setSending(true);
    await this.prepared();
    const body = new FormData(this.form, button === this.askButton ? null : button);
    const sent = text ?? this.line.value;
    body.set("text", sent);
    const answer = await post(this.form.action, body, this.form.dataset);
    this.#setSending(false);
    if (!answer.ok) {
      this.tell(answer.message, answer.cause);
      this.line.focus();
      this.failed(answer.cause);
      return;
    }
    this.tell("");
    renewKeys();
    if (this.line.value === sent) this.fill("");
    else if (text && this.line.value.startsWith(text)) this.fill(this.line.value.slice(text.length).trimStart()); // written on meanwhile
    if (matchMedia("(pointer: coarse)").matches) this.line.blur(); // the keyboard would cover the reply
    this.started(answer.value);
  }

  async stop() {
    if (this.#writing === null || this.stopButton.disabled) return;
    this.stopButton.disabled = true;
    this.#stopping = this.#writing;
    const answer = await post(this.stopButton.formAction, this.token(), this.form.dataset);
    if (answer.ok) return;
    this.forgo();
    this.stopButton.disabled = false;
    // Disabled, it had lost the focus.
    if (this.#pressed && document.activeElement === document.body) this.stopButton.focus({ preventScroll: true });
    this.#pressed = false;
    this.tell(answer.message, answer.cause);
    this.failed(answer.cause);
  }

  /** The page's token alone, for a command without a message. */
  token() {
    const body = new FormData();
    const token = new FormData(this.form).get("csrfmiddlewaretoken");
    if (typeof token === "string") body.set("csrfmiddlewaretoken", token);
    const once = /** @type {HTMLInputElement | null} */ (document.querySelector("#commands input[name=once]"));
    if (once) body.set("once", once.value);
    return body;
  }

  /** The model that is chosen, to be asked when a reply is tried again. */
  get model() {
    const value = new FormData(this.form).get("model");
    return typeof value === "string" ? value : "";
  }

  /**
   * @param {string} message "" for none
   * @param {Cause} [cause] how long it stays
   */
  tell(message, cause = "refused") {
    this.#cause = message === "" ? null : cause;
    this.error.textContent = message;
    this.error.hidden = message === "";
    this.line.toggleAttribute("aria-invalid", message !== "");
  }

  /** Something happened: an error whose reason it takes away goes. @param {"ended" | "reached" | "written"} event */
  settle(event) {
    if (this.#cause && !holds(this.#cause, event, this.lost())) this.tell("");
  }

  /** @param {boolean} sending */
  #setSending(sending) {
    this.#sending = sending;
    this.askButton.setAttribute("aria-disabled", String(sending));
    this.sendingChanged(sending);
  }

  /** Where the browser cannot size the line to its text by itself. */
  #grow() {
    if (CSS.supports("field-sizing", "content")) return;
    this.line.rows = Math.min(8, this.line.value.split("\n").length);
  }
}
