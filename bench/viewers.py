"""The browsers of a bench: raw WebSocket clients in one process, told what to do by JSON lines.

Takes `{"do": "open" | "ask" | "finals" | "collect" | "close", …}` on standard input, answers one JSON line each. A
viewer keeps what a page would know (handle, sequence, characters so far), when each frame arrived and how large it
was, and acknowledges once a second as the page does. It costs little on purpose, so that the server under test has a
core for itself.
"""

import asyncio
import base64
import json
import os
import sys
import time
from typing import Any, cast
from urllib.parse import urlencode

HOST = "127.0.0.1"
TOKEN = "b" * 32
"""Any token will do for CSRF as long as the cookie and the form carry the same."""


class Viewer(asyncio.Protocol):
    """One socket: frames of under 64 KiB, unmasked, whole (RFC 6455, section 5.2)."""

    transport: asyncio.Transport

    def __init__(self, opening: bytes, *, upgrades: bool) -> None:
        self.opening, self.upgrades = opening, upgrades
        self.buffer = b""
        self.up: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.handle = self.seq = self.acknowledged = self.chars = 0
        self.arrivals: list[tuple[float, int, int]] = []
        """Time, characters of the answer so far, bytes of the frame with its header."""
        self.state = ""
        self.states: dict[str, int] = {}
        self.gaps = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self.transport.write(self.opening)
        if not self.upgrades:
            self.up.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio names it
        if not self.up.done():
            self.up.set_exception(ConnectionError(f"closed before it was open: {self.buffer[:200]!r}"))
        elif not self.state:
            self.state = "socket closed"

    def data_received(self, data: bytes) -> None:
        now = time.monotonic()
        data = self.buffer + data
        if not self.up.done():
            head, border, data_after = data.partition(b"\r\n\r\n")
            if not border:
                self.buffer = data
                return
            if b" 101 " not in head[:20]:
                self.up.set_exception(ConnectionError(f"expected 101, got {head[:200]!r}"))
                return
            self.up.set_result(None)
            data = data_after
        at = 0
        while len(data) - at >= 2:
            size, start = data[at + 1] & 127, at + 2
            if size == 126:
                size, start = int.from_bytes(data[at + 2 : at + 4], "big"), at + 4
            if len(data) < start + size or size == 127:
                break
            kind = data[at] & 15
            if kind == 1:
                self.frame(now, data[start : start + size], start + size - at)
            elif kind == 9:
                self.transport.write(b"\x8a\x80\0\0\0\0")
            at = start + size
        self.buffer = data[at:]

    def frame(self, now: float, payload: bytes, size: int) -> None:
        """Note one frame: a paint `[handle, seq, text, …]`, a draft, a turn notice or the final one."""
        value = json.loads(payload)
        if isinstance(value, list):
            if value[1] != (value[4] if len(value) > 4 else self.seq) + 1 and len(value) < 5:
                self.gaps += 1
            self.handle, self.seq = value[0], value[1]
            self.chars += len(value[2])
        elif value["type"] == "draft":
            self.handle, self.seq, self.chars = value["handle"], value["seq"], len(value["answer"])
        elif value["type"] == "turn":
            if value["handle"] > self.handle:
                self.handle, self.seq, self.chars = value["handle"], 0, 0
            return
        elif value["type"] == "final":
            self.state = value["state"]
            return
        self.arrivals.append((now, self.chars, size))

    def acknowledge(self) -> None:
        """Tell the server how far the page is, if it moved: masked with zeros, which the RFC allows."""
        if self.seq != self.acknowledged and self.upgrades and not self.transport.is_closing():
            text = json.dumps({"ack": [self.handle, self.seq]}).encode()
            self.transport.write(bytes((0x81, 0x80 | len(text), 0, 0, 0, 0)) + text)
            self.acknowledged = self.seq


async def http(port: int, method: str, path: str, *, cookie: str, form: dict[str, str] | None = None) -> str:
    """One HTTP exchange on a connection of its own; gives head and body, raises if it was refused."""
    reader, writer = await asyncio.open_connection(HOST, port)
    body = urlencode(form).encode() if form is not None else b""
    fields = {
        "Host": f"{HOST}:{port}",
        "Connection": "close",
        "Cookie": cookie,
        "Accept": "text/html" if form is None else "application/json",
        "Origin": f"http://{HOST}:{port}",
        "Content-Type": "application/x-www-form-urlencoded",
        "Content-Length": str(len(body)),
    }
    writer.write(head(method, path, fields) + body)
    answer = (await reader.read()).decode()
    writer.close()
    if answer.split(" ", 2)[1] not in {"200", "201"}:
        raise RuntimeError(f"{method} {path}: {answer[:1500]}")
    return answer


