// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { passwordless, reason } from "../../chat/static/chat/js/passkeys.js";

test("each fault of the device has its sentence", () => {
  const named = (/** @type {string} */ name) => reason(new DOMException("x", name));
  assert.deepEqual(
    ["NotAllowedError", "AbortError", "InvalidStateError", "SecurityError", "NotSupportedError", "DataError"].map(named),
    ["cancelled", "cancelled", "known", "insecure", "old", "broken"],
  );
  assert.equal(reason(new TypeError("no network")), "broken");
  assert.equal(reason(null), "broken");
});

test("a key that signs in alone is kept on the device and opened by its person; the rest stays as the server says", () => {
  const given = { challenge: "abc", authenticatorSelection: { residentKey: "discouraged", userVerification: "preferred" } };
  assert.deepEqual(passwordless(given), {
    challenge: "abc",
    authenticatorSelection: { residentKey: "required", requireResidentKey: true, userVerification: "required" },
  });
  assert.equal(given.authenticatorSelection.residentKey, "discouraged");
});
