"""What reading streams off the network costs: `python bench/upstream.py [--streams 200] [--seconds 8] [--runs 3] [--json]`.

Starts a server process that sends 50 events a second to each of many streams, each event with the time at which it
was due, and one client process after another that reads all of them at once: a raw asyncio protocol that does not even
look at HTTP's framing (the raw reader that the promise was taken from), a raw reader over asyncio's streams that does,
the product's `Upstream`, the same with the pipeline behind it, stock httpx, and the openai SDK. Prints CPU per event in
the client, its ratios, and the delay that the client added. Only the ratios of one run mean something. Needs
`requirements/outside.txt` for the SDK.
"""

import argparse
import asyncio
import contextlib
import gc
import importlib
import json
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, cast

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import httpx  # noqa: E402
import uvloop  # noqa: E402

from chat.providers import WIRES  # noqa: E402
from chat.providers.base import UpstreamRequest  # noqa: E402
from chat.providers.profiles import profile  # noqa: E402
from chat.streaming.pipeline import Pipeline  # noqa: E402
from chat.upstream import Upstream  # noqa: E402

RATE = 50
MARK = b'"due_ns":'
DIGITS = 19
REQUEST_BODY = b'{"model":"m","stream":true,"messages":[{"role":"user","content":"x"}]}'
MOST_TIMES_RAW = 1.6
MOST_OF_SDK = 0.4
MOST_P99_MS = 50.0


# --- the server ---------------------------------------------------------------------------------------------------
class Served(asyncio.Protocol):
    """One stream: chat chunks as wide as the real ones, each an HTTP chunk of its own."""

    transport: asyncio.Transport

    def __init__(self, seconds: float) -> None:
        self.events, self.sent, self.buffer = int(RATE * seconds), 0, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        if self.buffer.endswith(b"}"):
            head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
            self.transport.write(head)
            self.loop = asyncio.get_running_loop()
            # Spread over one interval, as strangers' replies are.
            self.start = self.loop.time() + 0.5 + (id(self) % 997) / 997 / RATE
            self.loop.call_at(self.start, self.send)

    def send(self) -> None:
        """Send what is due and come again; the time is that of the plan, so that lag cannot hide."""
        if self.transport.is_closing():
            return
        if self.sent == self.events:
            finish = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
            self.transport.write(b"%x\r\n%s\r\n0\r\n\r\n" % (len(finish), finish))
            return
        due_ns = time.time_ns() - int((self.loop.time() - self.start - self.sent / RATE) * 1e9)
        event = (
            b'data: {"id":"chatcmpl-Bench0123456789abcdefghijklm","object":"chat.completion.chunk","created":1760000000,'
            b'"model":"gpt-5.4-mini-2026-03-17","service_tier":"default","system_fingerprint":null,%s%019d,"choices":'
            b'[{"index":0,"delta":{"content":" word"},"logprobs":null,"finish_reason":null}]}\n\n'
            % (MARK, due_ns)
        )
        self.transport.write(b"%x\r\n%s\r\n" % (len(event), event))
        self.sent += 1
        self.loop.call_at(self.start + self.sent / RATE, self.send)


