// @ts-check
/**
 * The Markdown of a draft, as the browser renders it: the twin of chat/rendering/, with the same elements and classes, so
 * that nothing moves when the server's answer takes the draft's place. Colours and set formulas come with the answer.
 */
import { language } from "#chat/blocks";
import { TooMuch, beginEffort, check, checkLines, take } from "#chat/effort";
import { LEAST, height } from "#chat/height";
import { addNotes } from "#chat/notes";

const IMAGE_SOURCE = /^(?:data:image\/(?:png|gif|jpeg|webp);|\/(?![/\\]))/i;
/** @type {Record<string, string>} */
const INLINE_MATHS = { "$$": "$$", "\\[": "\\]", "\\(": "\\)" };

/** What may open a construct is followed to the end of its paragraph; all other signs are looked at where they stand. */
const OPENERS = "[!<$\\:";

/** What the sanitiser lets through: the elements that the rules below can make, no style, no id. */
export const SANITISE = {
  ALLOWED_TAGS: (
    "a blockquote br code del div em h3 h4 h5 h6 hr img input label li ol p pre s span strong sup table tbody td th thead tr ul"
  ).split(" "),
  ALLOWED_ATTR: ["href", "title", "class", "target", "rel", "tabindex", "src", "alt", "start", "type", "checked", "disabled"],
  ALLOW_DATA_ATTR: false,
  RETURN_DOM_FRAGMENT: true,
};

/**
 * @param {any} MarkdownIt the class that the library exports
 * @returns {any} a parser with `parse(text, env)` and `renderer`
 */
export function makeGrammar(MarkdownIt) {
  const md = new MarkdownIt("commonmark", { html: false, linkify: true, breaks: false, xhtmlOut: false, maxNesting: 40 });
  md.enable(["table", "strikethrough", "linkify"]);
  md.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false, maxLength: 2_000 });
  md.block.ruler.before("fence", "math_block", mathBlock, { alt: ["paragraph", "reference", "blockquote", "list"] });
  md.inline.ruler.before("escape", "math", mathInline);
  addNotes(md);
  md.core.ruler.push("house_style", houseStyle);
  boundEffort(md);
  const { rules } = md.renderer;
  const escape = md.utils.escapeHtml;
  const code = (/** @type {string} */ text, /** @type {string} */ info) => {
    const name = escape(language(info));
    const attribute = name ? ` class="language-${name}"` : "";
    return (
      `<div class="code"><div class="code-head">${name}</div>` +
      `<pre tabindex="0"><code${attribute}>${escape(text)}</code></pre></div>\n`
    );
  };
  rules.fence = (/** @type {any[]} */ tokens, /** @type {number} */ at) => code(tokens[at].content, tokens[at].info);
  rules.code_block = (/** @type {any[]} */ tokens, /** @type {number} */ at) => code(tokens[at].content, "");
  rules.table_open = () => '<div class="table" tabindex="0"><table>\n';
  rules.table_close = () => "</table></div>\n";
  rules.math_block = (/** @type {any[]} */ tokens, /** @type {number} */ at) => {
    const steps = height(tokens[at].content);
    return `<div class="math${steps > LEAST ? ` tall-${steps}` : ""}" tabindex="0"><code class="tex">${escape(tokens[at].content)}</code></div>\n`;
  };
  rules.math_inline = (/** @type {any[]} */ tokens, /** @type {number} */ at) =>
    `<code class="tex">${escape(tokens[at].content)}</code>`;
  rules.plain = (/** @type {any[]} */ tokens, /** @type {number} */ at) => escape(tokens[at].content);
  rules.task = (/** @type {any[]} */ tokens, /** @type {number} */ at) =>
    `<input class="task-list-item-checkbox"${tokens[at].meta ? ' checked="checked"' : ""} disabled="disabled" type="checkbox">`;
  rules.image = (
    /** @type {any[]} */ tokens,
    /** @type {number} */ at,
    /** @type {any} */ options,
    /** @type {any} */ env,
    /** @type {any} */ self,
  ) => {
    const source = tokens[at].attrGet("src") ?? "";
    const alt = self.renderInlineAsText(tokens[at].children ?? [], options, env);
    if (IMAGE_SOURCE.test(source)) return `<img src="${escape(source)}" alt="${escape(alt)}">`;
    return `<a href="${escape(source)}" target="_blank" rel="noopener noreferrer nofollow">${escape(alt || source)}</a>`;
  };
  return md;
}

/**
 * Every attempt of a rule is counted. Where the count ends, what is left of the text is plain: in a paragraph its words, and
 * where not even the blocks are known, every line as it was written.
 * @param {any} md
 */
