// Order, duplicates, gaps: the page must show each reply once, whole, whatever the socket does.
import assert from "node:assert/strict";
import { test } from "node:test";

import { Cursors, WAITING_MAX, parse } from "../../chat/static/chat/js/cursors.js";

const paint = (handle, seq, text = "x", after = seq - 1) => ({ type: "paint", handle, seq, text, lane: "answer", after });
const draft = (handle, seq) => ({ type: "draft", handle, seq, answer: "a", reasoning: "", refusal: "" });
const final = (handle, seq) => ({
  type: "final", generation: "g", handle, seq, state: "confirmed", reason: null, html: "", successor: null,
});

test("every form of a frame is read", () => {
  assert.deepEqual(parse('[1,2,"hi"]'), paint(1, 2, "hi"));
  assert.deepEqual(parse('[1,2,"hi","r"]'), { ...paint(1, 2, "hi"), lane: "reasoning" });
  assert.deepEqual(parse('[1,9,"hi","f",4]'), { ...paint(1, 9, "hi", 4), lane: "refusal" });
  assert.deepEqual(parse('{"type":"draft","handle":1,"seq":2,"answer":"a","reasoning":"","refusal":""}'), draft(1, 2));
  const turn = { type: "turn", generation: "g", handle: 1, parent: null, state: "queued", reason: null, attempt: 1, retry_of: null };
  assert.deepEqual(parse(JSON.stringify(turn)), turn);
  assert.deepEqual(parse(JSON.stringify(final(1, 3))), final(1, 3));
});

test("what a newer server may say is passed over", () => {
  assert.equal(parse('{"type":"checking"}'), null);
  assert.equal(parse('[1,2,"hi","z"]'), null);
  assert.equal(parse("null"), null);
});

test("frames in order are applied, duplicates ignored, gaps told", () => {
  const cursors = new Cursors();
  cursors.know(1, 4, { over: false });
  assert.deepEqual(
    [paint(1, 5), paint(1, 5), paint(1, 3), paint(1, 6), paint(1, 8), paint(1, 7)].map((frame) => cursors.take(frame)),
    ["apply", "ignore", "ignore", "apply", "gap", "apply"],
  );
  assert.equal(cursors.position(), "1:7");
});

test("a frame that stands for several follows on the last one seen, or is a gap", () => {
  const cursors = new Cursors();
  cursors.know(1, 4, { over: false });
  assert.equal(cursors.take(paint(1, 9, "abc", 6)), "gap");
  assert.equal(cursors.take(paint(1, 9, "abc", 2)), "gap"); // it would write text twice
  assert.equal(cursors.take(paint(1, 9, "abc", 4)), "apply");
  assert.equal(cursors.position(), "1:9");
});

test("nothing is painted after the final frame", () => {
  const cursors = new Cursors();
  cursors.know(1, 4, { over: false });
  assert.deepEqual(
    [final(1, 5), paint(1, 6), final(1, 5), draft(1, 7)].map((frame) => cursors.take(frame)),
    ["apply", "ignore", "ignore", "ignore"],
  );
  assert.equal(cursors.isOver(1), true);
  assert.equal(cursors.position(), null);
});

test("a final frame counts even where paints before it were lost: it brings the whole reply", () => {
  const cursors = new Cursors();
  cursors.know(1, 4, { over: false });
  assert.equal(cursors.take(final(1, 90)), "apply");
});

test("a whole draft replaces an older one, and a shorter one only on joining", () => {
  const cursors = new Cursors();
  cursors.know(1, 4, { over: false });
  assert.equal(cursors.take(draft(1, 4)), "ignore");
  assert.equal(cursors.take(draft(1, 9)), "apply");
  assert.equal(cursors.take(draft(1, 3)), "ignore");
  cursors.rejoin();
  assert.equal(cursors.take(draft(1, 3)), "apply"); // the server fell back to what it had saved
  assert.equal(cursors.take(paint(1, 4)), "apply");
  assert.equal(cursors.take(draft(1, 2)), "ignore");
});

test("frames of a reply that is not on the page yet wait for it, in order", () => {
  const cursors = new Cursors();
  assert.deepEqual([paint(2, 1), paint(2, 2), paint(2, 3)].map((frame) => cursors.take(frame)), ["wait", "wait", "wait"]);
  const waiting = cursors.know(2, 2, { over: false });
  assert.deepEqual(waiting, [paint(2, 1), paint(2, 2), paint(2, 3)]);
  assert.deepEqual(waiting.map((frame) => cursors.take(frame)), ["ignore", "ignore", "apply"]);
  assert.deepEqual(cursors.know(2, 3, { over: false }), []);
});

test("what waits is bounded, and forgotten when the server is asked again", () => {
  const cursors = new Cursors();
  for (let seq = 1; seq <= WAITING_MAX; seq++) assert.equal(cursors.take(paint(2, seq)), "wait");
  assert.equal(cursors.take(paint(2, WAITING_MAX + 1)), "gap");
  cursors.rejoin();
  assert.deepEqual(cursors.know(2, 0, { over: false }), []);
});

test("the position is that of the newest reply that is still written", () => {
  const cursors = new Cursors();
  assert.equal(cursors.position(), null);
  cursors.know(1, 40, { over: true });
  assert.equal(cursors.position(), null);
  cursors.know(2, 7, { over: false });
  cursors.know(3, 0, { over: false });
  assert.equal(cursors.position(), "3:0");
  cursors.take(final(3, 1));
  assert.equal(cursors.position(), "2:7");
});
