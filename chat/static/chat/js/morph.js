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

/**
 * Make the children of `target` that follow `anchor` (all, for null) equal to those of `source`, which is used up.
 * @param {Node} target
 * @param {Node} source
 * @param {ChildNode | null} [anchor]
 */
export function morph(target, source, anchor = null) {
  let old = anchor ? anchor.nextSibling : target.firstChild;
  for (const fresh of [...source.childNodes]) {
    const match = find(old, fresh);
    if (!match) {
      target.insertBefore(fresh, old);
      continue;
    }
    while (old && old !== match) old = remove(old);
    old = match.nextSibling;
    update(match, fresh);
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
 */
function update(old, fresh) {
  if (old instanceof CharacterData && fresh instanceof CharacterData) {
    setText(old, fresh.data);
  } else if (old instanceof Element && fresh instanceof Element) {
    setAttributes(old, fresh);
    morph(old, fresh);
  }
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
