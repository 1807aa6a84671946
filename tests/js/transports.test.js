// Events and questions as lines: what proves them, what ends them. Sources, answers and the clock are told.
import assert from "node:assert/strict";
import { test } from "node:test";

import { AWAY, EventsLine, Ladder, MORE, PollLine, TRANSPORTS, address } from "../../chat/static/chat/js/transports.js";

test("the cursor stands in the address, behind whatever stands there", () => {
  assert.equal(address("ws://host/ws/", "3:7"), "ws://host/ws/?after=3:7");
  assert.equal(address("/events?poll=1", "3:7"), "/events?poll=1&after=3:7");
  assert.equal(address("/events?poll=1", null), "/events?poll=1");
});

test("the table goes from what carries most to what gets through everywhere", () => {
  assert.deepEqual(TRANSPORTS.map(({ name, at, strikes, rests }) => [name, at, strikes, rests]), [
    ["socket", "socket", 2, false],
    ["events", "events", 1, true],
    ["poll", "events", 2, true],
  ]);
});

test("each failure counts only until something opens", () => {
  const ladder = new Ladder(TRANSPORTS);
  assert.deepEqual([ladder.failed(), ladder.failed(), ladder.transport.name], [false, true, "events"]);
  ladder.opened();
  assert.deepEqual(Array.from({ length: 6 }, () => ladder.failed()), [false, false, false, false, false, true]);
  assert.deepEqual([ladder.transport.name, ladder.cameRound], ["poll", false]);
  assert.deepEqual([ladder.failed(), ladder.failed()], [false, true]);
  assert.deepEqual([ladder.transport.name, ladder.cameRound], ["socket", true]);
  ladder.opened();
  assert.equal(ladder.cameRound, false);
});

// --- events --------------------------------------------------------------------------------------------------------------
function events() {
  const source = { listeners: {}, closed: false };
  source.addEventListener = (name, run) => (source.listeners[name] = run);
  source.close = () => (source.closed = true);
  const say = (name, data) => source.listeners[name](data === undefined ? {} : { data });
  const line = new EventsLine("/events", (url) => Object.assign(source, { url }));
  return { line, source, say, told: listen(line) };
}

function listen(line) {
  const told = [];
  line.onopen = () => told.push("open");
  line.onmessage = ({ data }) => told.push(data);
  line.onclose = ({ code }) => told.push(code);
  return told;
}

test("a stream is open when it has brought something", () => {
  const { line, say, told } = events();
  assert.equal(line.readyState, 0);
  say("message", "[1,1,\"a\"]");
  say("message", "[1,2,\"b\"]");
  assert.deepEqual([line.readyState, told], [1, ["open", '[1,1,"a"]', '[1,2,"b"]']]);
});

test("where nothing is being written, the end is what it brings", () => {
  const { line, say, told } = events();
  say("end", '{"cursor": "3:0"}');
  say("end", '{"cursor": "4:0"}');
  assert.deepEqual([line.readyState, told], [1, ["open"]]);
});

for (const [data, code] of [
  [undefined, 1006],
  ['{"reason": "gone"}', 4404],
  ['{"reason": "signed_out"}', 4401],
  ['{"reason": "draining"}', 1001],
  ['{"reason": "failed"}', 1011],
  ['{"reason": "news"}', 1006],
]) {
  test(`an error ends it as a socket would (${data} is ${code}), once`, () => {
    const { line, source, say, told } = events();
    say("error", data);
    say("error");
    assert.deepEqual([line.readyState, source.closed, told], [3, true, [code]]);
  });
}

test("a share that is full ends it too", () => {
  const { say, source, told } = events();
  say("end", "{}");
  say("more", "{}");
  assert.deepEqual([source.closed, told], [true, ["open", MORE]]);
});

test("a stream that was closed says nothing more", () => {
  const { line, say, told } = events();
  line.close();
  say("message", "[1,1,\"a\"]");
  say("error");
  assert.deepEqual(told, []);
});

// --- questions -----------------------------------------------------------------------------------------------------------
const settle = () => new Promise((resolve) => setImmediate(resolve));

