"""A provider that plays scripts over real sockets: some HTTP, chat completions, and every way to end badly.

Takes scripts (`script.py`), gives bytes on loopback, and a record of each request: what came, what was sent
when, and when the peer went. Raw asyncio, no HTTP library, so that nothing tidies up what a test wants
broken. In a test it runs on a thread and loop of its own (`with ScriptedProvider() as provider`); as a
process (`python -m tests.fakes.provider`) the user's words choose the story, `GET /requests` hands out the records, and
`GET /go` lets the held replies go on. All times are `time.monotonic()`, which on one machine is the same clock in every
process. Knows nothing of the product.
"""

import argparse
import asyncio
import json
import signal
import socket
import struct
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any, Self, cast

from tests.fakes.script import MODEL, Cut, End, Held, Paced, Reset, Script, Stall, Until, Wait, chunk, page
from tests.fakes.stories import story

CHAT = "/v1/chat/completions"
PHRASES = {200: "OK", 401: "Unauthorized", 404: "Not Found", 429: "Too Many Requests"}


@dataclass(slots=True)
class Record:
    """One request as it was seen. A time is None until it happened."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    connected_at: float
    received_at: float
    head_sent_at: float | None = None
    bytes_sent: int = 0
    paced_at: list[float] = field(default_factory=list)
    """When each piece of a `Paced` or `Held` step was sent."""
    finished_at: float | None = None
    """When the script had been played to its end."""
    peer_closed_at: float | None = None
    """When the peer closed or reset, before or after the script's end."""

    @property
    def json(self) -> Any:
        """The body as JSON, or None where there is none."""
        return json.loads(self.body) if self.body else None

    @property
    def user_text(self) -> str:
        """The text of the last user message, wherever the wire put it."""
        for message in reversed((self.json or {}).get("messages", [])):
            if message["role"] == "user":
                content = message["content"]
                if isinstance(content, str):
                    return content
                return "".join(part.get("text", "") for part in content)
        return ""


class Book:
    """The records of a provider and the scripts that are still to be played; other threads may wait on it."""

    def __init__(self) -> None:
        self.requests: list[Record] = []
        self.script: Script | None = None
        self.queue: deque[Script] = deque()
        self.choose: Callable[[Record], Script] = self._by_words
        self.per_second: float = 100
        self.told = 0
        """How often the replies that were held have been let go on."""
        self._asked: Counter[str] = Counter()
        self._changed = threading.Condition()

    def _by_words(self, record: Record) -> Script:
        text = record.user_text
        self._asked[text] += 1
        return story(text, asked_before=self._asked[text] - 1, per_second=self.per_second)

    def take(self, record: Record) -> Script:
        """The script for this request: the queue first, then the one script for all, then the chooser."""
        if record.method == "GET":
            return self._get(record.path)
        if record.path != CHAT:
            return page(b'{"error":{"message":"no such path","type":"not_found"}}', status=404)
        self.requests.append(record)
        if self.queue:
            return self.queue.popleft()
        return self.script or self.choose(record)

    def _get(self, path: str) -> Script:
        match path:
            case "/v1/models":
                models = [{"id": MODEL, "object": "model", "created": 1750000000, "owned_by": "tests"}]
                return page(json.dumps({"object": "list", "data": models}).encode())
            case "/go":
                self.told += 1
                return page(b"{}")
            case "/requests":
                return page(json.dumps([_plain(record) for record in self.requests]).encode())
            case _:
                return page(b'{"error":{"message":"no such path","type":"not_found"}}', status=404)

    def changed(self) -> None:
        """Wake whoever waits."""
        with self._changed:
            self._changed.notify_all()

    def wait_until(self, holds: Callable[[list[Record]], Any], *, timeout_s: float = 5) -> list[Record]:
        """Block until `holds(requests)` and return the requests; TimeoutError shows what was seen instead."""
        with self._changed:
            if not self._changed.wait_for(lambda: holds(self.requests), timeout_s):
                seen = [_plain(record) for record in self.requests]
                raise TimeoutError(f"not seen within {timeout_s} s; requests: {seen}")
        return self.requests


