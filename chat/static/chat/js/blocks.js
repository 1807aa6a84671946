// @ts-check
/**
 * Where a growing Markdown text can be cut, and how its open end is shown. Pure: takes text and markdown-it's tokens.
 *
 * CommonMark is read line by line: once a later block has begun on a complete line, an earlier one never changes. So only
 * the last block of the complete lines, with the unfinished line after it, is rendered again at each paint.
 */

/**
 * A longer line is shown as it stands: the expressions below cost the square of it, and its marks are closed soon enough.
 */
const SETTLE_CHARS_MAX = 2_000;

/** @typedef {{level: number, nesting: number, map: [number, number] | null}} Token */

/**
 * The part of `text` whose lines are complete, line end included.
 * @param {string} text
 */
export function completeLines(text) {
  return text.slice(0, text.lastIndexOf("\n") + 1);
}

/**
 * Offset at which the last top-level block begins, 0 when there is only one; `tokens` are those of `text`.
 * @param {Token[]} tokens
 * @param {string} text
 */
export function lastBlockStart(tokens, text) {
  let line = 0;
  for (const token of tokens) if (token.level === 0 && token.nesting >= 0 && token.map) line = token.map[0];
  let offset = 0;
  for (; line > 0; line--) offset = text.indexOf("\n", offset) + 1;
  return offset;
}

/**
 * A text that is nothing but one code fence which is still open: its language and what is in it; null otherwise.
 * @param {string} text
 * @returns {{language: string, body: string} | null}
 */
export function openFence(text) {
  const opening = /^(`{3,}|~{3,})([^\n`]*)\n/.exec(text);
  if (!opening) return null;
  const [head, fence, info] = opening;
  const body = text.slice(head.length);
  const closing = new RegExp(`^ {0,3}${fence[0]}{${fence.length},}[ \\t]*$`, "m");
  if (closing.test(body)) return null;
  return { language: language(info), body: withoutHalfFence(body) };
}

/**
 * The language that a fence's info names, or "" for what is no name.
 * @param {string} info
 */
export function language(info) {
  const word = info.trim().split(/\s+/, 1)[0] ?? "";
  return /^[\w+#.-]{1,30}$/.test(word) ? word.toLowerCase() : "";
}

/**
 * A last line that may become the closing fence is not shown as code.
 * @param {string} body
 */
export function withoutHalfFence(body) {
  const start = body.lastIndexOf("\n") + 1;
  return /^ {0,3}[`~]{1,}[ \t]*$/.test(body.slice(start)) ? body.slice(0, start) : body;
}

/**
 * The open block as it is shown: what may still mean something else is held back, and what is open is closed. So a lone
 * "-" under a line never makes it a heading for a moment, and no stray marks appear.
 * @param {string} text
 */
export function settle(text) {
  if (inFence(text)) return withoutHalfFence(text);
  const start = text.lastIndexOf("\n") + 1;
  if (text.length - start > SETTLE_CHARS_MAX) return text;
  const line = text
    .slice(start)
    // "- [", "- [x] ": a task whose box is not closed yet, or has no words.
    .replace(/^(\s*(?:[-*+]|\d{1,9}[.)])\s+)\[[ xX]?\]?\s*$/, "$1")
    // "[", "[^1": a link's or a footnote's mark that is not closed yet; at the beginning of a line it may be the note itself.
    .replace(/\[(?:\^[^\]\s[]{0,60})?$|^\[\^[^\]\s[]{1,60}\]:?[ \t]*$/, "")
    // "[words]": what they lead to is still to come.
    .replace(/(^|[^\]\\!])\[(?!\^|[ xX]?\])([^\][`]{1,200})\]$/, "$1$2");
  if (/^[\s>]*(?:[-=*_+#~`:|$]+|\d{1,9}[.)]?)?\s*$/.test(line) || /^\s*(?:`{3}|~{3})/.test(line)) {
    return withoutHalfTable(text.slice(0, start));
  }
  return withoutHalfTable(text.slice(0, start) + closeFormula(line));
}

const CLOSED = /`[^`]*`|\$[^$\n]+\$|\\\(.*?\\\)/g;

/**
 * A line with its marks closed. A formula that it ends in is closed too: prices begin with a digit, formulas seldom.
 * @param {string} line
 */
function closeFormula(line) {
  const left = line.replace(CLOSED, (found) => " ".repeat(found.length));
  const open = /(^|[^\\$\w])(\$(?![\s\d$])[^$]{0,120}|\$|\\\(.{0,120})$/.exec(left);
  if (!open || left.includes("`")) return closeMarks(line);
  const at = open.index + open[1].length;
  const mark = line[at] === "$" ? "$" : "\\(";
  const tex = line.slice(at + mark.length).replace(/\\$/, "").trim();
  const before = line.slice(0, at);
  return closeMarks(before) + (tex && `${before.slice(before.trimEnd().length)}${mark}${tex}${mark === "$" ? "$" : "\\)"}`);
}

