// A draft's footnotes have the answer's numbers, whichever part of the draft is read again.
import assert from "node:assert/strict";
import { test } from "node:test";

import { settle } from "../../chat/static/chat/js/blocks.js";
import { makeGrammar } from "../../chat/static/chat/js/grammar.js";
import MarkdownIt from "../../chat/static/vendor/markdown-it/markdown-it.mjs";

const md = makeGrammar(MarkdownIt);
const mark = (n) => `<sup class="footnote-ref"><a>[${n}]</a></sup>`;
const note = (n, text) => `<div class="footnotes"><ol class="footnotes-list" start="${n}">\n<li class="footnote-item"><p>${text}</p>\n</li>\n</ol></div>\n`;

test("marks are numbered as they come, and the same again", () => {
  assert.equal(md.render("a[^x] b[^y], a[^X]"), `<p>a${mark(1)} b${mark(2)}, a${mark(1)}</p>\n`);
  const env = { notes: new Map([["X", 1]]) };
  assert.equal(md.renderer.render(md.parse("b[^y] a[^x]", env), md.options, env), `<p>b${mark(2)} a${mark(1)}</p>\n`);
});

test("marks come before the notes, in whatever order those stand", () => {
  assert.equal(md.render("a[^b] c[^a]\n\n[^a]: one\n[^b]: two"), `<p>a${mark(1)} c${mark(2)}</p>\n${note(2, "one")}${note(1, "two")}`);
});

test("a note is its lines, up to a blank one or the next note", () => {
  assert.equal(md.render("a[^1]\n\n[^1]: one *more*\n    line\n[^2]: two\n\nafter"), `<p>a${mark(1)}</p>\n${note(1, "one <em>more</em>\nline")}${note(2, "two")}<p>after</p>\n`);
});

test("what is no footnote stays what it is", () => {
  assert.equal(md.render("`[^1]` [^ a] [^]"), "<p><code>[^1]</code> [^ a] [^]</p>\n");
  assert.equal(md.render("[a]: /u\n\n[a]"), '<p><a href="/u" rel="noopener noreferrer nofollow">a</a></p>\n');
});

test("half a mark, and a note without a word, are not shown yet", () => {
  assert.equal(settle("a claim[^1"), "a claim");
  assert.equal(settle("a claim[^"), "a claim");
  assert.equal(settle("x\n\n[^1]:"), "x\n\n");
  assert.equal(settle("a claim[^1]"), "a claim[^1]");
});

test("a mark keeps its number, whatever stands beside it, and a note takes none away", () => {
  assert.equal(md.render("a[^1]: b[^1]"), `<p>a${mark(1)}: b${mark(1)}</p>\n`);
  assert.equal(md.render("[^a]: one\n\nx[^b] y[^a]"), `${note(1, "one")}<p>x${mark(1)} y${mark(2)}</p>\n`);
});
