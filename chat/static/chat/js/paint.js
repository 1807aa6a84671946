// @ts-check
/**
 * Writes one lane of a draft onto the page. Takes text as it comes; shows it plain until the Markdown modules are there,
 * then as Markdown, of which only the open end is rendered again. Knows no frames and no socket.
 */
import { completeLines, openFence, settle } from "#chat/blocks";
import { blocks, findCut, loosen, paragraphCut, withoutLead } from "#chat/cut";
import { OpenFence } from "#chat/fence";
import { SANITISE, makeGrammar } from "#chat/grammar";
import { blockAfter, graft } from "#chat/graft";
import { setText } from "#chat/morph";

/**
 * @typedef {{
 *   parse: (text: string, env: object) => any[],
 *   inline: (text: string) => any[],
 *   html: (tokens: any[], env: object) => DocumentFragment,
 * }} Markdown
 */

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
      inline: (text) => grammar.parseInline(text, {})[0]?.children ?? [],
      html: (tokens, env) =>
        /** @type {any} */ (purify.sanitize(grammar.renderer.render(tokens, grammar.options, env), SANITISE)),
    };
    return markdown;
  });
  loading.catch(() => (loading = null)); // offline for a moment: the draft stays plain, the next reply tries again
  return loading;
}

export class Painter {
  /** What is settled as whole blocks, … */
  #done = "";
  /** … and the text from the beginning of the last block on. */
  #tail = "";
  /** Where in that the part that is rendered again begins, … */
  #cut = 0;
  /** … what is read before it, … */
  #lead = "";
  /** … and through which containers it is reached. @type {import("./cut.js").Step[]} */
  #steps = [];
  /** Where it is on the page: one frame for the element, one for each container. @type {import("./graft.js").Frame[]} */
  #frames;
  /** A fence that is being written. @type {OpenFence | null} */
  #code = null;
  /**
   * Link definitions and headings so far; they count for what comes after them. And the numbers of footnotes.
   * @type {{references?: object, outline?: number[], notes: Map<string, number>}}
   */
  #env = { notes: new Map() };
  /** How much of the complete lines was looked at for a cut. */
  #seen = 0;
  #afterReturn = false;
  #dirty = false;

  /**
   * @param {HTMLElement} element
   * @param {string} text what the element shows already, as Markdown
   */
  constructor(element, text) {
    this.element = element;
    this.#tail = text;
    this.#frames = [{ target: element, anchor: null, skip: "" }];
  }

  get text() {
    return this.#done + this.#tail;
  }

