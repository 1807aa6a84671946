// @ts-check
/**
 * How tall a displayed formula will be, read from its TeX: the twin of chat/rendering/height.py, which says how and why. Takes
 * TeX, gives steps of a third of a line. What is not closed yet is read as if it were closed at the end.
 */

/** @typedef {{up: number, down: number, limits?: boolean}} Box ems above and below the line */

export const LEAST = 3;
const MOST = 45;
const CHARS_MAX = 2000;
const DEPTH_MAX = 12;
const STEPS_PER_EM = 18.7 / 9;
const SMALL = 0.999;
const TOKEN = /\\[A-Za-z]+\*?|\\[^]|[^\s]/gu;
const words = (/** @type {string} */ text) => new Set(text.split(" "));
const FRACTIONS = words("frac dfrac tfrac cfrac binom dbinom tbinom");
const OPERATORS = words("sum prod coprod bigcup bigcap bigoplus bigotimes bigvee bigwedge bigsqcup");
const INTEGRALS = words("int iint iiint oint");
const STACKS = words("overset underset stackrel");
const SHOWN = words("align aligned split gather gathered alignedat");
/** @type {Record<string, [number, number]>} */
const BRACES = { overbrace: [0.5, 0], underbrace: [0, 0.5], substack: [0.3, 0.5] };

/** @param {Box} box */
const all = ({ up, down }) => up + down;
/** @param {number} size @returns {Box} */
const letter = (size) => ({ up: 0.7 * size, down: 0.2 * size });
/** @param {Box} one @param {Box} other @returns {Box} */
const beside = (one, other) => ({ up: Math.max(one.up, other.up), down: Math.max(one.down, other.down) });

/** One below the other, in the middle of the line. @param {number[]} heights @param {number} size @returns {Box} */
function stacked(heights, size) {
  const whole = heights.reduce((sum, each) => sum + each, 0) + 0.1 * size;
  return { up: whole / 2 + 0.25 * size, down: Math.max(0, whole / 2 - 0.25 * size) };
}

/** @param {string} tex */
export function height(tex) {
  if (tex.length > CHARS_MAX) return MOST;
  const em = all(new Reader(tex.match(TOKEN) ?? []).row(1, 0));
  return Math.max(LEAST, Math.min(MOST, Math.ceil(em * STEPS_PER_EM - 1e-9)));
}

class Reader {
  #at = 0;

  /** @param {string[]} tokens */
  constructor(tokens) {
    this.tokens = tokens;
  }

  #peek() {
    return this.tokens[this.#at] ?? "";
  }

