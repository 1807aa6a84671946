// A reply ends once, and only one that was being written.
import assert from "node:assert/strict";
import { test } from "node:test";

import { ends } from "../../chat/static/chat/js/attention.js";

test("only a move from writing to a final state is an end", () => {
  assert.equal(ends("buffered", "confirmed"), true);
  assert.equal(ends("queued", "failed"), true);
  assert.equal(ends("queued", "received"), false);
  assert.equal(ends("confirmed", "confirmed"), false);
  assert.equal(ends("", "confirmed"), false);
});
