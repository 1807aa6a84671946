// A reply ends once, and only one that was being written; a tab says what is going on, and then how it ended.
import assert from "node:assert/strict";
import { test } from "node:test";

import { ends, face } from "../../chat/static/chat/js/attention.js";

test("only a move from writing to a final state is an end", () => {
  assert.equal(ends("buffered", "confirmed"), true);
  assert.equal(ends("queued", "failed"), true);
  assert.equal(ends("queued", "received"), false);
  assert.equal(ends("confirmed", "confirmed"), false);
  assert.equal(ends("", "confirmed"), false);
});

test("a tab shows what runs, then what nobody has seen, else nothing", () => {
  assert.equal(face(["confirmed", "queued"], "ready"), "running");
  assert.equal(face(["confirmed", "validated"], ""), "running");
  assert.equal(face(["confirmed"], "ready"), "ready");
  assert.equal(face(["confirmed", "failed"], "look"), "look");
  assert.equal(face(["confirmed"], ""), "");
  assert.equal(face([], ""), "");
});
