// The steps of a text are counted down, dearer in a long one, and begin anew with the next text.
import assert from "node:assert/strict";
import { test } from "node:test";

import { TooMuch, beginEffort, take } from "../../chat/static/chat/js/effort.js";

test("used up is used up, until the next text", () => {
  const env = { steps: 0 };
  beginEffort(env);
  const whole = env.steps;
  take(env);
  take(env, 3, 4_000);
  take(env, 0, 4_000);
  assert.equal(env.steps, whole - 1 - 9);
  assert.throws(() => take(env, whole), TooMuch);
  assert.throws(() => take(env), TooMuch);
  beginEffort(env);
  assert.equal(env.steps, whole);
});
