// The feed comes back by itself and acknowledges in measure. Clock, chance and socket are told, so nothing waits.
import assert from "node:assert/strict";
import { test } from "node:test";

import { Feed, address, backoffMs } from "../../chat/static/chat/js/feed.js";

function stage(position = () => "3:7") {
  const sockets = [];
  const timers = [];
  const seen = { frames: [], told: [], joined: 0, refused: 0 };
  const clock = { ms: 0 };
  const feed = new Feed({
    url: "ws://host/ws/",
    position,
    joining: () => seen.joined++,
    receive: (frame) => seen.frames.push(frame),
    tell: (status) => seen.told.push(status),
    refused: () => seen.refused++,
    connect: (url) => {
      const socket = {
        url, readyState: 0, sent: [],
        send: (text) => socket.sent.push(text),
        close: () => (socket.readyState = 3),
        accept: () => ((socket.readyState = 1), socket.onopen()),
        end: (code) => ((socket.readyState = 3), socket.onclose({ code })),
      };
      sockets.push(socket);
      return socket;
    },
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
  return { feed, sockets, seen, pass, timers };
}

test("the cursor stands in the address", () => {
  assert.equal(address("ws://host/ws/", "3:7"), "ws://host/ws/?after=3:7");
  assert.equal(address("ws://host/ws/", null), "ws://host/ws/");
});

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
