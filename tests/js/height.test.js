// A formula's room, as the server reads it: the same cases, to the step.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { height } from "../../chat/static/chat/js/height.js";

const cases = JSON.parse(readFileSync(new URL("../formula_heights.json", import.meta.url), "utf8"));

test("each formula has the height that the server gives it", () => {
  assert.deepEqual(cases.map(([tex]) => [tex, height(tex)]), cases);
});

test("nothing is too odd, and what is too long has the most", () => {
  for (const tex of ["{".repeat(1900), "\\frac".repeat(300), "\\begin".repeat(300), "\\begin{x}".repeat(200), "}".repeat(99)])
    assert.ok(height(tex) >= 3 && height(tex) <= 45);
  assert.equal(height("a".repeat(2001)), 45);
});
