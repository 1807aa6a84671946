// The arrows walk through the hits and back to the line.
import assert from "node:assert/strict";
import { test } from "node:test";

import { step } from "../../chat/static/chat/js/finder.js";

test("arrows move between the line and the hits, and stop at the ends", () => {
  const walk = (/** @type {string[]} */ keys, count = 3) => keys.reduce((at, key) => step(at, count, key), -1);
  assert.equal(walk(["ArrowDown"]), 0);
  assert.equal(walk(["ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown"]), 2);
  assert.equal(walk(["ArrowDown", "ArrowUp"]), -1);
  assert.equal(walk(["ArrowUp"]), -1);
  assert.equal(walk(["ArrowDown"], 0), -1);
  assert.equal(walk(["ArrowDown", "a"]), 0);
});
