// Code is only added to while it grows, and ends where its fence does, however it comes.
import assert from "node:assert/strict";
import { test } from "node:test";

import { h } from "./tree.js";
import { OpenFence } from "../../chat/static/chat/js/fence.js";

function grown(text, step, shown = "") {
  const code = h("code", {}, ...(shown ? [shown] : []));
  const head = text.indexOf("\n") + 1;
  const fence = new OpenFence(code, text.slice(0, head + shown.length));
  const seen = [];
  for (let at = head + shown.length + step; ; at += step) {
    const end = fence.grow(text.slice(0, at));
    seen.push(code.textContent);
    if (end >= 0 || at >= text.length) return { end, code, seen };
  }
}

test("at every cut the same code, never a mark of its end", () => {
  const text = "```py\na = 1\n  ``not\nb\n```\nafter";
  for (let step = 1; step < text.length; step++) {
    const { end, code, seen } = grown(text, step);
    assert.equal(code.textContent, "a = 1\n  ``not\nb\n");
    assert.equal(text.slice(end), "after");
    for (const one of seen) assert.ok(!one.includes("```"));
  }
});

test("what looked like code and is the end is taken back", () => {
  const { code, seen } = grown("~~~\nx\n   ~~~\n", 1);
  assert.equal(seen[4], "x\n   ");
  assert.equal(code.textContent, "x\n");
});

test("nothing that was shown is written again", () => {
  const code = h("code", {}, "one\n");
  const [first] = code.childNodes;
  const fence = new OpenFence(code, "```\none\n");
  fence.grow("```\none\ntwo\n");
  assert.equal(code.firstChild, first);
  assert.deepEqual(code.childNodes.map(String), ["one\n", "two\n"]);
});
