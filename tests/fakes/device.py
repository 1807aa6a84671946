"""A person's device without a browser: it signs up or in at a real server, posts forms, and follows frames on a socket.

Takes the port of a running server; gives statuses, JSON and frames. Knows the product by its addresses alone.
"""

import http.client
import json
import socket
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlencode

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from tests.fakes.processes import ServerProcess

TOKEN = "t" * 32  # any will do for CSRF as long as the cookie and the form carry the same
PASSWORD = "long-enough-for-anybody-93"


class Device:
    """One signed-in session of a person; `Device(server, "ana")` signs up, `known=True` signs in once more."""

    def __init__(self, server: ServerProcess, name: str, *, known: bool = False) -> None:
        self.port, self.name, self.session = server.port, name, ""
        path = "/accounts/login/" if known else "/accounts/signup/"
        form = {"login": name, "password": PASSWORD} if known else {"username": name}
        form |= {} if known else {"password1": PASSWORD, "password2": PASSWORD}
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        client.request("POST", path, self._body(form), self._headers())
        answer = client.getresponse()
        answer.read()
        client.close()
        for value in answer.headers.get_all("Set-Cookie") or []:
            if value.startswith("sessionid="):
                self.session = value.partition("=")[2].partition(";")[0]
        assert self.session, f"expected a session for {name}, got status {answer.status}"

    def at(self, server: ServerProcess) -> "Device":
        """The same session at another process of the same installation."""
        return self.through(server.port)

    def through(self, port: int) -> "Device":
        """The same session at another port, a proxy's for one."""
        twin = object.__new__(Device)
        twin.port, twin.name, twin.session = port, self.name, self.session
        return twin

    def _headers(self) -> dict[str, str]:
        session = f"; sessionid={self.session}" if self.session else ""
        return {
            "Cookie": f"csrftoken={TOKEN}{session}",
            "Accept": "application/json",
            "Content-Type": "application/x-www-form-urlencoded",
        }

    def _body(self, form: dict[str, str]) -> str:
        return urlencode({**form, "csrfmiddlewaretoken": TOKEN})

    def post(self, path: str, **form: str) -> tuple[int, Any]:
        """Status and JSON of a form; None where the answer is no JSON."""
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            client.request("POST", path, self._body(form), self._headers())
            answer = client.getresponse()
            kind = answer.headers.get("Content-Type", "")
            body = answer.read()
            return answer.status, json.loads(body) if kind.startswith("application/json") else None
        finally:
            client.close()

    def get(self, path: str) -> tuple[int, str]:
        """Status and text of a page."""
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            client.request("GET", path, headers=self._headers() | {"Accept": "text/html"})
            answer = client.getresponse()
            return answer.status, answer.read().decode()
        finally:
            client.close()

    def ask(self, text: str, *, conversation: str = "") -> dict[str, Any]:
        """Send a message; gives `conversation` and `generation`."""
        path = f"/conversations/{conversation}/" if conversation else "/"
        status, answer = self.post(path, text=text)
        assert status == 201, (status, answer)
        started: dict[str, Any] = answer
        return started

    def stop(self, generation: str) -> bool:
        """Press Stop; says whether it was this click that stopped something."""
        status, answer = self.post(f"/generations/{generation}/stop/")
        assert status == 200, (status, answer)
        stopped: bool = answer["stopped"]
        return stopped

    def events(self, conversation: str, *, timeout_s: float = 20) -> Iterator[str]:
        """The twin of the socket: the text of a response of events, as it comes."""
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout_s)
        try:
            client.request("GET", f"/conversations/{conversation}/events", headers=self._headers())
            answer = client.getresponse()
            while piece := answer.read1(65536):
                yield piece.decode()
        finally:
            client.close()

    @contextmanager
    def follow(self, conversation: str, *, after: str = "", **more: Any) -> Iterator["Feed"]:
        """A socket of frames, as a page opens it."""
        headers = {"Cookie": self._headers()["Cookie"], "Origin": f"http://127.0.0.1:{self.port}"}
        url = f"ws://127.0.0.1:{self.port}/ws/conversations/{conversation}/?after={after}"
        patience = {"ping_interval": None, "close_timeout": 0.3, "max_queue": None, **more}
        with connect(url, additional_headers=headers, proxy=None, **patience) as opened:
            yield Feed(opened)


class Feed:
    """The frames of one socket, applied as a page applies them: by number, never twice, a whole draft in place of all."""

    def __init__(self, opened: ClientConnection) -> None:
        self.socket = opened
        self.frames: list[Any] = []
        self.text = ""
        self.handle = self.seq = 0
        self.gaps = 0
        self.final: dict[str, Any] | None = None

    @property
    def cursor(self) -> str:
        """Where this page stands."""
        return f"{self.handle}:{self.seq}"

    def until(self, holds: Callable[["Feed"], Any], *, timeout_s: float = 15, silent: bool = False) -> "Feed":
        """Read, and acknowledge unless `silent`, until it holds."""
        end = time.monotonic() + timeout_s
        while not holds(self):
            try:
                self._apply(json.loads(self.socket.recv(timeout=max(0.0, end - time.monotonic()))))
            except TimeoutError:
                raise TimeoutError(
                    f"not within {timeout_s} s; at {self.cursor}: {self.text[-80:]!r}"
                ) from None
            if not silent:
                self.socket.send(json.dumps({"ack": [self.handle, self.seq]}))
        return self

    def to_the_end(self, *, timeout_s: float = 15) -> dict[str, Any]:
        """Read up to the last frame of a reply, and give it."""
        self.until(lambda feed: feed.final is not None, timeout_s=timeout_s)
        assert self.final is not None
        return self.final

    def _apply(self, frame: Any) -> None:
        self.frames.append(frame)
        if isinstance(frame, dict):
            if frame["type"] == "turn":
                if frame["handle"] > self.handle:
                    self.handle, self.seq, self.text = frame["handle"], 0, ""
            elif frame["type"] == "draft":
                self.handle, self.seq, self.text = frame["handle"], frame["seq"], frame["answer"]
            elif frame["handle"] == self.handle:
                self.final, self.seq = frame, frame["seq"]
            return
        handle, seq, text, *more = frame
        follows_on = more[1] if len(more) > 1 else seq - 1
        if handle != self.handle or seq <= self.seq or self.final is not None:
            return
        self.gaps += follows_on > self.seq
        self.seq = seq
        if not more or more[0] == "a":
            self.text += text

    def tear(self) -> None:
        """Go without a word, as a phone's network does."""
        linger = struct.pack("ii", 1, 0)
        self.socket.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.socket.socket.shutdown(socket.SHUT_RDWR)  # wakes the thread that reads, which closes it

    def farewell(self, *, timeout_s: float = 10) -> int:
        """Read until the server closes; gives its code."""
        try:
            self.until(lambda _: False, timeout_s=timeout_s, silent=True)
        except ConnectionClosed as closed:
            return closed.rcvd.code if closed.rcvd else 1006
        raise AssertionError("unreachable: until() ends by an exception")
