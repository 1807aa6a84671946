// @ts-check
/**
 * Where the last block of a growing text can be cut inside, so that of one long list, quotation, table or paragraph only the
 * end is rendered again. Pure: takes markdown-it's tokens and the text they are of, gives a cut; knows no page.
 *
 * What stands before a cut is settled. What follows is read behind a `lead`: a few lines that open the same containers anew,
 * each holding a paragraph (it shows whether its list is loose) and an empty heading (nothing that follows joins it).
 */

/**
 * @typedef {{type: string, level: number, nesting: number, map: [number, number] | null, hidden: boolean, content: string}} Token
 * @typedef {{type: string, map: [number, number], hidden: boolean, kids: Block[], led?: boolean}} Block
 *
 * One container on the way to the cut: which child of it is open, counted in elements from its first open one, and whether
 * its list is loose. `lead` says what of the lead stands in it: a paragraph and a heading, a table's head, or nothing.
 * @typedef {{kind: "list" | "item" | "quote" | "table", child: number, loose: boolean, lead: boolean}} Step
 * @typedef {{line: number, lead: string, steps: Step[]}} Cut
 * @typedef {{kind: "item" | "quote", line: number, width: number}} Opener
 */

const KINDS = /** @type {Record<string, "list" | "item" | "quote">} */ ({
  bullet_list_open: "list",
  ordered_list_open: "list",
  list_item_open: "item",
  blockquote_open: "quote",
});
const DEEPEST = 6;

/**
 * The blocks that tokens open, as a tree.
 * @param {Token[]} tokens
 * @returns {Block[]}
 */
export function blocks(tokens) {
  /** @type {Block} */
  const root = { type: "root", map: [0, 0], hidden: false, kids: [] };
  const open = [root];
  for (const token of tokens) {
    if (token.nesting < 0) open.pop();
    else if (token.type !== "inline") {
      const above = open[open.length - 1];
      const block = { type: token.type, map: token.map ?? above.map, hidden: token.hidden, kids: [] };
      above.kids.push(block);
      if (token.nesting > 0) open.push(block);
    }
  }
  return root.kids;
}

/**
 * The deepest cut inside a top-level block, or null where there is none but its beginning.
 * @param {Block} block
 * @param {string[]} lines those of the text that the block is of
 * @returns {Cut | null}
 */
export function findCut(block, lines) {
  if (block.type === "table_open") return tableCut(block, lines);
  /** @type {Step[]} */
  const steps = [];
  /** @type {Opener[]} */
  const openers = [];
  const line = descend(block, lines, steps, openers);
  if (line <= block.map[0] || steps.length === 0) return null;
  const lead = leadOf(openers, lines, steps);
  return lead === null ? null : { line, lead, steps };
}

/**
 * @param {Block} table
 * @param {string[]} lines
 * @returns {Cut | null}
 */
function tableCut(table, lines) {
  const rows = table.kids.find((kid) => kid.type === "tbody_open")?.kids.length ?? 0;
  if (rows < 2) return null;
  const [first] = table.map;
  const lead = `${lines[first]}\n${lines[first + 1]}\n`;
  return { line: first + 1 + rows, lead, steps: [{ kind: "table", child: rows - 1, loose: false, lead: true }] };
}

/**
 * @param {Block} block a container
 * @param {string[]} lines
 * @param {Step[]} steps filled with the way down
 * @param {Opener[]} openers filled with what the lead must open
 * @returns {number} the line of the cut
 */
function descend(block, lines, steps, openers) {
  const kind = KINDS[block.type];
  if (!kind || block.kids.length === 0 || steps.length > 2 * DEEPEST) return block.map[0];
  if (kind === "list") {
    // Only a paragraph shows whether the list is loose: the open item must begin with one, as all before it.
    let child = 0;
    while (child < block.kids.length - 1 && showsLoose(block.kids[child]) && showsLoose(block.kids[child + 1])) child++;
    const item = block.kids[child];
    const step = { kind, child, loose: isLoose(block), lead: false };
    steps.push(step);
    const from = steps.length;
    const line = child === block.kids.length - 1 ? descend(item, lines, steps, openers) : item.map[0];
    if (steps.length === from && child === 0) steps.pop();
    return line;
  }
  const last = block.kids[block.kids.length - 1];
  const single = last.type === "paragraph_open" ? kind === "quote" && !last.hidden : true;
  if (!single) return block.map[0];
  const opener = { kind, line: block.map[0], width: 0 };
  openers.push(opener);
  steps.push({ kind, child: block.kids.length - 1 - hiddenBefore(block), loose: false, lead: false });
  const from = steps.length;
  const line = descend(last, lines, steps, openers);
  if (steps.length === from && line <= block.map[0]) {
    steps.pop();
    openers.pop();
    return block.map[0];
  }
  return line;
}

/** @param {Block} item */
function showsLoose(item) {
  return item.led || item.kids[0]?.type === "paragraph_open";
}

/**
 * Take out of a tree what the lead put there, and tell which lists on its way are loose.
 * @param {Block[]} tree
 * @param {Step[]} steps
 * @returns {boolean[]} for each step
 */