function questions(position = () => null, pace = {}) {
  const asked = [];
  const timers = [];
  const ask = (url, { signal }) =>
    new Promise((resolve, reject) => {
      signal.addEventListener("abort", () => reject(new Error("aborted")));
      asked.push({ url, resolve, reject });
    });
  const line = new PollLine("/events?poll=1", position, {
    ...pace,
    ask,
    after: (run, ms) => timers.push({ run, ms }) && timers.at(-1),
    cancel: (timer) => timers.includes(timer) && timers.splice(timers.indexOf(timer), 1),
  });
  const answer = async (value, response = {}) => {
    asked.at(-1).resolve({ ok: true, status: 200, redirected: false, json: async () => value, ...response });
    await settle();
  };
  const ring = () => timers.splice(0).forEach(({ run }) => run());
  return { line, asked, timers, answer, ring, told: listen(line) };
}

test("the next question names where the page stands, else where the server says it does", async () => {
  let place = null;
  const { line, asked, timers, answer, ring, told } = questions(() => place);
  await answer({ frames: [], cursor: "2:0", end: true });
  assert.deepEqual([line.readyState, told, timers.map(({ ms }) => ms)], [1, ["open"], [4000]]);
  ring();
  await answer({ frames: [{ type: "turn" }, [2, 1, "a"]], cursor: "2:1", end: false });
  place = "2:1";
  assert.deepEqual([told.slice(1), timers.map(({ ms }) => ms)], [['{"type":"turn"}', '[2,1,"a"]'], [600]]);
  ring();
  place = "2:3";
  await answer({ frames: [], cursor: "2:1", end: false });
  ring();
  assert.deepEqual(asked.map(({ url }) => url), [
    "/events?poll=1",
    "/events?poll=1&after=2:0",
    "/events?poll=1&after=2:1",
    "/events?poll=1&after=2:3",
  ]);
});

for (const [response, code] of [
  [{ redirected: true }, 4401],
  [{ ok: false, status: 404 }, 4404],
  [{ ok: false, status: 503 }, 1006],
  [{ json: () => Promise.reject(new SyntaxError("no JSON")) }, 1006],
]) {
  test(`an answer that is none ends it as a socket would (${Object.keys(response)}: ${code})`, async () => {
    const { line, timers, answer, told } = questions();
    await answer({}, response);
    assert.deepEqual([line.readyState, told, timers], [3, [code], []]);
  });
}

test("no network and no answer are the same", async () => {
  const one = questions();
  one.asked[0].reject(new TypeError("offline"));
  await settle();
  assert.deepEqual(one.told, [1006]);
  const other = questions();
  assert.deepEqual(other.timers.map(({ ms }) => ms), [10_000]);
  other.ring();
  await settle();
  assert.deepEqual(other.told, [1006]);
});

test("a page that nobody looks at asks seldom, more often while a reply is written", async () => {
  const { line, timers, answer, ring } = questions(() => null, { runningMs: 3000, idleMs: 30_000 });
  await answer({ frames: [], cursor: "2:0", end: true });
  assert.deepEqual([line.readyState, timers.map(({ ms }) => ms)], [1, [30_000]]);
  ring();
  await answer({ frames: [], cursor: "2:1", end: false });
  assert.deepEqual(timers.map(({ ms }) => ms), [3000]);
  assert.deepEqual([AWAY.at, AWAY.rests], ["events", false]);
});

test("told to hurry, it asks now, or at once after the answer that is on its way", async () => {
  const { line, asked, timers, answer, ring } = questions();
  line.hurry();
  assert.equal(asked.length, 1);
  await answer({ frames: [], cursor: "2:0", end: true });
  assert.deepEqual(timers.map(({ ms }) => ms), [0]);
  ring();
  await answer({ frames: [], cursor: "2:0", end: true });
  line.hurry();
  assert.deepEqual([asked.length, timers.map(({ ms }) => ms)], [3, [10_000]]);
});

test("closed, it asks no more and says nothing more, in the middle of an answer too", async () => {
  const { line, timers, answer, told } = questions();
  line.onmessage = ({ data }) => {
    told.push(data);
    line.close(); // a gap
  };
  await answer({ frames: [[2, 1, "a"], [2, 2, "b"]], cursor: "2:2", end: false });
  assert.deepEqual([told, timers], [["open", '[2,1,"a"]'], []]);
  const other = questions();
  other.line.close();
  await settle();
  assert.deepEqual([other.told, other.timers], [[], []]);
});