async def serve(seconds: float) -> None:
    """Serve on a free port, printed first, until ended."""
    server = await asyncio.get_running_loop().create_server(
        lambda: Served(seconds), "127.0.0.1", 0, backlog=1024
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


# --- the clients: each reads one stream and notes how late each event was ------------------------------------------
class Clock:
    """Notes delays."""

    def __init__(self) -> None:
        self.late_ms: list[float] = []

    def note(self, due_ns: int) -> None:
        self.late_ms.append((time.time_ns() - due_ns) / 1e6)


class Events:
    """Parts one stream's bytes into events and finds the due time in each: every client but the SDK pays the same."""

    def __init__(self, clock: Clock) -> None:
        self.clock, self.rest = clock, b""

    def read(self, chunk: bytes) -> None:
        text = self.rest + chunk
        at = 0
        while (end := text.find(b"\n\n", at)) >= 0:
            mark = text.find(MARK, at, end)
            if mark >= 0:
                self.clock.note(int(text[mark + len(MARK) : mark + len(MARK) + DIGITS]))
            at = end + 2
        self.rest = text[at:]


def _raw_request() -> bytes:
    head = b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n"
    return head % len(REQUEST_BODY) + REQUEST_BODY


One = Callable[[], Awaitable[None]]


class RawStream(asyncio.Protocol):
    """The floor: bytes off a socket, the chunked framing not even looked at."""

    def __init__(self, clock: Clock) -> None:
        self.events = Events(clock)
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self.transport.write(_raw_request())

    def data_received(self, data: bytes) -> None:
        self.events.read(data)
        if data.endswith(b"0\r\n\r\n"):
            self.transport.close()
            self.done.set_result(None)


@contextlib.asynccontextmanager
async def raw(port: int, clock: Clock) -> AsyncIterator[One]:
    """The floor."""

    async def one() -> None:
        loop = asyncio.get_running_loop()
        _, stream = await loop.create_connection(lambda: RawStream(clock), "127.0.0.1", port)
        await stream.done

    yield one


@contextlib.asynccontextmanager
async def raw_streams(port: int, clock: Clock) -> AsyncIterator[One]:
    """The cheapest reader that waits for its bytes, as every client with an `async for` does, and reads HTTP's framing."""

    async def one() -> None:
        events = Events(clock)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(_raw_request())
        await reader.readuntil(b"\r\n\r\n")
        while size := int(await reader.readline(), 16):
            chunk = await reader.readexactly(size + 2)
            events.read(chunk[:-2])
        writer.close()

    yield one


def _request(port: int) -> UpstreamRequest:
    url = f"http://127.0.0.1:{port}/v1/chat/completions"
    return UpstreamRequest("POST", url, {"content-type": "application/json"}, REQUEST_BODY)


@contextlib.asynccontextmanager
async def ours(port: int, clock: Clock) -> AsyncIterator[One]:
    """The product's way out."""
    upstream = Upstream(connect_timeout_s=10, idle_timeout_s=60)

    async def one() -> None:
        events = Events(clock)
        async with upstream.open(_request(port)) as response:
            async for chunk in response.chunks():
                events.read(chunk)

    yield one
    await upstream.aclose()


@contextlib.asynccontextmanager
async def ours_read(port: int, clock: Clock) -> AsyncIterator[One]:
    """The same, and everything that is made of the bytes."""
    upstream = Upstream(connect_timeout_s=10, idle_timeout_s=60)
    wire = WIRES["openai_chat"]

    async def one() -> None:
        events = Events(clock)
        pipeline = Pipeline(wire.reader(profile(None)), framing=wire.framing)
        async with upstream.open(_request(port)) as response:
            async for chunk in response.chunks():
                pipeline.feed(chunk)
                events.read(chunk)
        pipeline.close("eof")
        if not pipeline.reading().confirmable:
            raise ValueError(f"expected a whole reply, got {pipeline.reading().reason}")

    yield one
    await upstream.aclose()


@contextlib.asynccontextmanager
async def stock_httpx(port: int, clock: Clock) -> AsyncIterator[One]:
    """httpx as it comes, with its own transport."""
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(limits=limits, timeout=60, trust_env=False) as client:

        async def one() -> None:
            request, events = _request(port), Events(clock)
            async with client.stream("POST", request.url, content=request.body) as response:
                async for chunk in response.aiter_raw():
                    events.read(chunk)

        yield one


@contextlib.asynccontextmanager
async def openai_sdk(port: int, clock: Clock) -> AsyncIterator[One]:
    """The official asynchronous client, its pool without a ceiling."""
    openai = importlib.import_module("openai")
    base = importlib.import_module(openai.DefaultAsyncHttpxClient.__mro__[1].__module__.split(".")[0])
    transport = openai.DefaultAsyncHttpxClient(limits=base.Limits(max_connections=None))
    client = openai.AsyncOpenAI(api_key="x", base_url=f"http://127.0.0.1:{port}/v1", http_client=transport)
    messages = [{"role": "user", "content": "x"}]

    async def one() -> None:
        async for chunk in await client.chat.completions.create(model="m", messages=messages, stream=True):
            if due_ns := getattr(chunk, "due_ns", None):
                clock.note(due_ns)

    yield one
    await client.close()


CLIENTS: dict[str, Any] = {
    "raw protocol": raw,
    "raw streams": raw_streams,
    "Upstream": ours,
    "Upstream + pipeline": ours_read,
    "httpx": stock_httpx,
    "openai SDK": openai_sdk,
}


FLOORS = ("raw protocol", "raw streams")
"""What the way out is measured by; neither figure stands without the other."""
LOOPS: dict[str, Any] = {"uvloop": uvloop.run, "asyncio": asyncio.run}


async def read_all(name: str, port: int, streams: int) -> dict[str, float]:
    """Read that many streams at once; the CPU is that of this whole process from the first connection on."""
    clock = Clock()
    # Of every client what the product's server does before it serves.
    gc.freeze()
    gc.set_threshold(50_000, 50, 100)
    async with CLIENTS[name](port, clock) as one:
        before = time.process_time()
        await asyncio.gather(*(one() for _ in range(streams)))
        spent = time.process_time() - before
    late = sorted(clock.late_ms)
    return {
        "events": len(late),
        "us_per_event": spent / len(late) * 1e6,
        "p50_ms": statistics.median(late),
        "p99_ms": late[int(len(late) * 0.99)],
    }


# --- the parent ---------------------------------------------------------------------------------------------------
@contextlib.contextmanager
def child(*words: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen([sys.executable, __file__, *words], stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(10)


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        raise RuntimeError("a child process ended before it said anything")
    return line


def measure(
    streams: int, seconds: float, runs: int, names: list[str], loop: str
) -> dict[str, dict[str, float]]:
    """Medians over the runs, the clients by turns."""
    found: dict[str, list[dict[str, float]]] = {name: [] for name in names}
    with child("--serve", "--seconds", str(seconds)) as server:
        port = first_line(server).strip()
        for _ in range(runs):
            for name in names:
                with child(
                    "--client", name, "--port", port, "--streams", str(streams), "--loop", loop
                ) as client:
                    found[name].append(json.loads(first_line(client)))
    return {
        name: {key: statistics.median(one[key] for one in ones) for key in ones[0]}
        for name, ones in found.items()
    }


def verdicts(found: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """Each promise: what was measured and the most that it may be."""
    promises = {}
    mine = found["Upstream"]
    for name in FLOORS:
        ratio = mine["us_per_event"] / found[name]["us_per_event"]
        promises[f"Upstream / {name}"] = {"measured": ratio, "most": MOST_TIMES_RAW}
    promises["p99 ms of Upstream + pipeline"] = {
        "measured": found["Upstream + pipeline"]["p99_ms"],
        "most": MOST_P99_MS,
    }
    if sdk := found.get("openai SDK"):
        whole = found["Upstream + pipeline"]["us_per_event"]
        promises["Upstream + pipeline / openai SDK"] = {
            "measured": whole / sdk["us_per_event"],
            "most": MOST_OF_SDK,
        }
    return promises


def report(found: dict[str, dict[str, float]]) -> str:
    """The figures as tables for a person."""
    base = found["raw protocol"]["us_per_event"]
    lines = [
        "| client | us per event | x raw | p50 ms | p99 ms | events |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, one in found.items():
        spent = one["us_per_event"]
        lines.append(
            f"| {name} | {spent:.1f} | {spent / base:.2f} | {one['p50_ms']:.2f} | {one['p99_ms']:.2f} | "
            f"{one['events']:.0f} |"
        )
    lines += ["", "| promise | measured | at most | |", "| --- | --- | --- | --- |"]
    for name, one in verdicts(found).items():
        kept = "kept" if one["measured"] <= one["most"] else "MISSED"
        lines.append(f"| {name} | {one['measured']:.2f} | {one['most']:g} | {kept} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description="What reading streams off the network costs.")
    parser.add_argument("--streams", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument(
        "--loop", choices=LOOPS, default="uvloop", help="of all clients; the product's is uvloop"
    )
    parser.add_argument(
        "--only", action="append", choices=CLIENTS, help="leave out the others but the needed ones"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--client", help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        # A slow server bunches its events, and every reader looks cheaper than it is, the floor most of all.
        uvloop.run(serve(options.seconds))
    elif options.client:
        run = LOOPS[options.loop]
        print(json.dumps(run(read_all(options.client, options.port, options.streams))), flush=True)
    else:
        needed = {*FLOORS, "Upstream", "Upstream + pipeline"}
        names = [name for name in CLIENTS if not options.only or name in needed or name in options.only]
        found = measure(options.streams, options.seconds, options.runs, names, options.loop)
        print(json.dumps({"clients": found, "promises": verdicts(found)}) if options.json else report(found))


if __name__ == "__main__":
    main()
