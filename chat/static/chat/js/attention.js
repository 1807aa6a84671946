// @ts-check
/**
 * What a tab tells while nobody looks at it: its icon says that a reply is being written, is ready, or ended otherwise; its
 * title says how one ended; and a notification does where the person has switched them on. Takes the states of the replies on
 * the page. A draft is never told of: only `confirmed` is "ready".
 */

const FINALS = new Set(["confirmed", "cancelled", "incomplete", "failed", "expired"]);
const UNFINISHED = new Set(["queued", "received", "buffered", "assembled", "validated"]);
const KEPT = "notify";
/** A reply that ended short may have a successor: then nothing has ended. */
const SUCCESSOR_MS = 2_500;

/**
 * Whether this change of a reply's state is its end.
 * @param {string} before
 * @param {string} now
 */
export function ends(before, now) {
  return UNFINISHED.has(before) && FINALS.has(now);
}

/**
 * What the tab's icon shows: what is going on comes before what has been.
 * @param {string[]} states those of the replies on the page
 * @param {"ready" | "look" | ""} unseen how a reply ended that nobody has looked at
 * @returns {"running" | "ready" | "look" | ""}
 */
export function face(states, unseen) {
  return states.some((state) => UNFINISHED.has(state)) ? "running" : unseen;
}

/**
 * @param {HTMLElement} root the thread
 * @param {(isReady: boolean) => void} ended
 */
export function watchEnds(root, ended) {
  const observer = new MutationObserver((records) => {
    for (const record of records) {
      const reply = /** @type {HTMLElement} */ (record.target);
      const now = reply.dataset.state ?? "";
      if (reply.matches("article.reply") && ends(record.oldValue ?? "", now)) ended(now === "confirmed");
    }
  });
  observer.observe(root, { subtree: true, attributeFilter: ["data-state"], attributeOldValue: true });
}

const may = () => ("Notification" in globalThis ? Notification.permission : "denied");
const isOn = () => may() === "granted" && localStorage.getItem(KEPT) === "on";

/**
 * Notifications are off until this button is pressed; only then is the browser asked. Where it has said no, only the person
 * can tell it otherwise: the button stays, and says how.
 * @param {HTMLButtonElement} button
 * @param {(words: string) => void} tell
 */
function watchSwitch(button, tell) {
  const show = () => {
    button.hidden = !("Notification" in globalThis && isSecureContext);
    button.setAttribute("aria-pressed", String(isOn()));
  };
  button.addEventListener("click", async () => {
    const turnOn = !isOn();
    if (turnOn && may() === "default") await Notification.requestPermission();
    localStorage.setItem(KEPT, turnOn && may() === "granted" ? "on" : "off");
    if (turnOn && may() === "denied") tell(button.dataset.denied ?? "");
    show();
  });
  addEventListener("storage", show); // pressed in another tab
  show();
}

/**
 * @param {HTMLElement} root the thread
 * @param {HTMLButtonElement | null} button switches notifications on; its words are in data-ready and data-ended, the icon's
 * other faces in data-icon-…
 * @param {(words: string) => void} [tell] says a sentence for a while
 */
export function watchAttention(root, button, tell = () => {}) {
  const icon = /** @type {HTMLLinkElement | null} */ (document.querySelector('link[rel="icon"]'));
  const plain = icon?.getAttribute("href") ?? "";
  const words = button?.dataset ?? {};
  let prefix = "";
  /** @type {"ready" | "look" | ""} */
  let unseen = "";
  const states = () => [.../** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll("article[data-generation]"))].map(({ dataset }) => dataset.state ?? "");
  const show = () => {
    const href = { running: words.iconRunning, ready: words.iconReady, look: words.iconLook, "": plain }[face(states(), unseen)] ?? plain;
    if (icon && icon.getAttribute("href") !== href) icon.href = href;
  };
  const say = (/** @type {boolean} */ isReady) => {
    if (!document.hidden) return;
    const said = (isReady ? words.ready : words.ended) ?? "";
    unseen = isReady ? "ready" : "look";
    document.title = document.title.slice(prefix.length);
    prefix = `${isReady ? "●" : "○"} ${said} · `;
    document.title = prefix + document.title;
    show();
    if (!isOn()) return;
    const note = new Notification(said, { body: document.querySelector(".headline h1")?.textContent ?? "", tag: root.dataset.conversation });
    note.addEventListener("click", () => {
      focus();
      note.close();
    });
  };
  if (button) watchSwitch(button, tell);
  watchEnds(root, (isReady) => {
    if (isReady) say(true);
    else setTimeout(() => face(states(), "") === "running" || say(false), SUCCESSOR_MS);
  });
  new MutationObserver(show).observe(root, { subtree: true, childList: true, attributeFilter: ["data-state"] });
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) return;
    unseen = "";
    if (document.title.startsWith(prefix)) document.title = document.title.slice(prefix.length);
    prefix = "";
    show();
  });
  show();
}