function boundEffort(md) {
  const alt = ["paragraph", "reference", "blockquote", "list"];
  const table = md.block.ruler.__rules__.find((/** @type {any} */ rule) => rule.name === "table").fn;
  const linkify = md.core.ruler.__rules__.find((/** @type {any} */ rule) => rule.name === "linkify").fn;
  const countedTable = (/** @type {any} */ state, /** @type {number} */ start, /** @type {number} */ end, /** @type {boolean} */ silent) => {
    check(state.env, count(state.src.slice(state.bMarks[start], state.eMarks[start]), "|"));
    const before = state.tokens.length;
    const found = table(state, start, end, silent);
    take(state.env, Math.floor(((state.tokens.length - before) * 2) / 3));
    return found;
  };
  md.block.ruler.at("table", countedTable, { alt: ["paragraph", "reference"] });
  md.block.ruler.before("table", "effort", blockStep, { alt });
  md.inline.ruler.before("text", "effort", (/** @type {any} */ { env, src, pos }) => {
    take(env, src.startsWith("://", pos) ? 10 : 1, OPENERS.includes(src[pos]) ? src.length : 0);
    return false;
  });
  md.core.ruler.at("inline", (/** @type {any} */ state) => {
    for (const token of state.tokens) {
      if (token.type !== "inline") continue;
      unlessTooMuch(
        () => md.inline.parse(token.content, md, state.env, token.children),
        () => {
          const text = new state.Token("plain", "", 0);
          text.content = token.content;
          token.children = [text];
        },
      );
    }
  });
  md.core.ruler.at("linkify", (/** @type {any} */ state) =>
    unlessTooMuch(
      () => {
        for (const { type, content } of state.tokens) {
          if (type === "inline") take(state.env, content.match(/\/\/|mailto:/gi)?.length ?? 0, content.length);
        }
        linkify(state);
      },
      () => {},
    ),
  );
  const parse = md.parse.bind(md);
  md.parse = (/** @type {string} */ written, /** @type {any} */ env) => {
    const text = written.replace(/[\ufdd0-\ufdd3]/g, "\ufffd"); // the server needs these for itself
    beginEffort(env);
    return unlessTooMuch(
      () => (checkLines(text), parse(text, env)),
      () => plainParagraphs(text, new md.core.State(text, md, env).Token),
    );
  };
}

/**
 * A list in a list is read again at each level, and a block of code is dear to show.
 * @param {any} state
 * @param {number} start
 */
function blockStep(state, start) {
  const first = state.src[state.bMarks[start] + state.tShift[start]];
  take(state.env, first === "`" || first === "~" ? 5 : state.level > 2 ? 2 : 1);
  return false;
}

/**
 * @param {string} text
 * @param {string} sign
 */
function count(text, sign) {
  return text.split(sign).length - 1;
}

/**
 * @template T
 * @param {() => T} dear
 * @param {() => T} plain
 */
function unlessTooMuch(dear, plain) {
  try {
    return dear();
  } catch (error) {
    if (error instanceof TooMuch) return plain();
    throw error;
  }
}

/**
 * @param {string} text
 * @param {any} Token
 */
function plainParagraphs(text, Token) {
  const tokens = [];
  /** @type {string[]} */
  let lines = [];
  for (const line of [...text.replace(/\r\n?/g, "\n").split("\n"), ""]) {
    if (line.trim()) lines.push(line.trim());
    else if (lines.length > 0) {
      const inline = new Token("inline", "", 0);
      inline.children = lines.flatMap((words, at) => {
        const plain = new Token("plain", "", 0);
        plain.content = words;
        return at === 0 ? [plain] : [new Token("hardbreak", "br", 0), plain];
      });
      const open = new Token("paragraph_open", "p", 1);
      const close = new Token("paragraph_close", "p", -1);
      open.block = close.block = true;
      tokens.push(open, inline, close);
      lines = [];
    }
  }
  return tokens;
}

