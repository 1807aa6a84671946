// @ts-check
/**
 * Editing in place, another answer, going on after a limit, and going from version to version. Takes clicks below `root`;
 * every one of them is also a link or a button of a plain form, and stays one where this cannot do its work.
 */

import { composes } from "#chat/keys";

/**
 * @typedef {object} Hooks
 * @property {() => FormData} token
 * @property {typeof import("./composer.js").post} post
 * @property {(answer: import("./composer.js").Answer) => void} tell
 * @property {(cause: import("./composer.js").Cause) => void} failed what was asked in a form of ours did not work, for this cause
 * @property {(turn: any) => void} started a turn has come into being, or changed
 * @property {() => Promise<boolean>} reload show the active branch
 * @property {(words: string, count?: number | string) => void} announce
 * @property {HTMLFormElement | null} models the form whose `model` says what can be asked
 */

let forms = 0;

/**
 * Where a button is found again after the thread was fetched anew: what its turn follows on stays as it is, whichever version
 * of the turn stands there.
 * @param {Element} button
 */
export function addressOf(button) {
  const turn = /** @type {HTMLElement | null} */ (button.closest(".turn"));
  const follows = turn?.dataset.follows ?? "";
  const kind = button.closest(".asked") ? ".asked" : ".of-reply";
  const direction = /** @type {HTMLElement} */ (button).dataset.switch ?? "";
  return { follows, kind, direction };
}

export class Versions {
  /** @type {HTMLElement | null} */
  #menu = null;

