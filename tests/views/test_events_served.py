"""Events from the real server over raw sockets: they come as they are written, and who goes away is forgotten."""

import json
import socket
import struct
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.fakes.processes import ProviderProcess, WatchedServer, wait_for

READERS = 50
TOKEN = "t" * 32  # any will do for CSRF as long as the cookie and the form carry the same
RESET = struct.pack("ii", 1, 0)
"""SO_LINGER that makes a close a reset, as a phone's network does it."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[WatchedServer]:
    static = tmp_path / "static"
    static.mkdir()
    (static / "staticfiles.json").write_text("{}")  # collecting is slow, and no page is asked for
    (tmp_path / "provider").mkdir()
    with (
        ProviderProcess(tmp_path / "provider") as provider,
        WatchedServer(
            tmp_path, provider_url=provider.base_url, GYMNASIA_HEARTBEAT_S="0.2", GYMNASIA_DEBUG="1"
        ) as running,
    ):
        yield running


class Wire:
    """One connection and what came on it."""

    def __init__(
        self, port: int, method: str, path: str, cookie: str, form: dict[str, str] | None = None
    ) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=10)
        body = urlencode(form or {}).encode()
        head = [
            f"{method} {path} HTTP/1.1",
            f"Host: 127.0.0.1:{port}",
            f"Cookie: csrftoken={TOKEN}; {cookie}",
            "Accept: application/json",
            "Content-Type: application/x-www-form-urlencoded",
            f"Content-Length: {len(body)}",
        ]
        self.socket.sendall("\r\n".join([*head, "", ""]).encode() + body)
        self.text = ""

    def until(self, *words: str) -> str:
        """All text up to and with these words, in any order."""
        while not all(word in self.text for word in words):
            piece = self.socket.recv(65536)
            assert piece, f"expected {words}, got the end after {self.text}"
            self.text += piece.decode()
        return self.text

    def to_the_end(self) -> str:
        while piece := self.socket.recv(65536):
            self.text += piece.decode()
        return self.text


def posted(server: WatchedServer, path: str, cookie: str, **form: str) -> str:
    """The whole response to a form."""
    wire = Wire(server.port, "POST", path, cookie, {**form, "csrfmiddlewaretoken": TOKEN})
    with wire.socket:
        text = wire.until("\r\n\r\n")
        length = int(text.lower().partition("content-length: ")[2].split("\r\n")[0])
        while len(wire.text.partition("\r\n\r\n")[2].encode()) < length:
            wire.text += wire.socket.recv(65536).decode()
        return wire.text


@pytest.fixture
def cookie(server: WatchedServer) -> str:
    """Somebody who has just signed up."""
    words = "long-enough-for-ana-93"
    answer = posted(server, "/accounts/signup/", "", username="ana", password1=words, password2=words)
    return f"sessionid={answer.partition('sessionid=')[2].split(';')[0]}"


def asked(server: WatchedServer, cookie: str, text: str) -> dict[str, Any]:
    answer = posted(server, "/", cookie, text=text)
    assert answer.startswith("HTTP/1.1 201 "), answer
    started: dict[str, Any] = json.loads(answer.partition("\r\n\r\n")[2])
    return started


def test_fifty_readers_that_close_in_the_middle_leave_nothing_behind(
    server: WatchedServer, cookie: str
) -> None:
    """Each is seen as it reads, live; half of them say goodbye, half are torn away. The reply goes on."""
    empty = server.holds()
    started = asked(server, cookie, "slow 50 2000")
    alone = server.holds()
    path = f"/conversations/{started['conversation']}/events"
    with ExitStack() as stack:
        wires = [Wire(server.port, "GET", path, cookie) for _ in range(READERS)]
        for wire in wires:
            stack.enter_context(wire.socket)
        for wire in wires:
            head = wire.until("\r\n\r\n").partition("\r\n\r\n")[0].lower()
            assert "content-type: text/event-stream" in head
            assert "transfer-encoding: chunked" in head
            assert "w3 " in wire.until("w3 ", ": heartbeat")
        assert server.holds()["listeners"] == READERS
        for wire in wires[::2]:
            wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)

    def forgotten() -> dict[str, int] | None:
        held = server.holds()
        return held if held["listeners"] == 0 and held["tasks"] <= alone["tasks"] else None

    left = wait_for(forgotten, what="everyone is forgotten")
    assert left is not None
    assert left["threads"] <= empty["threads"] + 3  # the process's own, made as they were needed
    last = Wire(server.port, "GET", f"{path}?poll=1", cookie)
    with last.socket:
        assert '"frames":[' in last.until('"end":false}')


def test_a_server_that_is_told_to_stop_ends_its_responses(server: WatchedServer, cookie: str) -> None:
    """With the end of the reply, a word of its own, and the end of the body: not as a line that was lost."""
    started = asked(server, cookie, "slow 50 2000")
    wire = Wire(server.port, "GET", f"/conversations/{started['conversation']}/events", cookie)
    with wire.socket:
        wire.until("w3 ")
        assert server.stop() == 0
        text = wire.to_the_end()
    final, _, rest = text.partition('"type":"final"')[2].partition("\n")
    assert '"state":"incomplete","reason":"shutdown"' in final
    assert rest.partition("event: error")[2].startswith('\ndata: {"reason": "draining"}\n\n')
    assert text.endswith("\r\n0\r\n\r\n")
    assert "Traceback" not in server.output()
