// @ts-check
/**
 * Footnotes of a draft. Each mark and each note is shown where it stands, numbered by the order of the marks, as the answer
 * numbers them; the answer then gathers the notes at its end, where models write them anyway. Takes markdown-it; keeps the
 * numbers in its environment under "notes", which the painter hands on from paint to paint.
 */

const MARK = /^\[\^([^\]\s[]{1,60})\]/;
const NOTE = /^\[\^([^\]\s[]{1,60})\]:[ \t]*/;
const MARK_CHARS_MAX = 64;

/**
 * @param {any} env
 * @param {string} label
 * @param {boolean} isMark a note alone takes no number away from the marks that are still to come
 */
function number(env, label, isMark) {
  const notes = (env.notes ??= new Map());
  const key = label.toUpperCase();
  const found = notes.get(key) ?? notes.size + 1;
  if (isMark) notes.set(key, found);
  return found;
}

/** @param {any} md */
export function addNotes(md) {
  md.inline.ruler.before("link", "note_mark", noteMark);
  md.block.ruler.before("reference", "note", note, { alt: ["paragraph", "reference"] });
  md.core.ruler.after("inline", "note_numbers", numbers);
  md.renderer.rules.note_mark = (/** @type {any[]} */ tokens, /** @type {number} */ at) =>
    `<sup class="footnote-ref"><a>[${tokens[at].meta}]</a></sup>`;
  md.renderer.rules.note_open = (/** @type {any[]} */ tokens, /** @type {number} */ at) =>
    `<div class="footnotes"><ol class="footnotes-list" start="${tokens[at].meta}">\n<li class="footnote-item">`;
  md.renderer.rules.note_close = () => "</li>\n</ol></div>\n";
}

/**
 * In the order in which they stand: a rule for blocks would number the notes before any mark.
 * @param {any} state
 */
function numbers(state) {
  for (const token of state.tokens)
    for (const each of token.type === "note_open" ? [token] : (token.children ?? []))
      if (each.type === "note_open" || each.type === "note_mark") each.meta = number(state.env, each.meta, each.type === "note_mark");
}

/**
 * @param {any} state
 * @param {boolean} silent
 */
function noteMark(state, silent) {
  const found = MARK.exec(state.src.slice(state.pos, state.pos + MARK_CHARS_MAX));
  if (!found) return false;
  if (!silent) state.push("note_mark", "", 0).meta = found[1];
  state.pos += found[0].length;
  return true;
}

/**
 * A note is its line and those that would go on with a paragraph.
 * @param {any} state
 * @param {number} start
 * @param {number} end
 * @param {boolean} silent
 */
function note(state, start, end, silent) {
  if (state.level > 0 || state.sCount[start] - state.blkIndent >= 4) return false;
  const first = state.getLines(start, start + 1, state.blkIndent, false).trimStart();
  const found = NOTE.exec(first);
  if (!found) return false;
  if (silent) return true;
  const lines = [first.slice(found[0].length)];
  let line = start + 1;
  const others = state.md.block.ruler.getRules("paragraph");
  for (; line < end && !state.isEmpty(line); line++) {
    const isDeep = state.sCount[line] - state.blkIndent > 3;
    if (!isDeep && others.some((/** @type {any} */ rule) => rule(state, line, end, true))) break;
    lines.push(state.getLines(line, line + 1, state.blkIndent, false).trim());
  }
  const map = [start, line];
  const open = state.push("note_open", "div", 1);
  open.meta = found[1];
  open.map = map;
  open.block = true;
  state.push("paragraph_open", "p", 1).map = map;
  const inline = state.push("inline", "", 0);
  inline.content = lines.join("\n").trim();
  inline.map = map;
  inline.children = [];
  state.push("paragraph_close", "p", -1);
  state.push("note_close", "div", -1);
  state.line = line;
  return true;
}
