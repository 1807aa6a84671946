// A cut inside an open block settles only what no later line can change, and reads on in the same containers.
import assert from "node:assert/strict";
import { test } from "node:test";

import { PARAGRAPH_CHARS, blocks, findCut, isLoose, loosen, paragraphCut, withoutLead } from "../../chat/static/chat/js/cut.js";
import { makeGrammar } from "../../chat/static/chat/js/grammar.js";
import MarkdownIt from "../../chat/static/vendor/markdown-it/markdown-it.mjs";

const md = makeGrammar(MarkdownIt);
const tree = (text) => blocks(md.parse(text, {}));
const cut = (text) => {
  const found = findCut(tree(text).at(-1), text.split("\n"));
  return found && [found.line, found.lead];
};

for (const [text, found] of [
  ["- a\n", null],
  ["- a\n- b\n- c\n", [2, ""]],
  ["- a\n- b\n  - c\n  - d\n", [3, "- x\n  #\n"]],
  ["- a\n- > q\n", null], // whether the second item makes the list loose does not show
  ["> a\n>\n> b\n", [2, "> x\n> #\n"]],
  ["> - a\n> - b\n", [1, "> x\n> #\n"]],
  ["-\ta\n\t- b\n\t- c\n", null], // a tab's columns are doubtful
  ["| a |\n|---|\n| 1 |\n| 2 |\n", [3, "| a |\n|---|\n"]],
  ["words\n", null],
]) {
  test(`cut of ${JSON.stringify(text)}`, () => assert.deepEqual(cut(text), found));
}

test("what is read behind the lead keeps the list's looseness", () => {
  const { lead, steps } = findCut(tree("- a\n- b\n  - c\n  - d\n")[0], "- a\n- b\n  - c\n  - d\n".split("\n"));
  const rest = tree(`${lead}  - d\n\n- e\n`);
  assert.deepEqual(withoutLead(rest, steps)[0], true);
  const tokens = md.parse(`${lead}  - d\n- e\n`, {});
  assert.equal(isLoose(blocks(tokens)[0]), false);
  loosen(tokens, [{ ...steps[0], loose: true }]);
  assert.equal(isLoose(blocks(tokens)[0]), true);
});

test("a paragraph is cut between words, never inside what may still be closed", () => {
  const inline = (text) => md.parseInline(text, {})[0].children;
  const words = "word and word, ".repeat(400);
  const at = paragraphCut(words, inline);
  assert.ok(at > 0 && words.length - at >= PARAGRAPH_CHARS / 2 && words[at] === " ");
  assert.equal(paragraphCut(words.slice(0, PARAGRAPH_CHARS - 1), inline), 0);
  assert.equal(paragraphCut(`**${words}`, inline), 0);
  assert.equal(paragraphCut(`[${words}`, inline), 0);
  assert.ok(paragraphCut(`[1] 2 * 3 ${words}`, inline) > 0);
});
