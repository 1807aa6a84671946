// The feed comes back by itself and acknowledges in measure. Clock, chance and socket are told, so nothing waits.
import assert from "node:assert/strict";
import { test } from "node:test";

import { AWAY, MORE, TRANSPORTS, address } from "../../chat/static/chat/js/transports.js";
import { Feed, backoffMs } from "../../chat/static/chat/js/feed.js";

/** @param {string[]} names of the transports, each with a line that the test drives */
function stage(position = () => "3:7", names = ["socket"]) {
  const sockets = [];
  const timers = [];
  const seen = { frames: [], told: [], joined: 0, refused: 0 };
  const clock = { ms: 0 };
  const connect = (url, place) => {
    const socket = {
      url: address(url, place()), readyState: 0, sent: [], hurried: 0,
      send: (text) => socket.sent.push(text),
      hurry: () => socket.hurried++,
      close: () => (socket.readyState = 3),
      accept: () => ((socket.readyState = 1), socket.onopen()),
      end: (code) => ((socket.readyState = 3), socket.onclose({ code })),
    };
    sockets.push(socket);
    return socket;
  };
  const feed = new Feed({
    urls: { socket: "ws://host/ws/", events: "/events" },
    position,
    joining: () => seen.joined++,
    receive: (frame) => seen.frames.push(frame),
    tell: (status) => seen.told.push(status),
    refused: () => seen.refused++,
    transports: names.map((name) => ({
      ...TRANSPORTS.find((row) => row.name === name),
      connect,
    })),
    away: { ...AWAY, connect: (url, place) => connect(`${url}?poll=1`, place) },
    now: () => clock.ms,
    random: () => 1,
    after: (run, ms) => {
      const timer = { run, at: clock.ms + ms };
      timers.push(timer);
      return timer;
    },
    cancel: (timer) => {
      if (timers.includes(timer)) timers.splice(timers.indexOf(timer), 1);
    },
  });
  const pass = (ms) => {
    const until = clock.ms + ms;
    for (;;) {
      timers.sort((a, b) => a.at - b.at);
      if (!timers.length || timers[0].at > until) break;
      const timer = timers.shift();
      clock.ms = timer.at;
      timer.run();
    }
    clock.ms = until;
  };
  /** The newest line ends, and the next one is waited for; gives how long that took. */
  const fail = () => {
    const count = sockets.length;
    const begun = clock.ms;
    sockets.at(-1).end(1006);
    while (sockets.length === count) pass(1);
    return clock.ms - begun;
  };
  return { feed, sockets, seen, pass, timers, fail };
}

test("waits double up to fifteen seconds, and chance spreads them over half", () => {
  assert.deepEqual([0, 1, 2, 3, 4, 5, 50].map((n) => backoffMs(n, 1)), [500, 1000, 2000, 4000, 8000, 15000, 15000]);
  assert.deepEqual([0, 3].map((n) => backoffMs(n, 0)), [250, 2000]);
});

test("frames are handed on, those of an old socket are not", () => {
  const { feed, sockets, seen } = stage();
  feed.open();
  sockets[0].accept();
  sockets[0].onmessage({ data: '[3,8,"a"]' });
  feed.open(); // a gap: ask again from where the page stands
  sockets[0].onmessage({ data: '[3,9,"b"]' });
  assert.equal(seen.frames.length, 1);
  assert.deepEqual([sockets.length, sockets[0].readyState, seen.joined], [2, 3, 2]);
});

test("a lost connection comes back from the place that the page has reached", () => {
  let place = "3:7";
  const { feed, sockets, seen, pass } = stage(() => place);
  feed.open();
  sockets[0].accept();
  place = "3:9";
  sockets[0].end(1006);
  pass(499);
  assert.equal(sockets.length, 1);
  pass(1);
  assert.equal(sockets[1].url, "ws://host/ws/?after=3:9");
  sockets[1].accept();
  pass(60_000);
  assert.deepEqual(seen.told, ["open", "open"]); // so short a loss is not worth a note
});

test("a longer loss is told, and each wait is longer than the last", () => {
  const { feed, sockets, seen, pass } = stage();
  feed.open();
  sockets[0].accept();
  for (let i = 0; i < 4; i++) {
    sockets.at(-1).end(1006);
    pass(backoffMs(i, 1));
  }
  assert.equal(sockets.length, 5);
  assert.deepEqual(seen.told, ["open", "lost"]);
  sockets.at(-1).accept();
  pass(5000);
  sockets.at(-1).end(1006);
  pass(500); // it had been steady: the waits begin anew
  assert.equal(sockets.length, 6);
  assert.deepEqual(seen.told, ["open", "lost", "open"]);
});

