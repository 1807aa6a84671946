// @ts-check
/**
 * The line on which a person writes: Enter asks, Shift+Enter starts a new line, nothing fires while an input method
 * composes. A message that could not be sent stays in the line, with one sentence that says why.
 */

/**
 * @typedef {{conversation: string, url: string, generation: string, handle: number, html: string}} Started
 * @typedef {{ok: true, value: any} | {ok: false, message: string}} Answer
 */

/**
 * Whether this key asks. On a touch keyboard Enter is the only way to a new line, so it stays one.
 * @param {{key: string, shiftKey: boolean, altKey: boolean, isComposing: boolean, keyCode: number}} event
 * @param {boolean} coarse whether the main pointer is a finger
 */
export function asks(event, coarse) {
  if (event.isComposing || event.keyCode === 229) return false; // 229: Safari ends a composition before its Enter
  return event.key === "Enter" && !event.shiftKey && !event.altKey && !coarse;
}

/**
 * Post to one of our commands; every way in which it can fail becomes a sentence.
 * @param {string} url
 * @param {FormData} body
 * @param {{offline?: string, signedOut?: string, failed?: string}} sentences
 * @returns {Promise<Answer>}
 */
export async function post(url, body, sentences) {
  /** @type {Response} */
  let response;
  try {
    response = await fetch(url, { method: "POST", body, headers: { Accept: "application/json" } });
  } catch {
    return { ok: false, message: sentences.offline ?? "" };
  }
  if (response.redirected) return { ok: false, message: sentences.signedOut ?? "" };
  const value = response.headers.get("Content-Type")?.startsWith("application/json")
    ? await response.json().catch(() => null)
    : null;
  if (response.ok && value) return { ok: true, value };
  return { ok: false, message: value?.message ?? sentences.failed ?? "" };
}

export class Composer {
  #sending = false;
  /** The reply that is being written, if any. @type {string | null} */
  #writing = null;

  /**
   * @param {HTMLFormElement} form
   * @param {object} hooks
   * @param {(started: Started) => void} hooks.started
   * @param {(sending: boolean) => void} [hooks.sending]
   */
  constructor(form, { started, sending = () => {} }) {
    this.form = form;
    this.started = started;
    this.sendingChanged = sending;
    this.line = /** @type {HTMLTextAreaElement} */ (form.elements.namedItem("text"));
    this.error = /** @type {HTMLElement} */ (form.querySelector("#composer-error"));
    this.stopButton = /** @type {HTMLButtonElement} */ (form.querySelector(".stop"));
    this.askButton = /** @type {HTMLButtonElement} */ (form.querySelector(".ask"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.ask();
    });
    this.line.addEventListener("keydown", (event) => {
      if (!asks(event, matchMedia("(pointer: coarse)").matches)) return;
      event.preventDefault();
      form.requestSubmit(this.askButton);
    });
    this.line.addEventListener("input", () => this.#grow());
    this.stopButton.addEventListener("click", (event) => {
      event.preventDefault();
      void this.stop();
    });
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || event.isComposing || event.defaultPrevented || !this.#writing) return;
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
    const focused = document.activeElement === this.stopButton;
    this.#writing = generation;
    this.form.toggleAttribute("data-writing", generation !== null);
    this.stopButton.disabled = false;
    if (generation !== null) {
      const pattern = this.stopButton.dataset.stop ?? "";
      this.stopButton.formAction = pattern.replace(/[0-9a-f-]{36}/, generation);
    } else if (focused) this.line.focus(); // the button goes away; the focus must not
  }

  async ask() {
    if (this.#sending) return;
    if (this.#writing !== null) {
      this.tell(this.form.dataset.busy ?? "");
      return;
    }
    const body = new FormData(this.form);
    const sent = this.line.value;
    this.#setSending(true);
    const answer = await post(this.form.action, body, this.form.dataset);
    this.#setSending(false);
    if (!answer.ok) {
      this.tell(answer.message);
      this.line.focus();
      return;
    }
    this.tell("");
    if (this.line.value === sent) this.fill("");
    if (matchMedia("(pointer: coarse)").matches) this.line.blur(); // the keyboard would cover the reply
    this.started(answer.value);
  }

  async stop() {
    if (this.#writing === null || this.stopButton.disabled) return;
    this.stopButton.disabled = true;
    const answer = await post(this.stopButton.formAction, this.token(), this.form.dataset);
    if (!answer.ok) {
      this.stopButton.disabled = false;
      this.tell(answer.message);
    }
  }

  /** The page's token alone, for a command without a message. */
  token() {
    const body = new FormData();
    const token = new FormData(this.form).get("csrfmiddlewaretoken");
    if (typeof token === "string") body.set("csrfmiddlewaretoken", token);
    return body;
  }

  /** The model that is chosen, to be asked when a reply is tried again. */
  get model() {
    const value = new FormData(this.form).get("model");
    return typeof value === "string" ? value : "";
  }

  /** @param {string} message "" for none */
  tell(message) {
    this.error.textContent = message;
    this.error.hidden = message === "";
    this.line.toggleAttribute("aria-invalid", message !== "");
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
