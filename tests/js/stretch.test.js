// What is put in above a reader does not move what they read, and an address is looked for only where it names a message.
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";

// The browser's parts that the module touches: a page that is scrolled, and fragments that a server gives.
const style = new Set();
let scrolled = 0;
let frames = [];
globalThis.IntersectionObserver = class {
  observe() {}
  disconnect() {}
};
globalThis.document = {
  documentElement: { style: { setProperty: (name) => style.add(name), removeProperty: (name) => style.delete(name) } },
  sides: {},
  getElementById: (id) => document.sides[id] ?? null,
};
globalThis.scrollBy = ({ top, behavior }) => {
  assert.equal(behavior, "instant");
  scrolled += top;
};
globalThis.requestAnimationFrame = (run) => frames.push(run);
globalThis.location = { pathname: "/conversations/1/", search: "", hash: "" };
globalThis.DOMParser = class {
  parseFromString(text) {
    return { getElementById: (id) => (id === "thread" ? { text } : null) };
  }
};

const { Stretch, keepPlace, messageOf } = await import("../../chat/static/chat/js/stretch.js");
const ID = "01234567-89ab-cdef-0123-456789abcdef";

/** @type {string[]} */
let asked = [];
const answers = (...all) => {
  asked = [];
  globalThis.fetch = async (url, { headers }) => {
    assert.deepEqual(headers, { "X-Fragment": "1" });
    asked.push(url);
    const answer = all.shift();
    if (answer instanceof Error) throw answer;
    return { ok: answer.status === 200, redirected: false, ...answer, text: async () => answer.text };
  };
};
/** @type {string[]} */
let told = [];
const stretch = () => {
  told = [];
  const tell = (word) => () => told.push(word);
  const root = { id: "thread", parentElement: null };
  return new Stretch(root, { put: tell("put"), missing: tell("missing"), lost: tell("lost"), ended: tell("ended") });
};

afterEach(() => {
  scrolled = 0;
  frames = [];
  document.sides = {};
});

test("only an address of a message names one", () => {
  assert.equal(messageOf(`#m-${ID}`), ID);
  for (const hash of ["", "#", "#text", "#m-", `#m-${ID}x`, "#m-../../accounts/logout/", `#x-${ID}`]) assert.equal(messageOf(hash), "");
});

test("what the reader looks at stays where it is, and the browser does not help a second time", () => {
  let top = 120;
  keepPlace({ getBoundingClientRect: () => ({ top }) }, () => {
    assert.deepEqual([...style], ["overflow-anchor"]);
    top += 5000;
  });
  assert.equal(scrolled, 5000);
  while (frames.length) frames.shift()();
  assert.deepEqual([...style], []);
});

test("nothing is scrolled where nothing has moved", () => {
  keepPlace({ getBoundingClientRect: () => ({ top: 7 }) }, () => {});
  keepPlace(null, () => {});
  assert.equal(scrolled, 0);
});

test("a short page is fetched as it opens, a longer one from where it begins", async () => {
  answers({ status: 200, text: "short" });
  assert.deepEqual(await stretch().anew(""), { text: "short" });
  assert.deepEqual(asked, ["/conversations/1/"]);
  document.sides = { earlier: {} };
  answers({ status: 200, text: "long" });
  assert.deepEqual(await stretch().anew(ID), { text: "long" });
  assert.deepEqual(asked, [`/conversations/1/?from=${ID}`]);
});

test("where the branch has no such place any more, the end of it is shown", async () => {
  document.sides = { later: {} };
  answers({ status: 204 }, { status: 200, text: "end" });
  const one = stretch();
  assert.equal(one.isCut, true);
  assert.deepEqual(await one.anew(ID), { text: "end" });
  assert.deepEqual(asked, [`/conversations/1/?from=${ID}`, "/conversations/1/"]);
  assert.deepEqual(told, []);
});

test("a conversation that is gone and a server that is away are told apart", async () => {
  document.sides = { earlier: {} };
  answers({ status: 404 });
  assert.equal(await stretch().anew(ID), null);
  assert.deepEqual(told, ["missing"]);
  assert.equal(asked.length, 1);
  answers({ status: 200, redirected: true });
  assert.equal(await stretch().anew(""), null);
  assert.deepEqual(told, ["missing"]);
  answers(new TypeError("offline"));
  assert.equal(await stretch().anew(""), null);
  assert.deepEqual(told, ["lost"]);
});
