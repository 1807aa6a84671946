/**
 * As much of a document as the modules that move nodes need: a stand-in, so that their logic is tested without a browser.
 * What a real browser makes of it is tested in tests/browser/.
 */
export class Node {
  static TEXT_NODE = 3;
  parentNode = null;
  childNodes = [];

  get firstChild() {
    return this.childNodes[0] ?? null;
  }
  get lastChild() {
    return this.childNodes.at(-1) ?? null;
  }
  get nextSibling() {
    return this.parentNode?.childNodes[this.parentNode.childNodes.indexOf(this) + 1] ?? null;
  }
  get previousSibling() {
    return this.parentNode?.childNodes[this.parentNode.childNodes.indexOf(this) - 1] ?? null;
  }
  get children() {
    return this.childNodes.filter((node) => node instanceof Element);
  }
  get textContent() {
    return this.childNodes.map((node) => node.textContent).join("");
  }
  insertBefore(node, before) {
    node.remove();
    const at = before ? this.childNodes.indexOf(before) : this.childNodes.length;
    this.childNodes.splice(at, 0, node);
    node.parentNode = this;
  }
  append(...nodes) {
    for (const node of nodes) this.insertBefore(typeof node === "string" ? new Text(node) : node, null);
  }
  replaceWith(node) {
    this.parentNode.insertBefore(node, this);
    this.remove();
  }
  remove() {
    if (!this.parentNode) return;
    this.parentNode.childNodes.splice(this.parentNode.childNodes.indexOf(this), 1);
    this.parentNode = null;
  }
  isEqualNode(other) {
    return String(this) === String(other);
  }
}

export class CharacterData extends Node {
  nodeType = 3;
  nodeName = "#text";
  constructor(data) {
    super();
    this.data = data;
  }
  get length() {
    return this.data.length;
  }
  get nodeValue() {
    return this.data;
  }
  get textContent() {
    return this.data;
  }
  appendData(text) {
    this.data += text;
  }
  deleteData(at, count) {
    this.replaceData(at, count, "");
  }
  replaceData(at, count, text) {
    this.data = this.data.slice(0, at) + text + this.data.slice(at + count);
  }
  toString() {
    return this.data;
  }
}
export class Text extends CharacterData {}

export class Element extends Node {
  nodeType = 1;
  dataset = {};
  className = "";
  constructor(name, attributes = {}, ...children) {
    super();
    this.nodeName = name.toUpperCase();
    this.given = new Map(Object.entries(attributes));
    for (const [key, value] of this.given) if (key.startsWith("data-")) this.dataset[key.slice(5)] = value;
    this.append(...children);
  }
  get attributes() {
    return [...this.given].map(([name, value]) => ({ name, value }));
  }
  getAttribute(name) {
    return this.given.get(name) ?? null;
  }
  hasAttribute(name) {
    return this.given.has(name);
  }
  setAttribute(name, value) {
    this.given.set(name, value);
  }
  removeAttribute(name) {
    this.given.delete(name);
  }
  toString() {
    const name = this.nodeName.toLowerCase();
    const attributes = [...this.given].map(([key, value]) => ` ${key}="${value}"`).join("");
    return `<${name}${attributes}>${this.childNodes.join("")}</${name}>`;
  }
}

/** @type {Node[]} */
let marked = [];
/** @type {[string, () => void][]} */
const heard = [];

/** A reader marks these, or nothing: the document says so. @param {...Node} nodes */
export function mark(...nodes) {
  marked = nodes;
  for (const [name, hear] of heard) if (name === "selectionchange") hear();
}

Object.assign(globalThis, {
  Node,
  CharacterData,
  Text,
  Element,
  HTMLElement: Element,
  document: {
    hidden: false,
    createTextNode: (data) => new Text(data),
    querySelector: () => null,
    addEventListener: (name, hear) => void heard.push([name, hear]),
  },
  getSelection: () => ({
    isCollapsed: marked.length === 0,
    rangeCount: marked.length,
    getRangeAt: () => ({ collapsed: false, intersectsNode: (node) => marked.includes(node) }),
  }),
});

/** An element; strings become text. */
export const h = (name, attributes, ...children) => new Element(name, attributes, ...children);