export function withoutLead(tree, steps) {
  /** @type {Block | undefined} */
  let block = tree[0];
  return steps.map((step) => {
    const here = block;
    const loose = step.kind === "list" && here !== undefined && isLoose(here);
    if (here && step.lead && step.kind !== "table") {
      here.kids.splice(0, 2);
      here.led = true;
    }
    block = here?.kids[0];
    return loose;
  });
}

/**
 * A list that was loose before its cut is so behind it.
 * @param {Token[]} tokens
 * @param {Step[]} steps
 */
export function loosen(tokens, steps) {
  steps.forEach((step, level) => {
    if (!step.loose) return;
    const from = tokens.findIndex((token) => token.level === level && token.type.endsWith("_list_open"));
    for (let at = from + 1; at > 0 && at < tokens.length && tokens[at].level > level; at++) {
      if (tokens[at].level === level + 2 && tokens[at].type.startsWith("paragraph_")) tokens[at].hidden = false;
    }
  });
}

/**
 * A tight item's words are no element.
 * @param {Block} block
 */
function hiddenBefore(block) {
  return block.kids.filter((kid) => kid.type === "paragraph_open" && kid.hidden).length;
}

/** @param {Block} list */
export function isLoose(list) {
  return list.kids.some((item) => item.kids.some((kid) => kid.type === "paragraph_open" && !kid.hidden));
}

/**
 * The lines that open the same containers again, each at its own columns; null where tabs or the like make columns doubtful.
 * @param {Opener[]} openers
 * @param {string[]} lines
 * @param {Step[]} steps
 */
function leadOf(openers, lines, steps) {
  let lead = "";
  const containers = steps.filter((step) => step.kind === "item" || step.kind === "quote");
  for (let at = 0; at < openers.length; at++) {
    const { line } = openers[at];
    const length = prefixLength(lines[line], openers.slice(0, at + 1), line);
    if (length < 0) return null;
    if (openers[at + 1]?.line === line) continue; // the next one opens on the same line: one beginning for both
    const prefix = lines[line].slice(0, length).padEnd(length);
    lead += `${prefix}x\n${prefix.replace(/[^>]/g, " ")}#\n`;
    containers[at].lead = true;
  }
  return lead;
}

/**
 * How much of a line belongs to its containers; -1 where that is not certain. Notes the width of an item that opens here.
 * @param {string} text
 * @param {Opener[]} openers
 * @param {number} line
 */
function prefixLength(text, openers, line) {
  let at = 0;
  for (const opener of openers) {
    const rest = text.slice(at);
    if (opener.kind === "quote") {
      const mark = /^ {0,3}> ?/.exec(rest);
      if (!mark) return -1;
      at += mark[0].length;
    } else if (opener.line === line) {
      const mark = /^ {0,3}(?:[-+*]|\d{1,9}[.)])(?= |$)/.exec(rest);
      if (!mark) return -1;
      const spaces = /^ {1,4}(?=[^ \t])/.exec(rest.slice(mark[0].length));
      opener.width = mark[0].length + (spaces ? spaces[0].length : 1);
      at += opener.width;
    } else {
      if (rest.slice(0, opener.width).trim() || rest.length < opener.width) return -1;
      at += opener.width;
    }
  }
  return text.slice(0, at).includes("\t") ? -1 : at;
}

/** A paragraph is cut when it is longer than this, and its open end is about half as long. */
export const PARAGRAPH_CHARS = 1_600;

/**
 * Where a long paragraph can be cut: at white space, where nothing stands open that later words could close. 0 for nowhere.
 * @param {string} text from the last cut on
 * @param {(text: string) => Token[]} inline what a line of text consists of
 */
export function paragraphCut(text, inline) {
  if (text.length < PARAGRAPH_CHARS) return 0;
  let at = text.length - PARAGRAPH_CHARS / 2;
  for (let tries = 0; tries < 4; tries++) {
    at = wordStart(text, at);
    if (at <= PARAGRAPH_CHARS / 8) return 0;
    if (isClosed(inline(text.slice(0, at)))) return at;
    at -= PARAGRAPH_CHARS / 8;
  }
  return 0;
}

/**
 * The last single white space between two words before `at`.
 * @param {string} text
 * @param {number} at
 */
function wordStart(text, at) {
  for (; at > 0; at--) {
    if ((text[at] === " " || text[at] === "\n") && /[\p{L}\p{N}.,;:)]/u.test(text[at - 1]) && /[\p{L}\p{N}]/u.test(text[at + 1])) return at;
  }
  return 0;
}

/** @param {Token[]} tokens */
function isClosed(tokens) {
  let words = "";
  for (const token of tokens) {
    if (token.type === "text_special") return false;
    words += token.type === "text" ? token.content : "\u{fffc}";
  }
  if (/[`\\$]/.test(words) || /(?:^|[^\p{L}\p{N}])_+[^\s_]|\*+[^\s*]|~~+[^\s~]/u.test(words)) return false;
  let depth = 0;
  for (const letter of words) if (letter === "[" || (letter === "]" && depth > 0)) depth += letter === "[" ? 1 : -1;
  return depth === 0;
}
