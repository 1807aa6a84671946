// @ts-check
/**
 * A reply that ends while nobody looks: the tab says so by its title, and by a notification where the person asked for
 * them. Takes the states of the replies on the page; nothing is asked for but by a click.
 */

const FINALS = new Set(["confirmed", "cancelled", "incomplete", "failed", "expired"]);
const UNFINISHED = new Set(["queued", "received", "buffered", "assembled", "validated"]);

/**
 * Whether this change of a reply's state is its end.
 * @param {string} before
 * @param {string} now
 */
export function ends(before, now) {
  return UNFINISHED.has(before) && FINALS.has(now);
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

/**
 * @param {HTMLElement} root the thread
 * @param {HTMLButtonElement | null} button asks for permission; its words are in data-ready and data-ended
 */
export function watchAttention(root, button) {
  let plain = "";
  const words = button?.dataset ?? {};
  const may = () => "Notification" in globalThis && Notification.permission;
  if (button && may() === "default") {
    button.hidden = false;
    button.addEventListener("click", () => {
      void Notification.requestPermission().then(() => (button.hidden = may() !== "default"));
    });
  }
  watchEnds(root, (isReady) => {
    if (!document.hidden) return;
    const said = (isReady ? words.ready : words.ended) ?? "";
    if (plain === "") plain = document.title;
    document.title = `● ${said} · ${plain}`;
    if (may() !== "granted") return;
    const note = new Notification(said, { body: document.querySelector(".headline h1")?.textContent ?? "", tag: root.dataset.conversation });
    note.addEventListener("click", () => {
      focus();
      note.close();
    });
  });
  document.addEventListener("visibilitychange", () => {
    if (document.hidden || plain === "") return;
    document.title = plain;
    plain = "";
  });
}
