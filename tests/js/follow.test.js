// A reader who scrolls up is never pulled down again; one who comes back to the end is followed again.
import assert from "node:assert/strict";
import { test } from "node:test";

import { follows } from "../../chat/static/chat/js/follow.js";

test("going up lets go, the end takes hold, everything else changes nothing", () => {
  assert.equal(follows(true, { before: 500, now: 400, toEnd: 100 }), false);
  assert.equal(follows(false, { before: 400, now: 480, toEnd: 20 }), true);
  assert.equal(follows(true, { before: 400, now: 450, toEnd: 300 }), true);
  assert.equal(follows(false, { before: 400, now: 450, toEnd: 300 }), false);
  assert.equal(follows(true, { before: 500, now: 490, toEnd: 0 }), true); // the page became shorter
});