/**
 * Whether the text ends inside a code fence, also one in a list or a quotation.
 * @param {string} text
 */
function inFence(text) {
  let open = "";
  for (const [, mark, info] of text.matchAll(/^(?:[ \t>]|[-*+] |\d{1,9}[.)] )*(`{3,}|~{3,})([^\n`]*)\n/gm)) {
    if (!open) open = mark;
    else if (mark.startsWith(open) && !info.trim()) open = "";
  }
  return open !== "";
}

/**
 * A first line of cells is only a table once the line of dashes below it is complete.
 * @param {string} text
 */
function withoutHalfTable(text) {
  const lastTwo = text.lastIndexOf("\n", text.lastIndexOf("\n") - 1) + 1;
  if (text.length - lastTwo > SETTLE_CHARS_MAX) return text;
  const half = /(^|\n)([ \t]*\|[^\n]*\n?)([ \t]*[|:\- ]*)$/.exec(text.slice(lastTwo));
  if (!half) return text;
  const before = text.slice(0, lastTwo + half.index + half[1].length);
  const previous = before.slice(before.lastIndexOf("\n", before.length - 2) + 1);
  return /^[ \t]*\|/.test(previous) ? text : before;
}

/**
 * Close what is open at the end of an unfinished line: code, strong, emphasis, strike. An unfinished link shows its words.
 * @param {string} line
 */
function closeMarks(line) {
  line = line
    .replace(/!\[[^\]]*(?:\](?:\([^()\s]*)?)?$/, "")
    .replace(/\[([^\][]*)\]\([^()\s]*$/, "$1")
    .replace(/(^|[\s(*_])\[([^\][]*)$/, "$1$2")
    .replace(/[*_~!\\]+$/, "");
  /** @type {{mark: string, length: number}[]} */
  const open = [];
  for (let at = 0; at < line.length; ) {
    const mark = line[at];
    if (mark === "\\") {
      at += 2;
      continue;
    }
    const length = runLength(line, at);
    if (mark === "`") {
      const close = closingTicks(line, at + length, length);
      if (close < 0) {
        const inside = line.slice(at + length).replace(/`+$/, "");
        return inside.trim() ? line.slice(0, at + length) + inside + mark.repeat(length) + closers(open) : line.slice(0, at) + closers(open);
      }
      at = close + length;
      continue;
    }
    if (mark === "*" || mark === "_" || (mark === "~" && length === 2)) weigh(open, mark, length, line[at - 1], line[at + length]);
    at += length;
  }
  return line.trimEnd() + closers(open);
}

/**
 * One run of marks opens, or closes what is open, by what stands beside it.
 * @param {{mark: string, length: number}[]} open
 * @param {string} mark
 * @param {number} length
 * @param {string | undefined} before
 * @param {string | undefined} after
 */
function weigh(open, mark, length, before, after) {
  const letter = /[\p{L}\p{N}]/u;
  if (mark === "_" && before && after && letter.test(before) && letter.test(after)) return;
  let left = length;
  if (before && !/\s/.test(before)) {
    for (let top = open.at(-1); left > 0 && top && top.mark === mark; top = open.at(-1)) {
      const used = Math.min(left, top.length);
      left -= used;
      top.length -= used;
      if (top.length === 0) open.pop();
    }
  }
  if (left > 0 && after && !/\s/.test(after)) open.push({ mark, length: left });
}

/** @param {{mark: string, length: number}[]} open */
function closers(open) {
  return open
    .map(({ mark, length }) => mark.repeat(length))
    .reverse()
    .join("");
}

/**
 * @param {string} line
 * @param {number} at
 */
function runLength(line, at) {
  let end = at;
  while (line[end] === line[at]) end++;
  return end - at;
}

/**
 * Where a run of exactly `length` backticks begins, from `at` on; -1 if there is none.
 * @param {string} line
 * @param {number} at
 * @param {number} length
 */
function closingTicks(line, at, length) {
  for (let i = line.indexOf("`", at); i >= 0; i = line.indexOf("`", i)) {
    const run = runLength(line, i);
    if (run === length) return i;
    i += run;
  }
  return -1;
}