  /** @param {string} text */
  append(text) {
    if (this.#afterReturn && text.startsWith("\n")) text = text.slice(1);
    this.#afterReturn = text.endsWith("\r");
    this.#tail += text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
    this.#dirty = true;
  }

  /**
   * The whole text, instead of what there was.
   * @param {string} text
   */
  replace(text) {
    this.#done = this.#tail = "";
    this.#code = null;
    this.#env = { notes: new Map() };
    this.#begin(null);
    this.append(text);
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
    setText(/** @type {Text} */ (element.firstChild), this.text);
  }

  /** @param {Markdown} md */
  #paintMarkdown(md) {
    const { element } = this;
    if (element.classList.contains("plain")) {
      element.classList.remove("plain");
      element.replaceChildren();
    }
    if (this.#code) {
      const end = this.#code.grow(this.#tail);
      if (end < 0) return;
      this.#code = null;
      this.#settle(end, element.lastChild);
      if (!this.#tail) return;
    }
    if (!this.#render(md)) {
      this.#begin(this.#frames[0].anchor);
      this.#render(md);
    }
    if (openFence(this.#tail)) {
      // From here on the code grows as one text: a fence of 100 KB costs no more per paint than one of 1 KB.
      const code = element.lastElementChild?.matches(".code") && element.lastElementChild.querySelector("code");
      if (code) this.#code = new OpenFence(code, this.#tail);
    }
  }

  /**
   * Render what is open, and settle what no later line can change. False where the cut was made too early after all: a
   * list became loose, a paragraph a heading.
   * @param {Markdown} md
   */
  #render(md) {
    const text = this.#lead + this.#tail.slice(this.#cut);
    const complete = completeLines(text);
    // What is still to come may be half a definition.
    const env = this.#known();
    const tokens = md.parse(settle(text), env);
    const tree = blocks(tokens);
    if (withoutLead(tree, this.#steps).some((loose, at) => loose && !this.#steps[at].loose)) return false;
    loosen(tokens, this.#steps);
    if (!graft(this.#frames, md.html(tokens, env))) return false;
    if (tree.length === 1 && tree[0].type === "paragraph_open") this.#cutParagraph(md, text, env);
    else if (complete.length > this.#seen) this.#advance(md, complete);
    return true;
  }

  /** What the settled text says, for a text of which nothing is settled yet. */
  #known() {
    return { ...this.#env, references: { ...this.#env.references }, outline: [...(this.#env.outline ?? [])] };
  }

  /**
   * Move the cut to the last block, and into it.
   * @param {Markdown} md
   * @param {string} complete
   */
  #advance(md, complete) {
    this.#seen = complete.length;
    const tokens = md.parse(complete, this.#known());
    // Whether a formula is one shows when it ends.
    if (tokens.some(({ type, meta }) => type === "math_block" && meta.open)) return;
    loosen(tokens, this.#steps);
    const tree = blocks(tokens);
    withoutLead(tree, this.#steps);
    const last = tree[tree.length - 1];
    if (!last) return;
    const lines = complete.split("\n");
    const top = blockAfter(this.element, this.#frames[0].anchor, tree.length - 1);
    if (!top) return;
    const offset = (/** @type {number} */ line) => lines.slice(0, line).reduce((sum, { length }) => sum + length + 1, 0);
    const isNew = tree.length > 1;
    const lead = isNew ? "" : this.#lead;
    const cut = findCut(last, lines);
    const frames = cut && this.#reach(top, cut.steps, isNew ? [] : this.#frames);
    const start = isNew ? this.#cut + offset(last.map[0]) - this.#lead.length : 0;
    const inside = cut && frames ? this.#cut + offset(cut.line) - this.#lead.length - start : 0;
    if (!isNew && inside <= this.#cut) return;
    const settled = complete.slice(0, offset(cut && frames ? cut.line : last.map[0]));
    if (/\]:|^ {0,3}(?:#|=+[ \t]*$|-+[ \t]*$)/m.test(settled)) md.parse(settled, this.#env);
    if (isNew) this.#settle(start, top.previousSibling);
    if (!cut || !frames) {
      if (!isNew) this.#lead = lead;
      return;
    }
    this.#cut = inside;
    this.#lead = cut.lead;
    this.#steps = cut.steps;
    this.#frames = [this.#frames[0], ...frames];
    this.#seen = 0;
  }

  /**
   * The frames of a cut below a top-level element.
   * @param {Element} top
   * @param {import("./cut.js").Step[]} steps
   * @param {import("./graft.js").Frame[]} known those of the cut before, outside in
   * @returns {import("./graft.js").Frame[] | null}
   */
  #reach(top, steps, known) {
    /** @type {import("./graft.js").Frame[]} */
    const frames = [];
    let onWay = known.length > 1;
    /** @type {Element | null} */
    let target = top;
    for (const [at, { kind, child, lead }] of steps.entries()) {
      if (!target) return null;
      if (kind === "table") {
        const body = target.querySelector("tbody");
        if (!body?.parentElement) return null;
        frames.push({ target, anchor: null, skip: "" }, { target: body.parentElement, anchor: body.previousSibling, skip: "lead" });
        target = body;
      }
      const before = kind === "table" ? known[3]?.anchor : known[at + 1]?.anchor;
      /** @type {Element | null} */
      const open = blockAfter(target, onWay && before ? before : null, child);
      if (!open) return null;
      frames.push({ target, anchor: open.previousSibling, skip: lead && kind !== "table" ? "lead" : "line" });
      onWay &&= child === 0;
      target = open;
    }
    return frames;
  }

  /**
   * Settle the beginning of a long paragraph.
   * @param {Markdown} md
   * @param {string} text
   * @param {object} env
   */
  #cutParagraph(md, text, env) {
    const at = paragraphCut(text, md.inline);
    const paragraph = blockAfter(this.element, this.#frames[0].anchor, 0);
    if (at === 0 || !paragraph) return;
    const fragment = md.html(md.parse(text.slice(0, at), env), env);
    if (!graft(this.#frames, fragment)) return;
    this.#cut += at - this.#lead.length;
    this.#lead = "x";
    this.#frames = [this.#frames[0], { target: paragraph, anchor: paragraph.lastChild, skip: "letter" }];
    const rest = settle(this.#lead + this.#tail.slice(this.#cut));
    graft(this.#frames, md.html(md.parse(rest, env), env));
  }

  /**
   * Whole blocks are done with.
   * @param {number} length
   * @param {ChildNode | null} anchor the last node of theirs
   */
  #settle(length, anchor) {
    this.#done += this.#tail.slice(0, length);
    this.#tail = this.#tail.slice(length);
    this.#begin(anchor);
  }

  /**
   * Nothing is settled behind this node.
   * @param {ChildNode | null} anchor
   */
  #begin(anchor) {
    this.#cut = this.#seen = 0;
    this.#lead = "";
    this.#steps = [];
    this.#frames = [{ target: this.element, anchor, skip: "" }];
  }
}