/** @param {any} state */
function houseStyle(state) {
  /** @type {any[]} */
  const lists = [];
  /** The levels, as written, of the headings under which one stands: those of the text so far are handed in. @type {number[]} */
  const outline = (state.env.outline ??= []);
  state.tokens.forEach((/** @type {any} */ token, /** @type {number} */ at) => {
    if (token.type === "heading_open" && token.level === 0) {
      const level = Number(token.tag[1]);
      while ((outline.at(-1) ?? 0) >= level) outline.pop();
      outline.push(level);
    }
    if (token.type === "heading_open" || token.type === "heading_close") {
      token.tag = `h${Math.min(6, 2 + outline.length + (token.level > 0 ? 1 : 0))}`;
    } else if (token.type === "th_open" || token.type === "td_open") {
      const style = token.attrGet("style");
      token.attrs = style ? [["class", style.replace("text-align:", "")]] : null;
    } else if (token.type.endsWith("_list_open")) {
      lists.push(token);
    } else if (token.type.endsWith("_list_close")) {
      lists.pop();
    } else if (token.type === "inline") {
      for (const child of token.children) {
        if (child.type !== "link_open") continue;
        if (/^https?:/i.test(child.attrGet("href") ?? "")) child.attrSet("target", "_blank");
        child.attrSet("rel", "noopener noreferrer nofollow");
      }
      const [item, paragraph] = state.tokens.slice(Math.max(0, at - 2), at);
      if (item?.type === "list_item_open" && paragraph?.type === "paragraph_open") markTask(state, token, item, lists.at(-1));
    }
  });
}

/**
 * "[ ] " and "[x] " at the start of a list item.
 * @param {any} state
 * @param {any} inline
 * @param {any} item
 * @param {any} parent
 */
function markTask(state, inline, item, parent) {
  const [text] = inline.children;
  const mark = /^\[([ xX])\](?=[ \t\n])/.exec(inline.content);
  if (!mark || !(text?.type === "text" || text?.type === "plain") || !text.content.startsWith(mark[0])) return;
  text.content = text.content.slice(mark[0].length);
  const box = new state.Token("task", "", 0);
  box.meta = mark[1] !== " ";
  inline.children = [new state.Token("label_open", "label", 1), box, ...inline.children, new state.Token("label_close", "label", -1)];
  item.attrSet("class", "task-list-item");
  parent.attrSet("class", "contains-task-list");
}

/**
 * Like the server's rule, but a formula may still be open at the end of the text. A line that begins another one ends the
 * search: so no line is looked at for two beginnings.
 * @param {any} state
 * @param {number} start
 * @param {number} end
 * @param {boolean} silent
 */
function mathBlock(state, start, end, silent) {
  if (state.sCount[start] - state.blkIndent >= 4) return false;
  const first = state.getLines(start, start + 1, state.blkIndent, false).trim();
  const opening = first.slice(0, 2);
  if (opening !== "$$" && opening !== "\\[") return false;
  const closing = opening === "$$" ? "$$" : "\\]";
  const lines = [first.slice(2)];
  let line = start;
  let closed = true;
  while (!lines[lines.length - 1].trimEnd().endsWith(closing)) {
    line += 1;
    if (line >= end) {
      closed = false;
      break;
    }
    if (state.isEmpty(line) || state.sCount[line] < state.blkIndent) return false;
    const text = state.getLines(line, line + 1, state.blkIndent, false);
    if (text.trimStart().startsWith(opening) && text.trim() !== closing) return false;
    lines.push(text);
  }
  let tex = lines.join("\n").trimEnd();
  if (closed) tex = tex.slice(0, -closing.length);
  tex = tex.trim();
  if (tex.includes(closing) || (closed && !tex)) return false;
  if (!silent) {
    const token = state.push("math_block", "", 0);
    token.content = tex;
    token.meta = { open: !closed };
    token.map = [start, closed ? line + 1 : line];
    token.block = true;
  }
  state.line = closed ? line + 1 : line;
  return true;
}

/**
 * @param {any} state
 * @param {boolean} silent
 */
function mathInline(state, silent) {
  const { src, pos } = state;
  let opening = src.slice(pos, pos + 2);
  let closing = INLINE_MATHS[opening];
  if (!closing) {
    if (src[pos] !== "$") return false;
    opening = closing = "$";
  }
  const begin = pos + opening.length;
  state.unclosed ??= new Set(); // what is not closed here is not closed further on
  if (state.unclosed.has(closing)) return false;
  const stop = src.indexOf(closing, begin);
  if (stop < 0) state.unclosed.add(closing);
  if (stop < 0 || stop > state.posMax) return false;
  const tex = src.slice(begin, stop);
  const after = src[stop + closing.length] ?? "";
  if (!tex.trim() || tex.includes("\n\n")) return false;
  if (opening === "$" && (tex !== tex.trim() || tex.includes("\n") || /\d/.test(after) || tex.endsWith("\\"))) return false;
  if (!silent) state.push("math_inline", "", 0).content = tex.trim();
  state.pos = stop + closing.length;
  return true;
}
