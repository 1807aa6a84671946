// What is cut stays cut, and what is shown of an open end neither flickers nor leaves stray marks.
import assert from "node:assert/strict";
import { test } from "node:test";

import { completeLines, language, lastBlockStart, openFence, settle } from "../../chat/static/chat/js/blocks.js";

const top = (line, nesting = 1) => ({ level: 0, nesting, map: [line, line + 1] });
const inner = (line) => ({ level: 1, nesting: 1, map: [line, line + 1] });
const close = () => ({ level: 0, nesting: -1, map: null });

test("only complete lines may close a block", () => {
  assert.equal(completeLines("a\nb"), "a\n");
  assert.equal(completeLines("a"), "");
  assert.equal(completeLines("a\n"), "a\n");
});

test("the last block begins at its first line, whatever stands inside it", () => {
  const text = "one\n\n- two\n- three\n\nfour\n";
  const tokens = [top(0), close(), top(2), inner(2), inner(3), close(), top(5), close()];
  assert.equal(lastBlockStart(tokens, text), text.indexOf("four"));
  assert.equal(lastBlockStart(tokens.slice(0, 6), text), text.indexOf("- two"));
  assert.equal(lastBlockStart([top(0), close()], text), 0);
  assert.equal(lastBlockStart([], ""), 0);
});

test("an open fence is known by what follows it", () => {
  assert.deepEqual(openFence("```py\nx = 1\n"), { language: "py", body: "x = 1\n" });
  assert.deepEqual(openFence("~~~~\n~~~\n"), { language: "", body: "~~~\n" });
  assert.deepEqual(openFence("```\na\n``"), { language: "", body: "a\n" }); // half a closing fence is no code
  assert.equal(openFence("```py\nx\n```\n"), null);
  assert.equal(openFence("```py"), null); // its language may not be complete
  assert.equal(openFence("text\n```\n"), null);
});

test("a language is a name or nothing", () => {
  assert.deepEqual(["Python", "c++ linenos", 'a"b', ""].map(language), ["python", "c++", "", ""]);
});

for (const [text, shown] of [
  // marks that may still become something else are held back
  ["line\n-", "line\n"],
  ["line\n==", "line\n"],
  ["a\n\n#", "a\n\n"],
  ["a\n\n12.", "a\n\n"],
  ["a\n\n``", "a\n\n"],
  ["a\n\n```py", "a\n\n"],
  ["- a\n- ", "- a\n"],
  ["> ", ""],
  ["- [x", ""],
  // open marks are closed
  ["some **bold", "some **bold**"],
  ["some **bold*", "some **bold**"],
  ["some **bold**", "some **bold**"],
  ["some *it", "some *it*"],
  ["***both", "***both***"],
  ["**bold and *it", "**bold and *it***"],
  ["~~gone", "~~gone~~"],
  ["a `code", "a `code`"],
  ["a `", "a "],
  ["**a `b", "**a `b`**"],
  ["`` a ` b", "`` a ` b``"],
  // marks that are none are left alone
  ["2 * 3 = 6", "2 * 3 = 6"],
  ["snake_case_name", "snake_case_name"],
  ["a \\*b", "a \\*b"],
  ["a[0] and b[1", "a[0] and b[1"],
  ["`**` is a mark", "`**` is a mark"],
  // links show their words first
  ["see [the docs", "see the docs"],
  ["see [the docs](https://exa", "see the docs"],
  ["see [the docs](https://example.org)", "see [the docs](https://example.org)"],
  ["![alt](da", ""],
  // a table is one when its line of dashes is complete
  ["text\n\n| a | b |", "text\n\n"],
  ["| a | b |\n|--", ""],
  ["| a | b |\n|--|--|\n", "| a | b |\n|--|--|\n"],
  ["| a | b |\n|--|--|\n| 1 |", "| a | b |\n|--|--|\n| 1 |"],
  ["| a | b |\n|--|--|\n| 1 | **2", "| a | b |\n|--|--|\n| 1 | **2**"],
  // code is code
  ["```\na **b", "```\na **b"],
  ["- x\n  ```py\n  a `b", "- x\n  ```py\n  a `b"],
  ["```\na\n```\n**b", "```\na\n```\n**b**"],
]) {
  test(`settle ${JSON.stringify(text)}`, () => assert.equal(settle(text), shown));
}

test("whatever is cut off a text, what is shown is never longer than the text and its closing marks", () => {
  const text = "# A\n\nSome **bold *and* it** with `code`, [a link](https://b.c) and\n\n| a | b |\n|--|--|\n| 1 | 2 |\n\n```js\nx = `1`\n```\n";
  for (let end = 0; end <= text.length; end++) {
    const shown = settle(text.slice(0, end));
    assert.ok(shown.length <= end + 6, JSON.stringify(shown));
  }
});

test("a formula that is being written is one, and its marks are never words", () => {
  assert.equal(settle("so $"), "so");
  assert.equal(settle("so $E = m_1 * "), "so $E = m_1 *$");
  assert.equal(settle("**so \\(a_1"), "**so** \\(a_1\\)");
  assert.equal(settle("so $a$ and *b"), "so $a$ and *b*");
  assert.equal(settle("from $5 to *ten"), "from $5 to *ten*");
  assert.equal(settle("`$a"), "`$a`");
  assert.equal(settle("x\n\n$"), "x\n\n");
});

test("brackets are held back until it shows what they are", () => {
  assert.equal(settle("see ["), "see");
  assert.equal(settle("see [the page]"), "see the page");
  assert.equal(settle("see [the page] and"), "see [the page] and");
  assert.equal(settle("- [x] "), "");
  assert.equal(settle("- [x] done"), "- [x] done");
});
