// A page goes along with another tab, but never while its own reply is written, nor in the middle of a conversation.
import assert from "node:assert/strict";
import { test } from "node:test";

import { differs, standing } from "../../chat/static/chat/js/tabs.js";

test("only what is shown at the end, and is not being written, can differ", () => {
  const here = { leaf: "a", writing: false, atEnd: true };
  assert.equal(differs(here, { head: "b" }), true);
  assert.equal(differs(here, { head: "a" }), false);
  assert.equal(differs(here, { head: "" }), false);
  assert.equal(differs({ ...here, writing: true }, { head: "b" }), false);
  assert.equal(differs({ ...here, atEnd: false }, { head: "b" }), false);
});

test("where the server cannot say, nothing is said", async () => {
  const answers = [() => Promise.reject(new Error("offline")), async () => ({ ok: false })];
  for (const answer of answers) {
    globalThis.fetch = answer;
    assert.equal(await standing("/"), null);
  }
  globalThis.fetch = async () => ({ ok: true, redirected: true });
  assert.equal(await standing("/"), "signedOut");
  globalThis.fetch = async () => ({ ok: true, redirected: false, json: async () => ({ stands: true, head: "a" }) });
  assert.deepEqual(await standing("/"), { stands: true, head: "a" });
});
