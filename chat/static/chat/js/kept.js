// @ts-check
/**
 * What somebody is typing, kept for a reload or a way back: in this tab alone, for this person and this conversation, until
 * it is asked. A text that the server put on the line (an error, an example) comes first.
 */

/** @param {HTMLFormElement} form */
export function place(form) {
  return `line:${form.dataset.person ?? ""}:${new URL(form.action, "http://page").pathname}`;
}

/**
 * @param {HTMLFormElement} form
 * @param {{text: string, fill: (text: string) => void}} line
 * @param {Pick<Storage, "getItem" | "setItem" | "removeItem">} storage
 * @returns {() => void} call it whenever the line may have changed
 */
export function keep(form, line, storage) {
  const at = place(form);
  const before = storage.getItem(at);
  if (before && line.text === "") line.fill(before);
  const save = () => {
    if (line.text === "") storage.removeItem(at);
    else storage.setItem(at, line.text);
  };
  save(); // what was typed before this script was there
  return save;
}