  /**
   * @param {HTMLElement} root
   * @param {Hooks} hooks
   */
  constructor(root, hooks) {
    this.root = root;
    this.hooks = hooks;
    root.addEventListener("click", (event) => {
      if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.shiftKey) return;
      const target = event.target instanceof Element ? event.target : null;
      const found = /** @type {HTMLElement | null} */ (
        target?.closest("[data-switch], [data-continue], a[data-again], a[data-edit]")
      );
      if (!found) return;
      event.preventDefault();
      if (found instanceof HTMLAnchorElement) {
        if ("again" in found.dataset) this.#choose(found);
        else void this.#edit(found);
      } else if (found instanceof HTMLButtonElement) {
        if (found.dataset.switch) void this.#switch(found);
        else void this.#command(found, found.formAction, this.hooks.token());
      }
    });
  }

  /** @param {HTMLButtonElement} button */
  async #switch(button) {
    if (button.getAttribute("aria-disabled") === "true") return;
    button.setAttribute("aria-disabled", "true");
    const body = this.hooks.token();
    if (button.name) body.set(button.name, button.value);
    const at = addressOf(button);
    const answer = await this.hooks.post(button.formAction, body, this.hooks.models?.dataset ?? {});
    button.removeAttribute("aria-disabled");
    this.hooks.tell(answer);
    if (!answer.ok || !(await this.hooks.reload())) return;
    const turn = this.root.querySelector(`:scope > [data-follows="${CSS.escape(at.follows)}"]`);
    const group = turn?.querySelector(`${at.kind} .switcher`);
    const same = /** @type {HTMLButtonElement | null} */ (group?.querySelector(`[data-switch="${at.direction}"]:enabled`));
    (same ?? /** @type {HTMLButtonElement | null} */ (group?.querySelector("button:enabled")))?.focus({ preventScroll: true });
    group?.scrollIntoView({ block: "nearest" });
    const place = group?.querySelector(".place")?.lastChild?.textContent?.trim();
    if (place) this.hooks.announce("version", place);
  }

  /**
   * @param {HTMLElement} pressed
   * @param {string} url
   * @param {FormData} body
   */
  async #command(pressed, url, body) {
    if (pressed.getAttribute("aria-disabled") === "true") return;
    pressed.setAttribute("aria-disabled", "true");
    const answer = await this.hooks.post(url, body, this.hooks.models?.dataset ?? {});
    pressed.removeAttribute("aria-disabled");
    this.hooks.tell(answer);
    if (answer.ok) this.hooks.started(answer.value);
  }

  /** The models that can be asked, beside the link. @param {HTMLAnchorElement} link */
  #choose(link) {
    const select = /** @type {HTMLSelectElement | null} */ (this.hooks.models?.querySelector("select[name=model]"));
    if (!select || !("popover" in HTMLElement.prototype)) {
      location.assign(link.href);
      return;
    }
    this.#menu?.remove();
    const menu = (this.#menu = document.createElement("div"));
    menu.className = "models";
    menu.popover = "auto";
    menu.setAttribute("role", "group");
    menu.setAttribute("aria-label", this.root.dataset.models ?? "");
    const head = document.createElement("h3");
    head.textContent = this.root.dataset.models ?? "";
    menu.append(head);
    for (const option of select.options) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = option.textContent;
      button.addEventListener("click", () => {
        menu.hidePopover();
        const body = this.hooks.token();
        body.set("model", option.value);
        void this.#command(link, link.href.replace("/again/", "/retry/"), body);
      });
      menu.append(button);
    }
    menu.addEventListener("toggle", (event) => {
      if (/** @type {ToggleEvent} */ (event).newState !== "closed") return;
      const hadFocus = menu.contains(document.activeElement) || document.activeElement === document.body;
      menu.remove();
      if (hadFocus && link.isConnected) link.focus({ preventScroll: true });
    });
    menu.addEventListener("keydown", (event) => {
      const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
      if (!step) return;
      event.preventDefault();
      const all = [...menu.querySelectorAll("button")];
      const at = all.indexOf(/** @type {HTMLButtonElement} */ (document.activeElement));
      all[(at + step + all.length) % all.length]?.focus();
    });
    (document.getElementById("main") ?? document.body).append(menu); // in a landmark, as everything that can be read
    menu.showPopover();
    const place = link.getBoundingClientRect();
    const { width, height } = menu.getBoundingClientRect();
    menu.style.setProperty("left", `${Math.max(8, Math.min(place.left, innerWidth - width - 8))}px`);
    const below = place.bottom + 4 + height <= innerHeight;
    menu.style.setProperty("top", `${below ? place.bottom + 4 : Math.max(8, place.top - height - 4)}px`);
    menu.querySelector("button")?.focus();
  }

  /** The form of the edit page, in the place of what is edited. @param {HTMLAnchorElement} link */
  async #edit(link) {
    const box = /** @type {HTMLElement | null} */ (link.closest(".asked, article"));
    if (!box || box.parentElement?.querySelector(":scope > form.edit")) return;
    const response = await fetch(link.href).catch(() => null);
    // A template's content, not a document: the rules that stand in that page have another page's nonce.
    const page = document.createElement("template");
    if (response?.ok && !response.redirected) page.innerHTML = await response.text();
    const form = /** @type {HTMLFormElement | null} */ (page.content.querySelector("form.edit"));
    const text = form?.querySelector("textarea");
    if (!form || !text) {
      location.assign(link.href); // the server says what is wrong
      return;
    }
    const before = text.value;
    // More than one form may be open.
    const label = form.querySelector("label");
    text.id = `edit-text-${(forms += 1)}`;
    if (label) label.htmlFor = text.id;
    const close = () => {
      form.remove();
      box.hidden = false;
      if (link.isConnected) link.focus({ preventScroll: true });
    };
    form.querySelector("[data-cancel]")?.addEventListener("click", (event) => {
      event.preventDefault();
      close();
    });
    form.addEventListener("keydown", (event) => {
      if (composes(event)) return;
      if (event.key === "Escape" && text.value === before) {
        event.preventDefault(); // not Stop
        close();
      } else if (event.key === "Escape") event.preventDefault(); // what was written is not thrown away by one key
      else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        form.requestSubmit();
      }
    });
    const button = /** @type {HTMLButtonElement} */ (form.querySelector("button[type=submit]"));
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      if (button.disabled) return;
      button.disabled = true;
      const answer = await this.hooks.post(form.action, new FormData(form), this.hooks.models?.dataset ?? {});
      button.disabled = false;
      if (!answer.ok) {
        // Where it was written, not on the line at the end of the page.
        complain(text, answer.message);
        text.focus();
        this.hooks.failed(answer.cause);
        return;
      }
      this.hooks.tell(answer);
      form.remove();
      box.hidden = false;
      this.hooks.started(answer.value);
    });
    box.hidden = true;
    box.after(document.adoptNode(form));
    text.focus({ preventScroll: true });
    text.setSelectionRange(before.length, before.length);
    form.scrollIntoView({ block: "nearest" });
  }
}

/**
 * A sentence above the text that it is about.
 * @param {HTMLTextAreaElement} text
 * @param {string} sentence
 */
function complain(text, sentence) {
  let line = /** @type {HTMLElement | null} */ (text.parentElement?.querySelector(".error") ?? null);
  if (!line) {
    line = document.createElement("p");
    line.className = "error";
    line.id = `${text.id}-error`;
    line.setAttribute("role", "alert");
    text.before(line);
    text.setAttribute("aria-describedby", line.id);
  }
  line.textContent = sentence;
  text.setAttribute("aria-invalid", "true");
}
