// @ts-check
/**
 * Writes one lane of a draft onto the page. Takes text as it comes; shows it plain until the Markdown modules are there,
 * then as Markdown, of which only the last open block is rendered again. Knows no frames and no socket.
 */
import { completeLines, lastBlockStart, openFence, settle } from "#chat/blocks";
import { SANITISE, makeGrammar } from "#chat/grammar";
import { morph, setText } from "#chat/morph";

/** @typedef {{parse: (text: string, env: object) => any[], html: (tokens: any[], env: object) => DocumentFragment}} Markdown */

/** @type {Promise<Markdown> | null} */
let loading = null;
/** @type {Markdown | null} */
let markdown = null;

/**
 * Fetch the Markdown modules, once; called when the page has shown its first text, never before.
 * @returns {Promise<Markdown>}
 */
export function loadMarkdown() {
  loading ??= Promise.all([import("markdown-it"), import("dompurify")]).then(([{ default: MarkdownIt }, { default: purify }]) => {
    const grammar = makeGrammar(MarkdownIt);
    markdown = {
      parse: (text, env) => grammar.parse(text, env),
      html: (tokens, env) =>
        /** @type {any} */ (purify.sanitize(grammar.renderer.render(tokens, grammar.options, env), SANITISE)),
    };
    return markdown;
  });
  loading.catch(() => (loading = null)); // offline for a moment: the draft stays plain, the next reply tries again
  return loading;
}

export class Painter {
  #text = "";
  /** Where the part that may still change begins, in the text … */
  #base = 0;
  /** … and on the page: the last node that never changes again. @type {ChildNode | null} */
  #anchor = null;
  /** The text node of a fence that is being written. @type {Text | null} */
  #code = null;
  /** Link definitions so far; they count for what comes after them. */
  #env = {};
  #dirty = false;

  /**
   * @param {HTMLElement} element
   * @param {string} text what the element shows already, as Markdown
   */
  constructor(element, text) {
    this.element = element;
    this.#text = text;
    this.#dirty = false;
  }

  get text() {
    return this.#text;
  }

  /** @param {string} text */
  append(text) {
    this.#text += text;
    this.#dirty = true;
  }

  /**
   * The whole text, instead of what there was.
   * @param {string} text
   */
  replace(text) {
    this.#text = text;
    this.#base = 0;
    this.#anchor = this.#code = null;
    this.#env = {};
    this.#dirty = true;
  }

  /** Show what has come since the last time. */
  paint() {
    if (!this.#dirty) return;
    this.#dirty = false;
    if (!markdown) this.#paintPlain();
    else this.#paintMarkdown(markdown);
  }

  #paintPlain() {
    const { element } = this;
    if (!element.classList.contains("plain")) {
      element.classList.add("plain");
      element.replaceChildren(document.createTextNode(""));
    }
    setText(/** @type {Text} */ (element.firstChild), this.#text);
  }

  /** @param {Markdown} md */
  #paintMarkdown(md) {
    const { element } = this;
    if (element.classList.contains("plain")) {
      element.classList.remove("plain");
      element.replaceChildren();
    }
    const tail = this.#text.slice(this.#base);
    const fence = openFence(tail);
    if (fence && this.#code) {
      setText(this.#code, fence.body);
      return;
    }
    this.#code = null;
    const complete = completeLines(tail);
    const start = lastBlockStart(md.parse(complete, {}), complete);
    const fragment = document.createDocumentFragment();
    let settled = 0;
    if (start > 0) {
      fragment.append(md.html(md.parse(tail.slice(0, start), this.#env), this.#env));
      settled = fragment.childNodes.length;
    }
    const rest = tail.slice(start);
    const open = settle(rest);
    const env = structuredClone(this.#env); // the open block may be half a definition
    fragment.append(md.html(md.parse(open, env), env));
    morph(element, fragment, this.#anchor);
    for (; settled > 0; settled--) this.#anchor = this.#anchor ? this.#anchor.nextSibling : element.firstChild;
    this.#base += start;
    if (openFence(this.#text.slice(this.#base))) {
      // From here on the code grows as one text: a fence of 100 KB costs no more per paint than one of 1 KB.
      const code = element.querySelector(":scope > .code:last-of-type code");
      if (code) {
        if (!code.firstChild) code.append("");
        this.#code = /** @type {Text} */ (code.firstChild);
      }
    }
  }
}
