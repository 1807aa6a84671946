// The draft's Markdown is the answer's: what the server makes of these texts (tests/rendering/test_grammar.py) the browser makes too.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { makeGrammar } from "../../chat/static/chat/js/grammar.js";
import MarkdownIt from "../../chat/static/vendor/markdown-it/markdown-it.mjs";

const md = makeGrammar(MarkdownIt);
const cases = JSON.parse(readFileSync(new URL("../rendering_cases.json", import.meta.url), "utf8"));

/** A long text stands there in pieces, each with how often it is said. @param {string | [string, number][]} text */
const spelled = (text) => (typeof text === "string" ? text : text.map(([piece, times]) => piece.repeat(times)).join(""));

for (const { name, markdown, html } of cases) {
  test(`as on the server: ${name}`, () => assert.equal(md.render(spelled(markdown)), spelled(html)));
}

test("maths keeps its place until the answer sets it", () => {
  assert.equal(md.render("so $a_1 * b$ and \\(c\\)"), '<p>so <code class="tex">a_1 * b</code> and <code class="tex">c</code></p>\n');
  assert.equal(md.render("$$\na\n- b\n$$\nc"), '<div class="math" tabindex="0"><code class="tex">a\n- b</code></div>\n<p>c</p>\n');
});

test("a formula that is still being written is one already", () => {
  assert.equal(md.render("x\n\n\\[\n\\frac{1}"), '<p>x</p>\n<div class="math tall-5" tabindex="0"><code class="tex">\\frac{1}</code></div>\n');
});

test("a line that begins a formula ends the search for the last one's end", () => {
  assert.equal(
    md.render("\\[a\n\\[\nb\n\\]"),
    '<p>[a</p>\n<div class="math" tabindex="0"><code class="tex">b</code></div>\n',
  );
});

test("a draft has its whole effort at every paint", () => {
  const env = {};
  for (let paint = 0; paint < 3; paint++) {
    const html = md.renderer.render(md.parse("- a\n".repeat(10_000), env), md.options, env);
    assert.equal(html.split("<li>").length, 10_001);
  }
});