def _plain(record: Record) -> dict[str, Any]:
    return {**asdict(record), "body": record.body.decode(errors="replace"), "user_text": record.user_text}


class _Connection(asyncio.Protocol):
    """One accepted connection: requests in, scripts out, one after the other."""

    transport: asyncio.Transport

    def __init__(self, book: Book, live: set[asyncio.Transport]) -> None:
        self.book, self.live = book, live
        self.buffer = b""
        self.connected_at = time.monotonic()
        self.record: Record | None = None
        self.playing: asyncio.Task[None] | None = None
        self.closed_by_us = False
        self.writable = asyncio.Event()
        self.writable.set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports inherit from nothing, so an isinstance check would refuse them.
        self.transport = cast("asyncio.Transport", transport)
        self.live.add(self.transport)

    def pause_writing(self) -> None:
        self.writable.clear()

    def resume_writing(self) -> None:
        self.writable.set()

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        if self.playing is None:
            self._next_request()

    def eof_received(self) -> None:
        self._peer_gone()

    def connection_lost(self, exc: Exception | None) -> None:
        self.live.discard(self.transport)
        if not self.closed_by_us:
            self._peer_gone()

    def _peer_gone(self) -> None:
        if self.record is not None and self.record.peer_closed_at is None:
            self.record.peer_closed_at = time.monotonic()
        self.writable.set()
        if self.playing is not None:
            self.playing.cancel()
        self.book.changed()

    def _next_request(self) -> None:
        head, border, rest = self.buffer.partition(b"\r\n\r\n")
        if not border:
            return
        lines = head.decode("latin-1").split("\r\n")
        method, path, _ = lines[0].split(" ", 2)
        fields = (line.partition(":") for line in lines[1:])
        headers = {name.lower(): value.strip() for name, _, value in fields}
        length = int(headers.get("content-length", 0))
        if len(rest) < length:
            return
        self.buffer = rest[length:]
        self.record = Record(method, path, headers, rest[:length], self.connected_at, time.monotonic())
        script = self.book.take(self.record)
        self.playing = asyncio.get_running_loop().create_task(self._play(self.record, script))
        self.book.changed()

    async def _play(self, record: Record, script: Script) -> None:
        with suppress(asyncio.CancelledError):
            if script.hold_ms:
                await _pause(script.hold_ms)
            self._send_head(record, script)
            for step in (*script.steps, End()):
                await self._step(record, script, step)
                if isinstance(step, End | Cut | Reset):
                    break
            record.finished_at = time.monotonic()
        self.playing = None
        self.book.changed()
        if self.buffer and not self.transport.is_closing():
            self._next_request()

    def _send_head(self, record: Record, script: Script) -> None:
        framing = "Transfer-Encoding: chunked" if script.framing == "chunked" else "Connection: close"
        fields = "".join(f"{name}: {value}\r\n" for name, value in script.headers.items())
        status = f"HTTP/1.1 {script.status} {PHRASES.get(script.status, 'Scripted')}"
        told = f"{status}\r\n{fields}{framing}\r\n\r\n".encode("latin-1")
        self.transport.write(told if script.head is None else script.head)
        record.head_sent_at = time.monotonic()
        self.book.changed()

    def _write(self, record: Record, script: Script, data: bytes) -> None:
        if self.transport.is_closing() or not data:
            return
        self.transport.write(b"%x\r\n%s\r\n" % (len(data), data) if script.framing == "chunked" else data)
        record.bytes_sent += len(data)

    async def _step(self, record: Record, script: Script, step: object) -> None:
        match step:
            case bytes():
                await self.writable.wait()
                self._write(record, script, step)
            case Wait(ms):
                await _pause(ms)
            case Paced():
                await self._pace(record, script, step)
            case End():
                if script.framing == "chunked":
                    self.transport.write(b"0\r\n\r\n")
                else:
                    self._close()
            case Cut():
                self._close()
            case Reset():
                # Linger of zero seconds turns the close into RST.
                self.transport.get_extra_info("socket").setsockopt(
                    socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
                )
                self.closed_by_us = True
                self.transport.abort()
            case Stall():
                await _pause(float("inf"))
            case Until(told):
                while not told.is_set():
                    await _pause(5)
            case Held():
                await self._hold(record, script, step)
            case _:
                raise TypeError(f"not a step: {step!r}")

    def _close(self) -> None:
        self.closed_by_us = True
        self.transport.close()

    async def _hold(self, record: Record, script: Script, step: Held) -> None:
        told = self.book.told
        while self.book.told == told and not self.transport.is_closing():
            record.paced_at.append(time.monotonic())
            self._write(record, script, chunk({step.lane: f"w{len(record.paced_at)} "}))
            await _pause(step.ms)

    async def _pace(self, record: Record, script: Script, step: Paced) -> None:
        """One write per due time, from timers: a task that sleeps per piece costs a bench twice as much."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        start, every = loop.time(), 1 / step.per_second
        waiting = iter(step.pieces)

        def send(n: int) -> None:
            if done.done():
                return
            piece = next(waiting, None)
            if piece is None or self.transport.is_closing():
                done.set_result(None)
                return
            record.paced_at.append(time.monotonic())
            self._write(record, script, piece)
            loop.call_at(start + (n + 1) * every, send, n + 1)

        send(0)
        await done


async def _pause(ms: float) -> None:
    """Wait; `inf` waits until cancelled by the peer's going."""
    if ms == float("inf"):
        await asyncio.get_running_loop().create_future()
    await asyncio.sleep(ms / 1000)


