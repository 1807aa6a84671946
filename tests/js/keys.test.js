// Each shortcut by its keys on every kind of keyboard; nothing while an input method composes.
import assert from "node:assert/strict";
import { test } from "node:test";

import { actionOf } from "../../chat/static/chat/js/keys.js";

const key = (/** @type {string} */ name, /** @type {object} */ more = {}) => ({
  key: name, code: "", shiftKey: false, altKey: false, ctrlKey: false, metaKey: false, isComposing: false, keyCode: 0, repeat: false, ...more,
});
const ctrl = { ctrlKey: true };
const both = { ctrlKey: true, shiftKey: true };

test("the listed keys", () => {
  assert.equal(actionOf(key("/", ctrl), false), "shortcuts");
  assert.equal(actionOf(key("/", both), false), "shortcuts"); // Spanish and German keyboards: Shift+7
  assert.equal(actionOf(key("k", ctrl), false), "search");
  assert.equal(actionOf(key("O", both), false), "new");
  assert.equal(actionOf(key("C", both), false), "copy");
  assert.equal(actionOf(key("E", both), false), "edit");
  assert.equal(actionOf(key("Escape", { shiftKey: true }), false), "line");
});

test("⌘ takes the place of Ctrl on a Mac, and only there", () => {
  assert.equal(actionOf(key("k", { metaKey: true }), true), "search");
  assert.equal(actionOf(key("k", ctrl), true), null); // the Mac's own "delete to the end of the line"
  assert.equal(actionOf(key("k", { metaKey: true }), false), null);
});

test("where the keyboard has no such letter the place of the key counts", () => {
  assert.equal(actionOf(key("л", { ...ctrl, code: "KeyK" }), false), "search");
  assert.equal(actionOf(key("j", { ...ctrl, code: "KeyK" }), false), null); // Dvorak has its own k
});

test("typing, composing, AltGr and a held key do nothing", () => {
  for (const name of ["k", "/", "o", "Escape", "Enter"]) assert.equal(actionOf(key(name), false), null);
  assert.equal(actionOf(key("c", ctrl), false), null); // copying a selection stays the browser's
  for (const more of [{ isComposing: true }, { keyCode: 229 }, { altKey: true }, { repeat: true }])
    assert.equal(actionOf(key("k", { ...ctrl, ...more }), false), null);
});
