"""The floor of the hot path: the same provider streams in, at most 25 writes a second out, and nothing else.

Takes the provider's port as argument, prints its own; each client sends one line (the question) on a bare
socket and gets paints in the same frames as from the server. No HTTP library, no Django, no database, no
states, no draft: what any server in Python must at least spend.
"""

import asyncio
import json
import sys
from typing import cast

MARK, END = b'"content":"', b'"},"logprobs"'


class Upstream(asyncio.Protocol):
    """One provider stream, read as bytes; text between two marks, no JSON."""

    def __init__(self, request: bytes, client: "Client") -> None:
        self.request, self.client, self.buffer = request, client, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        cast("asyncio.Transport", transport).write(self.request)

    def data_received(self, data: bytes) -> None:
        data = self.buffer + data
        at = 0
        while (end := data.find(b"\n\n", at)) >= 0:
            start = data.find(MARK, at, end)
            if start >= 0:
                self.client.feed(data[start + len(MARK) : data.find(END, start, end)])
            at = end + 2
        self.buffer = data[at:]


class Client(asyncio.Protocol):
    """One viewer: its first text at once, then what is pending at each tick."""

    transport: asyncio.Transport

    def __init__(self, floor: "Floor") -> None:
        self.floor, self.pending, self.seq = floor, b"", 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio names it
        self.floor.clients.discard(self)

    def data_received(self, data: bytes) -> None:
        body = json.dumps({"messages": [{"role": "user", "content": data.decode().strip()}]}).encode()
        head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body)
        self.floor.start(head + body, self)

    def feed(self, text: bytes) -> None:
        """Take text; the first is painted at once."""
        self.pending += text
        if not self.seq:
            self.paint()

    def paint(self) -> None:
        """One write of what is pending, in a WebSocket text frame of under 126 bytes (or 64 KiB)."""
        if not self.pending:
            return
        self.seq += 1
        payload = b'[1,%d,"%s"]' % (self.seq, self.pending)
        size = len(payload)
        head = bytes((0x81, size)) if size < 126 else b"\x81\x7e" + size.to_bytes(2, "big")
        self.transport.write(head + payload)
        self.pending = b""


class Floor:
    """All clients and the one tick."""

    def __init__(self, provider_port: int) -> None:
        self.provider_port = provider_port
        self.clients: set[Client] = set()
        self.opening: set[asyncio.Task[object]] = set()

    def start(self, request: bytes, client: Client) -> None:
        """Open the provider's stream for a client."""
        self.clients.add(client)
        loop = asyncio.get_running_loop()
        made = loop.create_connection(lambda: Upstream(request, client), "127.0.0.1", self.provider_port)
        task: asyncio.Task[object] = loop.create_task(made)
        self.opening.add(task)
        task.add_done_callback(self.opening.discard)

    def tick(self) -> None:
        """Paint all, and come again in 40 ms."""
        loop = asyncio.get_running_loop()
        loop.call_later(0.04, self.tick)
        for client in self.clients:
            client.paint()


async def main(provider_port: int) -> None:
    """Serve until ended."""
    floor = Floor(provider_port)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Client(floor), "127.0.0.1", 0, backlog=1024)
    print(json.dumps({"port": server.sockets[0].getsockname()[1]}), flush=True)
    floor.tick()
    await server.serve_forever()


if __name__ == "__main__":
    if "--asyncio" in sys.argv:
        asyncio.run(main(int(sys.argv[1])))
    else:
        import uvloop

        uvloop.run(main(int(sys.argv[1])))
