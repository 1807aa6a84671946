"""Daphne's two protocols, with bounds on what one client can make this process hold.

Takes connections; gives bounded requests to the application, and sockets that are read only as fast as they read. Whoever
is at the other end need not be signed in, so all of it takes effect while the bytes arrive. It knows no application.
"""

import logging
from collections.abc import Callable
from io import BytesIO
from typing import Any

from daphne.http_protocol import HTTPFactory, WebRequest
from daphne.server import Server
from daphne.ws_protocol import WebSocketProtocol
from twisted.internet.error import ConnectionLost

LINGER_S = 2.0  # how long a client that was refused may go on sending before it is cut off
MOST_UP_BYTES = 1000  # a page sends acknowledgements, each much shorter than this
MOST_UNREAD = 200  # and one a second
TEXT = b"The request is too large.\n"
TOO_LARGE = (
    b"HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s"
)
Tell = Callable[[str, str, str], tuple[str, bytes] | None]
"""What a request that is too long is told, by its Accept, Accept-Language and Cookie: content type and text; or None."""
log = logging.getLogger(__name__)


LONG_AT_ONCE = 2  # a long body is held whole while it is handed on


def bound(
    server: Server,
    *,
    request_bytes: int,
    long_bytes: int = 0,
    long_path: bytes = b"",
    tell: Tell = lambda *_: None,
) -> None:
    """Give a running server these protocols instead of Daphne's own, before it accepts anybody. `long_path` is the one
    address that takes bodies of up to `long_bytes`, a few at a time."""
    server.http_factory = BoundFactory(server, request_bytes, long_bytes, long_path, tell)
    server.ws_factory.protocol = BoundSocket


def hear_resets(reactor: Any) -> None:
    """Have a reactor on uvloop end a connection that uvloop has let go of.

    Where a client resets while bytes of its lie unread, uvloop hands these over and stops watching: nobody would ever be
    told of the reset, and the next write (a ping to all, for one) would fail with an error that ends the round of pings.
    """
    for name in ("addReader", "addWriter"):
        setattr(reactor, name, _told_of_resets(reactor, getattr(reactor, name)))


def _told_of_resets(reactor: Any, add: Callable[[Any], None]) -> Callable[[Any], None]:
    def add_or_end(selectable: Any) -> None:
        try:
            add(selectable)
        except RuntimeError:
            # Not at once: who writes may hold the connection to be there until it has written.
            reactor.callLater(0, reactor._disconnectSelectable, selectable, ConnectionLost(), False)  # noqa: SLF001

    return add_or_end


class BoundFactory(HTTPFactory):  # type: ignore[misc] # Daphne has no types
    """Makes a channel for each connection; `request_bytes` is the longest body that a request may have, but for those of
    one path."""

    def __init__(
        self, server: Server, request_bytes: int, long_bytes: int, long_path: bytes, tell: Tell
    ) -> None:
        super().__init__(server)
        self.request_bytes = request_bytes
        self.long_bytes = max(long_bytes, request_bytes)
        self.long_path = long_path
        self.tell = tell
        self.long_now: set[int] = set()

    def buildProtocol(self, addr: Any) -> Any:  # noqa: N802 (Twisted's name)
        channel = super().buildProtocol(addr)
        channel.requestFactory = BoundRequest
        return channel


UNHEARD = (b"Daphne-Root-Path", b"Sec-WebSocket-Protocol")
"""Headers that Daphne obeys or reads as ASCII, and that no page of ours sends: under another root nothing would be found."""


