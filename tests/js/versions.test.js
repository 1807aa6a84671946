// A button is found again after the thread was fetched anew.
import assert from "node:assert/strict";
import { test } from "node:test";

import { addressOf } from "../../chat/static/chat/js/versions.js";

function button({ asked, direction, follows }) {
  const turn = { dataset: follows ? { follows } : {} };
  return { dataset: direction ? { switch: direction } : {}, closest: (name) => (name === ".turn" ? turn : asked ? {} : null) };
}

test("by what its turn follows, whose versions it goes through, and where to", () => {
  assert.deepEqual(addressOf(button({ asked: true, direction: "next", follows: "m" })), { follows: "m", kind: ".asked", direction: "next" });
  assert.deepEqual(addressOf(button({ asked: false, direction: "", follows: "" })), { follows: "", kind: ".of-reply", direction: "" });
});
