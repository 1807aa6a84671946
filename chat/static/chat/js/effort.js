// @ts-check
/**
 * How much work one text may cause: the twin of chat/rendering/effort.py, with the same numbers, so that a draft which is
 * too dear to read is shown as plainly as its answer will be. It knows no Markdown; `env` is markdown-it's environment.
 */
const STEPS = 120_000;
const CHARS_PER_STEP = 2_000;
const LINES = 60_000;

export class TooMuch extends Error {}

/** @param {any} env */
export function beginEffort(env) {
  env.steps = STEPS;
}

/**
 * The rules are about to look at one place, so many times, in a text of `length` characters. Throws `TooMuch`.
 * @param {any} env
 * @param {number} times
 * @param {number} length
 */
export function take(env, times = 1, length = 0) {
  env.steps -= times * (1 + Math.floor(length / CHARS_PER_STEP));
  if (env.steps < 0) throw new TooMuch("more work than an honest text needs");
}

/**
 * Throws `TooMuch` where there is not enough left for so many steps, and takes none.
 * @param {any} env
 * @param {number} times
 */
export function check(env, times) {
  if (times > env.steps) throw new TooMuch("more work than an honest text needs");
}

/**
 * Throws `TooMuch` for a text of more lines than are read as Markdown.
 * @param {string} text
 */
export function checkLines(text) {
  if ((text.match(/[\n\r]/g)?.length ?? 0) > LINES) throw new TooMuch("more lines than are read");
}
