// A reply is a draft until the whole of what the server says stands in its place.
import assert from "node:assert/strict";
import { test } from "node:test";

import { h } from "./tree.js";
import { FINALS, Live, isOver } from "../../chat/static/chat/js/live.js";

/** An article as the module sees it: found by what it asks for. */
function article(words) {
  const lanes = { answer: h("div", { "data-lane": "answer" }, words), reasoning: h("div", {}), refusal: h("div", {}) };
  const root = h("article", {}, lanes.answer);
  root.dataset = { generation: "g", handle: "3", seq: "7", state: "buffered" };
  root.isConnected = true;
  root.querySelector = (asked) => (asked.startsWith("template") ? null : (lanes[/data-lane="(\w+)"/.exec(asked)?.[1]] ?? null));
  root.querySelectorAll = () => [];
  return root;
}

test("the finals of the page are those of the machine", () => {
  assert.deepEqual([...FINALS].sort(), ["cancelled", "confirmed", "expired", "failed", "incomplete"]);
  assert.equal(isOver(article("")), false);
});

test("a reply begins where the page stood", () => {
  const live = new Live(article(""));
  assert.deepEqual([live.id, live.handle, live.seq, live.painted, live.started], ["g", 3, 7, 7, false]);
});

test("the answer is set before the state says so", async () => {
  const here = article("draft");
  const live = new Live(here);
  const said = article("the answer");
  const states = [];
  const lane = here.firstChild;
  const insert = lane.insertBefore.bind(lane);
  lane.insertBefore = (...nodes) => (states.push(here.dataset.state), insert(...nodes));
  assert.equal(await live.end({ type: "final", state: "confirmed", reason: null, seq: 9 }, said), true);
  assert.deepEqual([lane.textContent, here.dataset.state, here.dataset.reason, here.dataset.seq], ["the answer", "confirmed", "", "9"]);
  assert.deepEqual([...new Set(states)], ["buffered"]);
});