for (const code of [4401, 4404]) {
  test(`a page that was sent away for good (${code}) does not come back`, () => {
    const { feed, sockets, seen, pass, timers } = stage();
    feed.open();
    sockets[0].accept();
    sockets[0].end(code);
    pass(60_000);
    assert.deepEqual([sockets.length, seen.told, timers.length], [1, ["open", "gone"], 0]);
  });
}

test("a connection that never came about is told: a refusal looks like a server that is away", () => {
  const { feed, sockets, seen, pass } = stage();
  feed.open();
  assert.equal(feed.lost, false); // not yet there is not lost
  sockets[0].accept();
  sockets[0].end(1006);
  assert.deepEqual([seen.refused, feed.lost], [0, true]);
  pass(500);
  sockets[1].end(1006);
  assert.deepEqual([seen.refused, feed.lost], [1, true]);
  pass(1000);
  sockets[2].accept();
  assert.deepEqual([seen.refused, feed.lost], [1, false]);
});

test("a page that is left asks no more, and a page that is looked at asks at once", () => {
  const { feed, sockets, pass } = stage();
  feed.open();
  sockets[0].accept();
  feed.hurry(); // connected: nothing to hurry
  sockets[0].end(1006);
  feed.hurry();
  assert.equal(sockets.length, 2);
  feed.close();
  sockets[1].onclose({ code: 1006 });
  pass(60_000);
  assert.equal(sockets.length, 2);
});

test("acknowledgements go at most once a second, and the last is never lost", () => {
  const { feed, sockets, pass } = stage();
  feed.open();
  sockets[0].accept();
  feed.ack(3, 1);
  feed.ack(3, 2);
  feed.ack(3, 3);
  assert.deepEqual(sockets[0].sent, ['{"ack":[3,1]}']);
  pass(999);
  feed.ack(3, 4);
  assert.equal(sockets[0].sent.length, 1);
  pass(1);
  assert.deepEqual(sockets[0].sent, ['{"ack":[3,1]}', '{"ack":[3,4]}']);
  pass(60_000);
  assert.equal(sockets[0].sent.length, 2);
});

test("nothing is acknowledged to a socket that did not send it", () => {
  const { feed, sockets, pass } = stage();
  feed.open();
  sockets[0].accept();
  feed.ack(3, 1);
  feed.ack(3, 2);
  sockets[0].end(1006);
  pass(500);
  sockets[1].accept();
  pass(5000);
  assert.deepEqual(sockets[1].sent, []);
});

// --- where one transport does not get through --------------------------------------------------------------------------
const ALL = ["socket", "events", "poll"];

test("two sockets that never open, and events are asked at once from the same place", () => {
  const { feed, sockets, seen, pass } = stage(() => "3:7", ALL);
  feed.open();
  sockets[0].end(1006);
  pass(500);
  sockets[1].end(1006);
  pass(0);
  assert.deepEqual(sockets.map((line) => line.url), ["ws://host/ws/?after=3:7", "ws://host/ws/?after=3:7", "/events?after=3:7"]);
  sockets[2].accept();
  sockets[2].onmessage({ data: '[3,8,"a"]' });
  assert.deepEqual([seen.frames.length, seen.told, seen.joined], [1, ["open"], 3]);
});

test("a socket that neither opens nor closes is a failed one", () => {
  const { feed, sockets, pass } = stage(() => null, ALL);
  feed.open();
  pass(5000 + 500 + 5000);
  assert.deepEqual([sockets.map((line) => line.url), sockets[0].readyState], [["ws://host/ws/", "ws://host/ws/", "/events"], 3]);
});

test("events that bring nothing for four seconds are given up for questions", () => {
  const { feed, sockets, seen, pass } = stage(() => "3:7", ALL);
  feed.open();
  sockets[0].end(1006);
  pass(500);
  sockets[1].end(1006);
  pass(3999);
  assert.equal(sockets.length, 3);
  pass(1);
  assert.deepEqual([sockets.length, sockets[2].readyState, feed.ladder.transport.name], [4, 3, "poll"]);
  sockets[3].accept();
  sockets[3].end(1006); // the server is away for a moment: still the transport that works
  pass(1000);
  assert.deepEqual([sockets.length, feed.ladder.transport.name, seen.told.at(-1)], [5, "poll", "lost"]);
});

