// A listener hears of a long wait once, and of progress at pauses; never each token.
import assert from "node:assert/strict";
import { test } from "node:test";

import { due, wordsIn } from "../../chat/static/chat/js/progress.js";

const seen = { since: 0, words: 0, grewAt: 0, toldWords: 0, toldAt: 0, toldWait: false };

test("a long wait is told once", () => {
  assert.equal(due(seen, 5_900), null);
  assert.equal(due(seen, 6_000), "waiting");
  assert.equal(due({ ...seen, toldWait: true }, 60_000), null);
});

test("progress is told where the reply pauses, or after long, and only once for the same words", () => {
  const growing = { ...seen, words: 40, grewAt: 10_000, toldAt: 1_000 };
  assert.equal(due(growing, 10_100), null);
  assert.equal(due(growing, 12_000), "words");
  assert.equal(due({ ...growing, grewAt: 20_990 }, 21_000), "words");
  assert.equal(due({ ...growing, toldWords: 40 }, 60_000), null);
});

test("words are what stands between spaces", () => {
  assert.deepEqual([wordsIn(""), wordsIn(" one\ntwo  three "), wordsIn("日本語")], [0, 3, 1]);
});