class BoundRequest(WebRequest):  # type: ignore[misc]
    """A request that is refused as soon as its body is known to be too long: announced as such, or grown so.

    The client may still be sending and would not hear an answer to a closed door: what comes is thrown away, for a while.
    """

    content: Any
    refused = False
    _received = 0
    _is_long = False
    _cut_off: Any = None

    def gotLength(self, length: int | None) -> None:  # noqa: N802
        factory = self.channel.factory
        if length is not None and length > factory.request_bytes and self._may_be_long():
            self._is_long = True
            factory.long_now.add(id(self))
        is_too_long = length is not None and length > self._most
        super().gotLength(0 if is_too_long else length)  # a file is made for a long one
        if is_too_long:
            self._refuse()

    def handleContentChunk(self, data: bytes) -> None:  # noqa: N802
        self._received += len(data)
        if self.refused:
            return
        if self._received > self._most:
            self._refuse()
            return
        super().handleContentChunk(data)

    def requestReceived(self, command: bytes, path: bytes, version: bytes) -> None:  # noqa: N802
        if self.refused:
            self.channel.loseConnection()
            return
        super().requestReceived(command, path, version)

    def process(self) -> Any:
        for name in UNHEARD:
            self.requestHeaders.removeHeader(name)
        return super().process()

    def connectionLost(self, reason: Any) -> None:  # noqa: N802
        if self._cut_off is not None and self._cut_off.active():
            self._cut_off.cancel()
        self.channel.factory.long_now.discard(id(self))
        super().connectionLost(reason)

    def finish(self) -> None:
        self.channel.factory.long_now.discard(id(self))
        super().finish()

    def _may_be_long(self) -> bool:
        """By the address of the request line, which the channel holds before the request does."""
        factory = self.channel.factory
        path: bytes = getattr(self.channel, "_path", b"").split(b"?")[0]
        return bool(factory.long_path) and path == factory.long_path and len(factory.long_now) < LONG_AT_ONCE

    @property
    def _most(self) -> int:
        factory = self.channel.factory
        most: int = factory.long_bytes if self._is_long else factory.request_bytes
        return most

    def _refuse(self) -> None:
        self.refused = True
        self.content.close()
        self.content = BytesIO()
        self.requestHeaders.removeHeader(b"Expect")  # or the channel would ask for the body after all
        self.channel.transport.write(self._told())
        self._cut_off = self.channel.callLater(LINGER_S, self.channel.loseConnection)

    def _told(self) -> bytes:
        names = (b"accept", b"accept-language", b"cookie")
        wishes = [self.requestHeaders.getRawHeaders(name, [b""])[0].decode("latin-1") for name in names]
        try:
            told = self.channel.factory.tell(*wishes)
        except Exception:
            log.exception("the page for a request that is too large could not be made")
            told = None
        kind, text = told or ("text/plain", TEXT)
        return TOO_LARGE % (kind.encode(), len(text), text)


class ReadAsItReads:
    """While too much waits to be written to a client, nothing more is read from it: whatever it sends, answers to it
    (pongs above all) cannot pile up here. Twisted asks for this when the buffer passes 64 KB and when it is empty."""

    def __init__(self, transport: Any) -> None:
        self._transport = transport

    def pauseProducing(self) -> None:  # noqa: N802
        self._transport.pauseProducing()

    def resumeProducing(self) -> None:  # noqa: N802
        self._transport.resumeProducing()

    def stopProducing(self) -> None:  # noqa: N802
        """The connection is lost."""


class BoundSocket(WebSocketProtocol):  # type: ignore[misc]
    """A socket of a page. What no page sends is not kept, and who sends more than can be read is cut off. What is sent to
    one that is going goes nowhere."""

    def handle_reply(self, message: dict[str, Any]) -> None:
        if message["type"] != "websocket.send" or self.state == self.STATE_OPEN:
            super().handle_reply(message)

    def check_timeouts(self) -> None:
        try:
            super().check_timeouts()
        except Exception:  # all sockets are looked at in one round, which an exception would end for good
            log.exception("a socket could not be looked after")
            self.dropConnection(abort=True)

    def makeConnection(self, transport: Any) -> None:  # noqa: N802
        transport.unregisterProducer()  # the HTTP channel, which reads on whatever waits
        transport.registerProducer(ReadAsItReads(transport), streaming=True)
        super().makeConnection(transport)

    def onMessage(self, payload: bytes, isBinary: bool) -> None:  # noqa: FBT001, N802, N803
        if isBinary or len(payload) > MOST_UP_BYTES:
            return
        if self.application_queue.qsize() >= MOST_UNREAD:
            self.dropConnection(abort=True)
            return
        super().onMessage(payload, isBinary)
