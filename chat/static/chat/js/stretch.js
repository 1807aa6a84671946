// @ts-check
/**
 * How much of a conversation the page shows. Where more of it stands before or after, a link leads there; for a reader who
 * comes near it is put in instead, and what they look at stays where it is. Takes pieces of the page from the server, gives
 * their turns to the thread.
 */

const NEAR_PX = 800;
const AGAIN_MS = 5000;

/**
 * @typedef {object} Hooks
 * @property {(turns: HTMLElement[], before: Element | null) => void} put
 * @property {() => void} missing the server does not show this conversation (any more)
 * @property {() => void} lost the server cannot be reached
 * @property {() => void} ended the end of the branch is on the page now
 */

/**
 * The message that an address names, "" if it names none.
 * @param {string} hash
 */
export function messageOf(hash) {
  return /^#m-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(hash)?.[1] ?? "";
}

/**
 * Change the page above an element, which stays where it is on the screen.
 * @param {Element | null} element
 * @param {() => void} change
 */
export function keepPlace(element, change) {
  const before = element?.getBoundingClientRect().top ?? 0;
  // The browser's own anchoring, where there is one, would move the page a second time.
  const style = document.documentElement.style;
  style.setProperty("overflow-anchor", "none");
  change();
  const moved = (element?.getBoundingClientRect().top ?? before) - before;
  if (moved) scrollBy({ top: moved, behavior: "instant" });
  requestAnimationFrame(() => requestAnimationFrame(() => style.removeProperty("overflow-anchor")));
}

export class Stretch {
  #asking = false;
  #observer = new IntersectionObserver(
    (seen) => {
      for (const { isIntersecting, target } of seen) if (isIntersecting) void this.#more(target);
    },
    { rootMargin: `${NEAR_PX}px 0px` },
  );

  /**
   * @param {HTMLElement} root the thread
   * @param {Hooks} hooks
   */
  constructor(root, hooks) {
    this.root = root;
    this.hooks = hooks;
    root.parentElement?.addEventListener("click", (event) => {
      if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.shiftKey) return;
      const link = event.target instanceof Element ? event.target.closest("a[data-stretch]") : null;
      if (!link?.parentElement) return;
      event.preventDefault();
      void this.#more(link.parentElement, /** @type {HTMLAnchorElement} */ (link).href);
    });
  }

  /** Put in what a reader comes near to. Begun when the page stands where the reader will find it. */
  watch() {
    this.#observer.disconnect();
    for (const side of [this.#side("earlier"), this.#side("later")]) if (side) this.#observer.observe(side);
  }

  /** Whether the branch goes on after what is shown: what is new then has no place on this page. */
  get isCut() {
    return this.#side("later") !== null;
  }

  /** The end of the branch is on the page. */
  end() {
    this.#side("later")?.remove();
  }

  /**
   * What follows on a turn, as the server has the active branch now; where the turn is on another one, the end of that.
   * @param {string} follows "" for the beginning
   * @returns {Promise<HTMLElement | null>} a thread; null where there is none to be had, which is told
   */
  async anew(follows) {
    const isShort = this.#side("earlier") === null && !this.isCut && follows === "";
    const fresh = isShort ? null : await this.#ask(`?from=${follows}`);
    return fresh === null ? ((await this.#ask("")) ?? null) : (fresh ?? null);
  }

  /** The links of a thread that was fetched, in the place of those that there are. @param {HTMLElement} fresh */
  take(fresh) {
    for (const name of ["earlier", "later"]) {
      this.#side(name)?.remove();
      const side = fresh.ownerDocument.getElementById(name);
      if (!side) continue;
      if (name === "earlier") this.root.before(side);
      else this.root.after(side);
    }
    this.watch();
  }

  /**
   * @param {Element} side
   * @param {string} [pressed] where its link leads, if a person pressed it
   */
  async #more(side, pressed) {
    if (this.#asking) return;
    this.#asking = true;
    const link = /** @type {HTMLAnchorElement} */ (side.querySelector("a[data-stretch]"));
    const isEarlier = side.id === "earlier";
    const fresh = await this.#ask(new URL(link.href).search);
    this.#asking = false;
    if (!side.isConnected) return; // the thread was fetched anew meanwhile
    if (!fresh) {
      if (pressed) location.assign(pressed);
      else setTimeout(() => this.watch(), AGAIN_MS);
      return;
    }
    const turns = /** @type {HTMLElement[]} */ ([...fresh.children]);
    const first = this.root.firstElementChild;
    const next = /** @type {HTMLAnchorElement | null | undefined} */ (
      fresh.ownerDocument.getElementById(side.id)?.querySelector("a[data-stretch]")
    );
    const hadFocus = document.activeElement === link;
    const change = () => {
      this.hooks.put(turns, isEarlier ? first : null);
      if (next) link.href = new URL(next.getAttribute("href") ?? "", location.href).href;
      else side.remove();
    };
    if (isEarlier) keepPlace(first, change);
    else change();
    if (!next && hadFocus) this.#focus(isEarlier ? this.root.firstElementChild : (turns[0] ?? null));
    if (!isEarlier && !next) this.hooks.ended();
    this.watch(); // an observer tells of changes only: it may be near still
  }

  /** Where the link was, for those who walk by keyboard. @param {Element | null} turn */
  #focus(turn) {
    if (!(turn instanceof HTMLElement)) return;
    turn.tabIndex = -1;
    turn.focus({ preventScroll: true });
  }

  /**
   * @param {string} search
   * @returns {Promise<HTMLElement | null | undefined>} a thread; null where the branch has no such place, undefined where there is
   *   no answer, which is told
   */
  async #ask(search) {
    try {
      const response = await fetch(location.pathname + search, { headers: { "X-Fragment": "1" } });
      if (response.status === 204) return null;
      if (response.ok && !response.redirected) {
        const page = new DOMParser().parseFromString(await response.text(), "text/html");
        return page.getElementById(this.root.id);
      }
      this.hooks.missing();
    } catch {
      this.hooks.lost();
    }
    return undefined;
  }

  /** @param {string} name */
  #side(name) {
    return document.getElementById(name);
  }
}

/**
 * An address that names a message which this page does not show: to the page that does.
 * @param {HTMLElement} root the thread
 */
export async function seek(root) {
  const message = messageOf(location.hash);
  if (!message || document.getElementById(`m-${message}`) || /[?&]at=/.test(location.search)) return;
  const url = (root.dataset.place ?? "").replace(/[0-9a-f-]{36}/, message);
  const response = await fetch(url, { method: "HEAD" }).catch(() => null);
  // It is gone, or one has to sign in first: the page says what there is to say when it is used.
  if (!response?.ok || new URL(response.url).pathname.startsWith("/accounts/")) return;
  location.replace(url);
}