def head(method: str, path: str, fields: dict[str, str]) -> bytes:
    """The head of a request."""
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


class Viewers:
    """All sockets of this process, and the commands that come from the bench."""

    def __init__(self, port: int, people: list[dict[str, str]]) -> None:
        self.port, self.people = port, people
        self.open: list[Viewer] = []
        self.acknowledging: asyncio.Task[None] | None = None

    async def connect(self, first: int, count: int) -> None:
        """Open the sockets of these people, ten at a time."""
        some = asyncio.Semaphore(10)

        async def one(person: dict[str, str]) -> Viewer:
            async with some:
                fields = {
                    "Host": f"{HOST}:{self.port}",
                    "Upgrade": "websocket",
                    "Connection": "Upgrade",
                    "Origin": f"http://{HOST}:{self.port}",
                    "Cookie": f"sessionid={person['session']}",
                    "Sec-WebSocket-Version": "13",
                    "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(),
                }
                opening = head("GET", f"/ws/conversations/{person['conversation']}/", fields)
                return await self.socket(opening, upgrades=True)

        people = self.people[first : first + count]
        self.open = list(await asyncio.gather(*(one(person) for person in people)))
        self.acknowledging = self.acknowledging or asyncio.create_task(self.acknowledge())

    async def socket(self, opening: bytes, *, upgrades: bool) -> Viewer:
        """One open socket."""
        loop = asyncio.get_running_loop()
        _, viewer = await loop.create_connection(lambda: Viewer(opening, upgrades=upgrades), HOST, self.port)
        await asyncio.wait_for(viewer.up, 30)
        return viewer

    async def acknowledge(self) -> None:
        """Once a second each, spread over the second."""
        while True:
            for n in range(20):
                for viewer in self.open[n::20]:
                    viewer.acknowledge()
                await asyncio.sleep(0.05)

    async def ask(self, first: int, texts: list[str], over_s: float) -> None:
        """Send each person's question by HTTP POST, staggered, and wait until every reply has begun."""

        async def one(n: int, text: str) -> None:
            await asyncio.sleep(n * over_s / len(texts))
            person = self.people[first + n]
            await http(
                self.port,
                "POST",
                f"/conversations/{person['conversation']}/",
                cookie=f"sessionid={person['session']}; csrftoken={TOKEN}",
                form={"text": text, "csrfmiddlewaretoken": TOKEN},
            )

        await asyncio.gather(*(one(n, text) for n, text in enumerate(texts)))
        await self.until(lambda viewer: viewer.arrivals, "the first paint")

    async def ask_floor(self, texts: list[str], over_s: float) -> None:
        """The same from the floor: a line of text on a bare socket."""

        async def one(n: int, text: str) -> Viewer:
            await asyncio.sleep(n * over_s / len(texts))
            return await self.socket(text.encode() + b"\n", upgrades=False)

        self.open = list(await asyncio.gather(*(one(n, text) for n, text in enumerate(texts))))
        await self.until(lambda viewer: viewer.arrivals, "the first paint")

    async def until(self, holds: Any, what: str, timeout_s: float = 60) -> None:
        """Wait for all viewers, in bounded steps."""
        end = time.monotonic() + timeout_s
        while missing := [n for n, viewer in enumerate(self.open) if not holds(viewer)]:
            if time.monotonic() > end:
                raise TimeoutError(
                    f"{what}: {len(missing)} of {len(self.open)} still wait after {timeout_s} s"
                )
            await asyncio.sleep(0.02)

    async def obey(self, order: dict[str, Any]) -> Any:
        """Do one command and give its answer."""
        match order["do"]:
            case "open":
                await self.connect(order["first"], order["count"])
            case "ask":
                await self.ask(order["first"], order["texts"], order["over_s"])
            case "ask floor":
                await self.ask_floor(order["texts"], order["over_s"])
            case "finals":
                await self.until(lambda viewer: viewer.state, "the final frame")
                return [viewer.state for viewer in self.open]
            case "collect":
                return [
                    {"arrivals": viewer.arrivals, "chars": viewer.chars, "gaps": viewer.gaps}
                    for viewer in self.open
                ]
            case "close":
                for viewer in self.open:
                    viewer.transport.abort()
                self.open = []
            case other:
                raise ValueError(f"no such order: {other!r}")
        return True


async def main() -> None:
    """Read orders until the end of input."""
    reader = asyncio.StreamReader(limit=1 << 26)
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin
    )
    viewers: Viewers | None = None
    while line := await reader.readline():
        order = json.loads(line)
        if order["do"] == "begin":
            viewers = Viewers(order["port"], order["people"])
            answer: Any = True
        else:
            assert viewers is not None, "the first order must be `begin`"
            answer = await viewers.obey(order)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
