// Enter asks, except where it must not; and every failure of a post becomes a sentence with the text kept.
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";

import { asks, holds, post } from "../../chat/static/chat/js/composer.js";

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
  const answer = await post("/", new FormData(), sentences);
  assert.deepEqual(answer, { ok: false, message: "A reply is being written.", cause: "busy" });
  serve(() => json({ error: "invalid", message: "Write something first." }, 400));
  const refused = await post("/", new FormData(), sentences);
  assert.deepEqual(refused, { ok: false, message: "Write something first.", cause: "refused" });
});

test("no network, no session, nothing there, no sense", async () => {
  const ends = (message, cause) => ({ ok: false, message, cause });
  serve(() => {
    throw new TypeError("fetch failed");
  });
  assert.deepEqual(await post("/", new FormData(), sentences), ends("offline", "offline"));
  serve(() => ({ redirected: true, ok: true, headers: new Headers() }));
  assert.deepEqual(await post("/", new FormData(), sentences), ends("signed out", "signedOut"));
  serve(() => new Response("<h1>no</h1>", { status: 502, headers: { "Content-Type": "text/html" } }));
  assert.deepEqual(await post("/", new FormData(), sentences), ends("failed", "refused"));
  serve(() => json({ error: "not_found", message: "Nothing." }, 404));
  assert.deepEqual(await post("/", new FormData(), sentences), ends("Nothing.", "missing"));
  serve(() => new Response("{", { status: 200, headers: { "Content-Type": "application/json" } }));
  assert.deepEqual(await post("/", new FormData(), sentences), ends("failed", "refused"));
});

test("an old token is changed for a new one, once", async () => {
  const tokens = [];
  globalThis.fetch = async (_url, { body }) => {
    tokens.push(body.get("csrfmiddlewaretoken"));
    return tokens.at(-1) === "new" ? json({ url: "/x" }, 201) : json({ error: "csrf", message: "Too old." }, 403);
  };
  const body = () => {
    const form = new FormData();
    form.set("csrfmiddlewaretoken", "old");
    return form;
  };
  assert.deepEqual(await post("/", body(), sentences, async () => "new"), { ok: true, value: { url: "/x" } });
  const still = await post("/", body(), sentences, async () => "older");
  assert.deepEqual(still, { ok: false, message: "Too old.", cause: "refused" });
  assert.deepEqual(tokens, ["old", "new", "old", "older"]);
});

test("where there is no new token, its page says why", async () => {
  serve(() => json({ error: "csrf", message: "Too old." }, 403));
  const after = (/** @type {any} */ page) => post("/", new FormData(), sentences, async () => page);
  assert.equal((await after({ ok: true, redirected: true, status: 200 })).cause, "signedOut");
  assert.equal((await after({ ok: false, redirected: false, status: 404 })).cause, "missing");
  const offline = await post("/", new FormData(), sentences, async () => {
    throw new TypeError("fetch failed");
  });
  assert.equal(offline.cause, "offline");
});

test("an error stays as long as its reason, and no longer", () => {
  const events = /** @type {const} */ (["ended", "reached", "written"]);
  const kept = (cause, lost) => events.filter((event) => holds(cause, event, lost));
  assert.deepEqual(kept("busy", false), ["reached"]);
  assert.deepEqual(kept("offline", true), ["ended", "written"]);
  assert.deepEqual(kept("offline", false), ["ended"]); // a page without a feed hears of nothing but the person
  assert.deepEqual(kept("signedOut", false), ["ended"]); // nobody who is not signed in gets a connection
  for (const cause of ["refused", "missing"]) assert.deepEqual(kept(cause, false), ["ended", "reached"]);
});
