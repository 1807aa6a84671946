// What is typed outlives a reload, and nothing else.
import assert from "node:assert/strict";
import { test } from "node:test";

import { keep, place } from "../../chat/static/chat/js/kept.js";

const form = (action = "/conversations/1/", person = "7") => ({ action, dataset: { person } });
const storage = () => {
  const held = new Map();
  return {
    held,
    getItem: (at) => held.get(at) ?? null,
    setItem: (at, text) => held.set(at, text),
    removeItem: (at) => held.delete(at),
  };
};
const line = (text = "") => ({ text, fill(more) { this.text = more; } });

test("each person and each conversation has a place of its own", () => {
  assert.equal(place(form()), "line:7:/conversations/1/");
  assert.equal(place(form("http://host/?q=x", "8")), "line:8:/");
});

test("a text comes back until it is asked", () => {
  const kept = storage();
  const before = line();
  const changed = keep(form(), before, kept);
  before.text = "Half a quest";
  changed();
  const after = line();
  const sent = keep(form(), after, kept);
  assert.equal(after.text, "Half a quest");
  after.text = "";
  sent();
  assert.equal(kept.held.size, 0);
});

test("what the server put on the line comes first", () => {
  const kept = storage();
  kept.setItem("line:7:/conversations/1/", "old");
  const given = line("Too long, shorten it");
  keep(form(), given, kept);
  assert.equal(given.text, "Too long, shorten it");
});
