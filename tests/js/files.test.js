// What is chosen, pasted and dropped goes along once, in order, and not too large.
import assert from "node:assert/strict";
import { test } from "node:test";

import { shrunk, together } from "../../chat/static/chat/js/files.js";

const file = (name, size = 1, lastModified = 0) => ({ name, size, lastModified });

test("a picture is shrunk where providers would do it, or where it is heavy", () => {
  assert.equal(shrunk({ width: 2048, height: 100, bytes: 1_500_000 }), null);
  assert.deepEqual(shrunk({ width: 4096, height: 1024, bytes: 10 }), { width: 2048, height: 512 });
  assert.deepEqual(shrunk({ width: 100, height: 8192, bytes: 10 }), { width: 25, height: 2048 });
  assert.deepEqual(shrunk({ width: 800, height: 600, bytes: 1_500_001 }), { width: 800, height: 600 });
  assert.deepEqual(shrunk({ width: 9000, height: 1, bytes: 1 }), { width: 2048, height: 1 });
});

test("files come together once each, up to the most", () => {
  const [a, b, c] = [file("a"), file("b"), file("c")];
  assert.deepEqual(together([a], [file("a"), b, file("b")], 5), { files: [a, b], left: 0 });
  assert.deepEqual(together([a], [file("a", 2)], 5), { files: [a, file("a", 2)], left: 0 });
  assert.deepEqual(together([a], [b, c], 2), { files: [a, b], left: 1 });
  assert.deepEqual(together([], [], 2), { files: [], left: 0 });
});