async def listen(book: Book, port: int) -> tuple[asyncio.Server, set[asyncio.Transport]]:
    """Start to accept on loopback; gives the server and the live connections."""
    live: set[asyncio.Transport] = set()
    server = await asyncio.get_running_loop().create_server(
        lambda: _Connection(book, live), "127.0.0.1", port, backlog=1024
    )
    return server, live


class ScriptedProvider(Book):
    """The provider inside a test, as a context manager.

    One script is played for every request; several are played one after the other, one a request; none leaves
    the choice to `choose`, which reads the user's words unless a test sets another.
    """

    def __init__(self, script: Script | None = None, *scripts: Script) -> None:
        super().__init__()
        if script is not None and scripts:
            self.queue.extend((script, *scripts))
        else:
            self.script = script
        self.port = 0
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._main, name="scripted-provider", daemon=True)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None

    @property
    def base_url(self) -> str:
        """What a client takes as its base address."""
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(5), "the scripted provider did not start within 5 s"
        return self

    def __exit__(self, *exc: object) -> None:
        assert self._loop is not None
        assert self._stop is not None
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(5)

    def _main(self) -> None:
        asyncio.run(self._run())

    async def _run(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        server, live = await listen(self, 0)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        for transport in list(live):
            transport.abort()
        await asyncio.sleep(0)


async def _serve(port: int, per_second: float) -> None:
    book = Book()
    book.per_second = per_second
    server, _ = await listen(book, port)
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    bound = server.sockets[0].getsockname()[1]
    sys.stdout.write(json.dumps({"port": bound, "base_url": f"http://127.0.0.1:{bound}/v1"}) + "\n")
    sys.stdout.flush()
    await stop.wait()
    server.close()


def main() -> None:
    """Run as a process; the first line of output is JSON with the port."""
    parser = argparse.ArgumentParser(description="A provider; words in the user's message choose its story.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--rate", type=float, default=100, help="words per second of the ordinary answer")
    options = parser.parse_args()
    try:
        import uvloop
    except ImportError:
        asyncio.run(_serve(options.port, options.rate))
    else:
        uvloop.run(_serve(options.port, options.rate))


if __name__ == "__main__":
    main()