  #next() {
    const token = this.#peek();
    this.#at += 1;
    return token;
  }

  /** @param {number} size @param {number} depth @returns {Box} */
  row(size, depth) {
    /** @type {Box} */
    let found = { up: 0, down: 0 };
    for (let token = this.#peek(); token; token = this.#peek()) {
      if (token === "}" || (depth > 0 && ["&", "\\\\", "\\end"].includes(token))) {
        if (depth > 0) break;
        this.#at += 1;
        continue;
      }
      found = beside(found, this.#withMarks(this.#atom(size, depth), size, depth));
    }
    return found;
  }

  /** @param {Box} box @param {number} size @param {number} depth @returns {Box} */
  #withMarks(box, size, depth) {
    let { up, down } = box;
    while (this.#peek() === "^" || this.#peek() === "_") {
      const mark = this.#next();
      const part = all(this.#atom(size * 0.71, depth));
      if (box.limits && mark === "^") up += part + 0.15;
      else if (box.limits) down += part + 0.15;
      else if (mark === "^") up = Math.max(up, box.up - 0.35 * size + part);
      else down = Math.max(down, box.down - 0.1 * size + part);
    }
    return { up, down };
  }

  /** @param {number} size @param {number} depth @returns {Box} */
  #atom(size, depth) {
    const token = this.#next();
    if (depth >= DEPTH_MAX || !token) return letter(size);
    if (token === "{") return this.#group(size, depth);
    if (!token.startsWith("\\")) return letter(size);
    const name = token.slice(1);
    if (FRACTIONS.has(name)) {
      const inner = size === 1 && name !== "tfrac" ? SMALL : size * 0.71;
      const above = all(this.#atom(inner, depth + 1));
      const below = all(this.#atom(inner, depth + 1));
      return { up: above + 0.4 * size, down: Math.max(0, below - 0.1 * size) };
    }
    if (name === "sqrt") {
      if (this.#peek() === "[") while (!["]", ""].includes(this.#next()));
      const { up, down } = this.#atom(size, depth + 1);
      return { up: up + 0.2 * size, down: down + 0.05 * size };
    }
    if (OPERATORS.has(name)) return size === 1 ? { up: 0.9, down: 0.5, limits: true } : { up: 0.75 * size, down: 0.3 * size };
    if (INTEGRALS.has(name)) return { up: 0.9 * size, down: 0.6 * size };
    if (STACKS.has(name)) {
      const part = all(this.#atom(size * 0.71, depth + 1));
      const { up, down } = this.#atom(size, depth + 1);
      return name === "underset" ? { up, down: down + part } : { up: up + part, down };
    }
    if (name in BRACES) {
      const { up, down } = this.#atom(size, depth + 1);
      return { up: up + BRACES[name][0], down: down + BRACES[name][1], limits: name !== "substack" };
    }
    if (name === "left" || name === "right") this.#next(); // what it stretches
    else if (name === "begin") return this.#rows(size, depth);
    else if (name === "end") this.#group(size, DEPTH_MAX);
    return letter(size);
  }

  /** @param {number} size @param {number} depth @returns {Box} */
  #group(size, depth) {
    if (depth >= DEPTH_MAX) {
      for (let open = 1, token = this.#next(); token; token = this.#next()) {
        open += token === "{" ? 1 : token === "}" ? -1 : 0;
        if (open === 0) break;
      }
      return letter(size);
    }
    const rows = [this.row(size, depth + 1)];
    while (this.#peek() === "&" || this.#peek() === "\\\\") {
      const isRow = this.#next() === "\\\\";
      const box = this.row(size, depth + 1);
      if (isRow) rows.push(box);
      else rows.push(beside(/** @type {Box} */ (rows.pop()), box));
    }
    this.#next();
    return rows.length === 1 ? rows[0] : stacked(rows.map((row) => all(row) + 0.2 * size), size);
  }

  /** @param {number} size @param {number} depth @returns {Box} */
  #rows(size, depth) {
    let name = "";
    if (this.#peek() === "{") {
      this.#next();
      for (let token = this.#next(); token && token !== "}"; token = this.#next()) name += token;
    }
    const isShown = SHOWN.has(name.replace(/\*+$/, ""));
    if ((name === "array" || name === "alignedat") && this.#peek() === "{") {
      this.#next();
      this.#group(size, DEPTH_MAX);
    }
    const inner = isShown || size < 1 ? size : SMALL;
    /** @type {Box[]} */
    const rows = [{ up: 0, down: 0 }];
    for (let token = this.#peek(); token && token !== "\\end"; token = this.#peek()) {
      if (token === "&" || token === "\\\\" || token === "}") {
        this.#next();
        if (token === "\\\\") rows.push({ up: 0, down: 0 });
      } else rows.push(beside(/** @type {Box} */ (rows.pop()), this.row(inner, depth + 1)));
    }
    if (this.#peek() === "\\end") {
      this.#next();
      if (this.#peek() === "{") {
        this.#next();
        this.#group(size, DEPTH_MAX);
      }
    }
    if (rows.length > 1 && all(rows[rows.length - 1]) === 0) rows.pop(); // a break at the end begins no row
    const apart = (isShown ? 0.6 : 0.38) * size;
    return stacked(rows.map((row) => Math.max(all(row), all(letter(size))) + apart), size);
  }
}
