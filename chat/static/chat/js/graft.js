// @ts-check
/**
 * Sets the end of an open block anew while what is settled in it stays untouched. Takes frames: for each open container, from
 * the outside in, its element and the last node in it that is settled. Knows no Markdown.
 */
import { morph } from "#chat/morph";

/**
 * `skip`: what a fragment says again at this place, and the page has already: the line end before the first child ("line"), a
 * lead up to its heading or a table's head ("lead"), one letter before the words ("letter"), or nothing.
 * @typedef {{target: Element, anchor: ChildNode | null, skip: "line" | "lead" | "letter" | ""}} Frame
 */

/**
 * Make what follows the anchors equal to `source`. False, and nothing is changed, where the fragment has another shape.
 * @param {Frame[]} frames
 * @param {ParentNode & Node} source used up
 */
export function graft(frames, source) {
  let node = /** @type {ParentNode & Node} */ (source);
  for (let at = 0; at < frames.length; at++) {
    if (at > 0) {
      const open = firstBlock(node);
      if (!open || open.nodeName !== frames[at].target.nodeName || hasWords(open)) return false;
      node = open;
    }
    if (!skip(node, frames[at].skip)) return false;
  }
  put(frames, 0, source);
  return true;
}

/** @param {Element} element whether anything but white space stands before it */
function hasWords(element) {
  for (let node = element.previousSibling; node; node = node.previousSibling) if (node.textContent?.trim()) return true;
  return false;
}

/**
 * @param {Node} source
 * @param {Frame["skip"]} what
 */
function skip(source, what) {
  const first = source.firstChild;
  if (what === "line") {
    if (first?.nodeType === Node.TEXT_NODE && first.nodeValue === "\n") first.remove();
  } else if (what === "letter") {
    if (!(first instanceof Text)) return false;
    first.deleteData(0, 1);
  } else if (what === "lead") {
    for (let node = first; ; node = source.firstChild) {
      if (!node) return false;
      const name = node.nodeName;
      node.remove();
      if (/^H\d$|^THEAD$/.test(name)) break;
    }
    source.firstChild?.nodeType === Node.TEXT_NODE && source.firstChild.remove();
  }
  return true;
}

/**
 * @param {Frame[]} frames
 * @param {number} at
 * @param {ParentNode & Node} source
 */
function put(frames, at, source) {
  const { target, anchor } = frames[at];
  const next = frames[at + 1];
  const open = firstBlock(source);
  if (!next || !open) {
    morph(target, source, anchor);
    return;
  }
  put(frames, at + 1, open);
  if (open.className) next.target.className = open.className;
  open.remove();
  morph(target, source, next.target);
}

/** What a block is on the page; a tight item's words are elements of other names. */
const BLOCK = /^(?:P|UL|OL|LI|BLOCKQUOTE|DIV|TABLE|TBODY|TR|PRE|HR|H\d)$/;

/** @param {ParentNode} parent */
function firstBlock(parent) {
  for (const child of parent.children) if (BLOCK.test(child.nodeName)) return child;
  return null;
}

/**
 * The block number `count` behind a node, or from the beginning of its parent.
 * @param {Element} parent
 * @param {ChildNode | null} anchor
 * @param {number} count
 */
export function blockAfter(parent, anchor, count) {
  let node = anchor ? anchor.nextSibling : parent.firstChild;
  for (; node; node = node.nextSibling) if (BLOCK.test(node.nodeName) && count-- === 0) return /** @type {Element} */ (node);
  return null;
}
