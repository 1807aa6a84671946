// @ts-check
/**
 * The keyboard's shortcuts: which keys mean what, and that they do it. Nothing fires while an input method composes, nor with
 * AltGr, nor again while a key is held down. Each does what a link or button on the page does, by pressing that one.
 */

/** @typedef {"new" | "search" | "line" | "copy" | "edit" | "shortcuts"} Action */
/** @typedef {{key: string, code: string, shiftKey: boolean, altKey: boolean, ctrlKey: boolean, metaKey: boolean, isComposing: boolean, keyCode: number, repeat: boolean}} Key */

/** What a letter does with Ctrl (or ⌘) and Shift. @type {Record<string, Action>} */
const SHIFTED = { o: "new", c: "copy", e: "edit" };

/**
 * Whether an input method has this key. 229: Safari ends a composition before its last key.
 * @param {{isComposing: boolean, keyCode: number}} event
 */
export function composes(event) {
  return event.isComposing || event.keyCode === 229;
}

/**
 * What these keys mean to the page, if anything.
 * @param {Key} event
 * @param {boolean} mac whether ⌘ takes the place of Ctrl
 * @returns {Action | null}
 */
export function actionOf(event, mac) {
  if (composes(event) || event.altKey || event.repeat) return null;
  const command = mac ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey;
  if (event.key === "Escape") return event.shiftKey && !event.ctrlKey && !event.metaKey ? "line" : null;
  if (!command) return null;
  if (event.key === "/") return "shortcuts"; // on many keyboards a shifted key
  const letter = letterOf(event);
  if (event.shiftKey) return SHIFTED[letter] ?? null;
  return letter === "k" ? "search" : null;
}

/** A Cyrillic or Greek keyboard has no such letter; there the place of the key counts. @param {Key} event */
function letterOf({ key, code }) {
  if (/^[a-z]$/i.test(key)) return key.toLowerCase();
  return /^[ -~]$/.test(key) ? "" : (/^Key([A-Z])$/.exec(code)?.[1]?.toLowerCase() ?? "");
}

/** What to press for an action: the newest of its kind, as far as it is on this page. @param {Action} action */
function target(action) {
  /** @type {Record<Action, string>} */
  const selectors = {
    new: ".contents .new:not(.find)",
    search: '[data-shortcut="search"]',
    line: "#text",
    copy: "#thread [data-copy]",
    edit: "#thread .versions [data-edit]",
    shortcuts: "#shortcuts",
  };
  return /** @type {HTMLElement | undefined} */ ([...document.querySelectorAll(selectors[action])].at(-1));
}

/** @param {boolean} mac */
export function watchKeys(mac) {
  for (const key of document.querySelectorAll("kbd[data-mod]")) if (mac) key.textContent = "⌘";
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented) return;
    const action = actionOf(event, mac);
    const found = action && target(action);
    if (!found) return;
    const open = document.querySelector("dialog[open]");
    if (open && open !== found) return; // what lies below a dialog is out of reach
    event.preventDefault();
    if (action === "line") found.focus();
    else if (found instanceof HTMLDialogElement) toggle(found);
    else found.click();
  });
  for (const link of document.querySelectorAll("a[data-shortcuts]")) {
    link.addEventListener("click", (event) => {
      const list = target("shortcuts");
      if (!(list instanceof HTMLDialogElement)) return;
      event.preventDefault();
      toggle(list);
    });
  }
  for (const dialog of document.querySelectorAll("dialog.dialog")) {
    // A press beside it closes it, as people expect; the browser gives the focus back to where it was.
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog) /** @type {HTMLDialogElement} */ (dialog).close();
    });
  }
}

/** @param {HTMLDialogElement} dialog */
function toggle(dialog) {
  if (dialog.open) dialog.close();
  else dialog.showModal();
}
