// Enter asks, except where it must not; and every failure of a post becomes a sentence with the text kept.
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";

import { asks, post } from "../../chat/static/chat/js/composer.js";

const key = (more = {}) => ({ key: "Enter", shiftKey: false, altKey: false, isComposing: false, keyCode: 13, ...more });

test("Enter asks; a new line, an input method and a touch keyboard do not", () => {
  assert.equal(asks(key(), false), true);
  assert.equal(asks(key({ shiftKey: true }), false), false);
  assert.equal(asks(key({ altKey: true }), false), false);
  assert.equal(asks(key({ isComposing: true }), false), false);
  assert.equal(asks(key({ keyCode: 229 }), false), false);
  assert.equal(asks(key({ key: "a", keyCode: 65 }), false), false);
  assert.equal(asks(key(), true), false);
});

const sentences = { offline: "offline", signedOut: "signed out", failed: "failed" };
const real = globalThis.fetch;
afterEach(() => (globalThis.fetch = real));

/** @param {() => unknown} answer */
const serve = (answer) => {
  globalThis.fetch = async () => answer();
};
const json = (value, status) => Response.json(value, { status });

test("an answer is an answer", async () => {
  serve(() => json({ url: "/x" }, 201));
  assert.deepEqual(await post("/", new FormData(), sentences), { ok: true, value: { url: "/x" } });
});

test("the server's own sentence is shown", async () => {
  serve(() => json({ error: "busy", message: "A reply is being written." }, 409));
  assert.deepEqual(await post("/", new FormData(), sentences), { ok: false, message: "A reply is being written." });
});

test("no network, no session, no sense", async () => {
  serve(() => {
    throw new TypeError("fetch failed");
  });
  assert.deepEqual(await post("/", new FormData(), sentences), { ok: false, message: "offline" });
  serve(() => ({ redirected: true, ok: true, headers: new Headers() }));
  assert.deepEqual(await post("/", new FormData(), sentences), { ok: false, message: "signed out" });
  serve(() => new Response("<h1>no</h1>", { status: 502, headers: { "Content-Type": "text/html" } }));
  assert.deepEqual(await post("/", new FormData(), sentences), { ok: false, message: "failed" });
  serve(() => new Response("{", { status: 200, headers: { "Content-Type": "application/json" } }));
  assert.deepEqual(await post("/", new FormData(), sentences), { ok: false, message: "failed" });
});
