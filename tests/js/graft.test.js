// The end of an open block is set anew, what is settled in it stays; where the shapes differ nothing is changed.
import assert from "node:assert/strict";
import { test } from "node:test";

import { h } from "./tree.js";
import { blockAfter, graft } from "../../chat/static/chat/js/graft.js";

test("the end of a list behind its settled items", () => {
  const page = h("div", {}, h("ul", {}, h("li", {}, "one"), h("li", {}, "tw")));
  const [ul] = page.children;
  const [one] = ul.children;
  const frames = [
    { target: page, anchor: null, skip: "" },
    { target: ul, anchor: one, skip: "line" },
  ];
  const source = h("div", {}, h("ul", {}, "\n", h("li", {}, "two"), h("li", {}, "three")), h("p", {}, "after"));
  assert.equal(graft(frames, source), true);
  assert.equal(String(page), "<div><ul><li>one</li><li>two</li><li>three</li></ul><p>after</p></div>");
  assert.equal(ul.children[0], one);
});

test("a lead is taken out up to its heading", () => {
  const page = h("div", {}, h("blockquote", {}, h("p", {}, "settled"), h("p", {}, "op")));
  const [quote] = page.children;
  const frames = [
    { target: page, anchor: null, skip: "" },
    { target: quote, anchor: quote.firstChild, skip: "lead" },
  ];
  assert.equal(graft(frames, h("div", {}, h("blockquote", {}, h("p", {}, "x"), h("h3", {}), "\n", h("p", {}, "open")))), true);
  assert.equal(String(page), "<div><blockquote><p>settled</p><p>open</p></blockquote></div>");
});

test("another shape changes nothing", () => {
  const page = h("div", {}, h("ul", {}, h("li", {}, "one")));
  const before = String(page);
  const frames = [
    { target: page, anchor: null, skip: "" },
    { target: page.firstChild, anchor: null, skip: "line" },
  ];
  for (const source of [h("div", {}, h("ol", {}, h("li", {}, "one"))), h("div", {}, "words", h("ul", {})), h("div", {})]) {
    assert.equal(graft(frames, source), false);
    assert.equal(String(page), before);
  }
});

test("blocks are counted, words between them are not", () => {
  const [a, b] = [h("p", {}, "a"), h("p", {}, "b")];
  const page = h("div", {}, a, "\n", h("em", {}), b);
  assert.equal(blockAfter(page, null, 0), a);
  assert.equal(blockAfter(page, null, 1), b);
  assert.equal(blockAfter(page, a, 0), b);
  assert.equal(blockAfter(page, b, 0), null);
});
