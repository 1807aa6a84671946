// @ts-check
/**
 * Make one piece of the page equal to another while keeping the nodes that are there: a reader's selection, focus, open
 * details and place survive a repaint, and nothing that is the same is drawn again.
 */

/** Details that the person opened or closed: from then on that is theirs. @type {WeakSet<Element>} */
const touched = new WeakSet();

/**
 * Remember what a person opens and closes below `root`.
 * @param {Element} root
 */
export function watchDetails(root) {
  root.addEventListener("click", (event) => {
    const summary = event.target instanceof Element ? event.target.closest("summary") : null;
    if (summary?.parentElement) touched.add(summary.parentElement);
  });
}

/** @param {Element} details */
export function isTouched(details) {
  return touched.has(details);
}

/** @typedef {(old: Element, fresh: Element) => boolean} Later whether what is in an element is somebody else's work */

/**
 * Make the children of `target` that follow `anchor` (all, for null) equal to those of `source`, which is used up.
 * @param {Node} target
 * @param {Node} source
 * @param {ChildNode | null} [anchor]
 * @param {Later} [later]
 * @param {boolean} [whole] whether long lines may become other elements: nobody holds them any more
 */
export function morph(target, source, anchor = null, later = undefined, whole = false) {
  for (const step of steps(target, source, anchor, later, whole)) void step;
}

const LINE_NODES = 50;
/** So long the page may be kept from the reader's hand in one go. */
const SLICE_MS = 8;

/**
 * The same, child by child, with a pause for the page wherever it took long. Gives false where `isStale` said so meanwhile:
 * what is left is left as it was.
 * @param {Node} target
 * @param {Node} source
 * @param {() => boolean} isStale
 */
export async function morphSoftly(target, source, isStale) {
  let begun = performance.now();
  for (const step of steps(target, source, null, undefined, true)) {
    void step;
    if (performance.now() - begun < SLICE_MS) continue;
    await new Promise((done) => setTimeout(done));
    if (isStale()) return false;
    begun = performance.now();
  }
  return true;
}

/**
 * @param {Node} target
 * @param {Node} source
 * @param {ChildNode | null} anchor
 * @param {Later} [later]
 * @param {boolean} [whole]
 */
function* steps(target, source, anchor, later, whole) {
  let old = anchor ? anchor.nextSibling : target.firstChild;
  for (let fresh = source.firstChild; fresh; fresh = source.firstChild) {
    const match = find(old, fresh);
    if (!match) target.insertBefore(fresh, old);
    else {
      while (old && old !== match) old = remove(old);
      old = match.nextSibling;
      fresh.remove();
      update(match, fresh, later, whole);
    }
    yield;
  }
  while (old) old = remove(old);
}

/**
 * The old node that `fresh` continues: the next one if it is of the same kind, or a later one with the same name.
 * @param {ChildNode | null} old
 * @param {ChildNode} fresh
 */
function find(old, fresh) {
  if (old && same(old, fresh)) return old;
  const name = nameOf(fresh);
  if (!name) return null;
  for (let node = old; node; node = node.nextSibling) if (same(node, fresh)) return node;
  return null;
}

/**
 * @param {Node} a
 * @param {Node} b
 */
function same(a, b) {
  return a.nodeType === b.nodeType && a.nodeName === b.nodeName && nameOf(a) === nameOf(b);
}

/** @param {Node} node */
function nameOf(node) {
  if (!(node instanceof HTMLElement)) return "";
  return node.dataset.lane ?? node.dataset.generation ?? node.dataset.message ?? "";
}

/** @param {ChildNode} node */
function remove(node) {
  const next = node.nextSibling;
  node.remove();
  return next;
}

/**
 * @param {ChildNode} old
 * @param {ChildNode} fresh
 * @param {Later} [later]
 * @param {boolean} [whole]
 */
function update(old, fresh, later, whole) {
  if (old instanceof CharacterData && fresh instanceof CharacterData) {
    if (old.data === fresh.data) return;
    // A node that is changed costs what the whole paragraph around it costs; a new one costs itself.
    if (isSelected(old)) setText(old, fresh.data);
    else old.replaceWith(fresh);
  } else if (old instanceof Element && fresh instanceof Element && !old.isEqualNode(fresh)) {
    // Each node that goes out of a long line of them costs what all of it costs; the whole costs it once.
    if (whole && /^(?:P|CODE)$/.test(old.nodeName) && old.childNodes.length > LINE_NODES && !isSelected(old)) {
      old.replaceWith(fresh);
      return;
    }
    setAttributes(old, fresh);
    if (!later?.(old, fresh)) morph(old, fresh, null, later, whole);
  }
}

/**
 * Whether anything on the page is marked. It is remembered: where nothing is, a selection lays the whole page out before it
 * says so, which costs what is on it, and is asked at every paint.
 */
let marked = false;
globalThis.document?.addEventListener("selectstart", () => (marked = true)); // the other event comes a moment later
globalThis.document?.addEventListener("selectionchange", () => (marked = getSelection()?.isCollapsed === false));

/**
 * Whether a reader has marked something that reaches into this node.
 * @param {Node} node
 */
export function isSelected(node) {
  if (!marked) return false;
  // Of the range: the selection itself would lay the page out, here too.
  const selection = getSelection();
  const range = selection?.rangeCount ? selection.getRangeAt(0) : null;
  return range !== null && !range.collapsed && range.intersectsNode(node);
}

/**
 * Change only the end of a text that differs, so that a selection in its beginning stays.
 * @param {CharacterData} node
 * @param {string} text
 */
export function setText(node, text) {
  const before = node.data;
  if (before === text) return;
  if (text.startsWith(before)) {
    node.appendData(text.slice(before.length));
    return;
  }
  let kept = 0;
  while (kept < text.length && before[kept] === text[kept]) kept++;
  node.replaceData(kept, before.length - kept, text.slice(kept));
}

/**
 * @param {Element} old
 * @param {Element} fresh
 */
function setAttributes(old, fresh) {
  const mine = touched.has(old);
  for (const { name, value } of [...fresh.attributes]) {
    if (!(mine && name === "open") && old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  for (const { name } of [...old.attributes]) {
    if (!(mine && name === "open") && !fresh.hasAttribute(name)) old.removeAttribute(name);
  }
}
