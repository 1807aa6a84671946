// The page becomes what the server says while nodes that stay the same stay the same nodes.
import assert from "node:assert/strict";
import { test } from "node:test";

import { h, mark } from "./tree.js";
import { isSelected, morph, morphSoftly, setText } from "../../chat/static/chat/js/morph.js";

const list = (...words) => h("ul", {}, ...words.map((word) => h("li", {}, word)));

test("what is equal is not touched, what differs is, and what is too much goes", () => {
  const target = h("div", {}, list("a", "b", "c"), h("p", { class: "old", id: "x" }, "word"), "tail");
  const [kept] = target.children;
  const [, second] = kept.children;
  const source = h("div", {}, list("a", "B"), h("p", { class: "new" }, "word"));
  const wanted = String(source);
  morph(target, source);
  assert.equal(String(target), wanted);
  assert.equal(target.children[0], kept);
  assert.equal(kept.children[1], second);
  assert.equal(source.childNodes.length, 0);
});

test("behind an anchor nothing before it changes", () => {
  const target = h("div", {}, h("p", {}, "settled"), h("p", {}, "open"));
  morph(target, h("div", {}, h("p", {}, "open and more"), h("hr", {})), target.firstChild);
  assert.equal(String(target), "<div><p>settled</p><p>open and more</p><hr></hr></div>");
});

test("elements with a name are found again, wherever they stand", () => {
  const target = h("div", {}, h("p", {}, "gone"), h("article", { "data-generation": "1" }, "old"));
  const article = target.children[1];
  morph(target, h("div", {}, h("article", { "data-generation": "1" }, "new")));
  assert.equal(target.firstChild, article);
  assert.equal(String(target), '<div><article data-generation="1">new</article></div>');
});

test("a text is a new node, but for a reader who has marked it", () => {
  const target = h("p", {}, "half");
  const before = target.firstChild;
  morph(target, h("p", {}, "half a word"));
  assert.notEqual(target.firstChild, before);
  const now = target.firstChild;
  mark(now);
  assert.equal(isSelected(now), true);
  morph(target, h("p", {}, "half a sentence"));
  mark();
  assert.equal(isSelected(now), false);
  assert.equal(target.firstChild, now);
  assert.equal(String(target), "<p>half a sentence</p>");
  setText(now, "half");
  assert.equal(now.data, "half");
});

test("somebody else's work is left to them", () => {
  const target = h("div", {}, h("div", { "data-lane": "answer" }, "draft"), "x");
  morph(target, h("div", {}, h("div", { "data-lane": "answer", class: "prose" }, "said"), "y"), null, (old) => old.dataset.lane === "answer");
  assert.equal(String(target), '<div><div data-lane="answer" class="prose">draft</div>y</div>');
});

test("softly it is the same, with pauses; who left the page is left alone", async () => {
  const source = () => h("div", {}, ...Array.from({ length: 50 }, (_, at) => h("p", {}, `said ${at}`)));
  const target = h("div", {}, h("p", {}, "draft"));
  assert.equal(await morphSoftly(target, source(), () => false), true);
  assert.equal(String(target), String(source()));
  const now = performance.now;
  performance.now = () => now.call(performance) * 1e6;
  const left = h("div", {}, h("p", {}, "draft"), h("p", {}, "draft"));
  const isDone = await morphSoftly(left, source(), () => true);
  performance.now = now;
  assert.deepEqual([isDone, left.children.length], [false, 2]);
});

test("a long line of words and marks is set in ink as one", async () => {
  const line = (word) => h("p", {}, ...Array.from({ length: 60 }, (_, at) => h("em", {}, `${word} ${at}`)));
  const target = h("div", {}, line("draft"));
  const [draft] = target.children;
  const said = line("said");
  await morphSoftly(target, h("div", {}, said), () => false);
  assert.deepEqual([target.children.length, target.firstChild], [1, said]);
  assert.equal(draft.parentNode, null);
});
