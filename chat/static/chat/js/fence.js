// @ts-check
/**
 * The code of a fence that is still open: text is only added to it, and each line is looked at once for the end. Takes the
 * element that shows it, and the text that begins with the fence; knows no Markdown but fences.
 *
 * What comes is a text node of its own each time: adding to a node costs what all the code around it costs.
 */
import { withoutHalfFence } from "#chat/blocks";

export class OpenFence {
  /** @type {Element} */
  #code;
  /** @type {RegExp} */
  #closing;
  /** Up to where the text was looked at, line by line, … */
  #seen;
  /** … and up to where it is shown. */
  #shown;

  /**
   * @param {Element} code shows what `text` holds
   * @param {string} text
   */
  constructor(code, text) {
    this.#code = code;
    const head = text.indexOf("\n") + 1;
    const fence = /** @type {RegExpExecArray} */ (/^(?:`+|~+)/.exec(text))[0];
    this.#closing = new RegExp(`^ {0,3}${fence[0]}{${fence.length},}[ \\t]*\\n`, "m");
    this.#seen = Math.max(head, text.lastIndexOf("\n") + 1);
    this.#shown = head + (code.textContent ?? "").length;
  }

  /**
   * Show what has come.
   * @param {string} text all of it, from the fence on
   * @returns {number} where the fence's last line ends; -1 while it is open
   */
  grow(text) {
    const fresh = text.slice(this.#seen);
    const end = this.#closing.exec(fresh);
    const last = fresh.lastIndexOf("\n") + 1;
    this.#show(text, end ? this.#seen + end.index : this.#seen + withoutHalfFence(fresh).length);
    if (end) return this.#seen + end.index + end[0].length;
    this.#seen += last;
    return -1;
  }

  /**
   * @param {string} text
   * @param {number} until
   */
  #show(text, until) {
    if (until > this.#shown) this.#code.append(text.slice(this.#shown, until));
    else this.#takeBack(this.#shown - until);
    this.#shown = until;
  }

  /** What looked like code may be the beginning of the end. @param {number} chars */
  #takeBack(chars) {
    while (chars > 0) {
      const last = /** @type {Text} */ (this.#code.lastChild);
      const some = Math.min(chars, last.length);
      if (some < last.length) last.deleteData(last.length - some, some);
      else last.remove();
      chars -= some;
    }
  }
}