test("where nothing gets through it begins again with the socket, ever more slowly", () => {
  const { feed, fail } = stage(() => null, ALL);
  feed.open();
  const tried = [];
  for (let i = 0; i < 7; i++) tried.push([feed.ladder.transport.name, fail()]);
  assert.deepEqual(tried, [
    ["socket", 500],
    ["socket", 1],
    ["events", 1],
    ["poll", 1000],
    ["poll", 2000],
    ["socket", 4000],
    ["socket", 8000],
  ]);
});

test("a socket that once worked is not given up for a few that fail", () => {
  const { feed, sockets, fail } = stage(() => null, ALL);
  feed.open();
  sockets[0].accept();
  const names = [];
  for (let i = 0; i < 8; i++) {
    fail();
    names.push(feed.ladder.transport.name);
  }
  assert.deepEqual(names, [...Array(6).fill("socket"), "events", "poll"]);
});

test("a browser that may not even make a socket goes on without", () => {
  const { feed, sockets, pass } = stage(() => null, ALL);
  feed.ladder.transports[0].connect = () => {
    throw new Error("insecure");
  };
  feed.open();
  pass(500);
  assert.deepEqual(sockets.map((line) => line.url), ["/events"]);
});

test("a response that has brought its share is followed by the next one, without a word", () => {
  let place = "3:7";
  const { feed, sockets, seen, pass } = stage(() => place, ["events"]);
  feed.open();
  sockets[0].accept();
  place = "3:900";
  sockets[0].end(MORE);
  assert.deepEqual([sockets.length, sockets[1].url], [2, "/events?after=3:900"]);
  sockets[1].accept();
  pass(60_000);
  assert.deepEqual([seen.told, seen.refused], [["open", "open"], 0]);
});

test("a page that nobody looks at asks now and then instead of holding a stream, and takes it up again", () => {
  let place = "3:7";
  const { feed, sockets, seen, pass } = stage(() => place, ["events"]);
  feed.open();
  sockets[0].accept();
  feed.rest();
  assert.deepEqual([sockets[0].readyState, sockets[1].url], [3, "/events?poll=1&after=3:7"]);
  sockets[1].accept();
  sockets[1].onmessage({ data: '[3,8,"a"]' });
  place = "3:8";
  assert.equal(seen.frames.length, 1);
  feed.rest(); // again: nothing new
  feed.hurry(); // a reply begins, or the machine is online: still nobody looks
  assert.deepEqual([sockets.length, sockets[1].hurried], [2, 1]);
  feed.wake();
  sockets[2].accept();
  assert.deepEqual([sockets.length, sockets[1].readyState, sockets[2].url], [3, 3, "/events?after=3:8"]);
  assert.deepEqual(seen.told, ["open", "open", "open"]);
  sockets[2].end(1006);
  feed.rest(); // while it waits for its next attempt
  assert.equal(sockets.length, 3);
  pass(500);
  assert.equal(sockets[3].url, "/events?poll=1&after=3:8");
  feed.close();
  feed.rest();
  feed.wake();
  pass(60_000);
  assert.equal(sockets.length, 4);
});

test("what fails while nobody looks says nothing of the transport", () => {
  const { feed, sockets, seen, pass } = stage(() => "3:7", ["events", "poll"]);
  feed.open();
  feed.rest();
  for (let i = 0; i < 4; i++) {
    sockets.at(-1).end(1006);
    pass(backoffMs(i, 1));
  }
  assert.deepEqual([sockets.length, feed.ladder.transport.name, seen.told], [6, "events", ["lost"]]);
  sockets.at(-1).accept();
  feed.wake();
  sockets.at(-1).end(1006); // it has never opened: questions did
  pass(0);
  assert.equal(feed.ladder.transport.name, "poll");
});

test("a socket is kept, whoever looks", () => {
  const { feed, sockets } = stage();
  feed.open();
  sockets[0].accept();
  feed.rest();
  assert.equal(sockets[0].readyState, 1);
});

test("a line that can look sooner is told to", () => {
  const { feed, sockets } = stage(() => null, ["poll"]);
  feed.open();
  sockets[0].accept();
  feed.hurry();
  assert.deepEqual([sockets.length, sockets[0].hurried], [1, 1]);
});
