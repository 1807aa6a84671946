"""The relay: what it carries, and that a cut is felt at once and ends when it is mended."""

import contextlib
import socket
from collections.abc import Iterator

import pytest

from tests.fakes.processes import wait_for
from tests.fakes.provider import ScriptedProvider
from tests.fakes.relay import Relay
from tests.fakes.script import T, play


@pytest.fixture
def relay() -> Iterator[Relay]:
    with ScriptedProvider(play(T("a"), framing="eof")) as provider, Relay(provider.port) as running:
        yield running


def ask(relay: Relay) -> bytes:
    """The whole answer to one request through the relay."""
    with socket.create_connection(("127.0.0.1", relay.port), timeout=5) as peer:
        peer.sendall(b'POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 15\r\n\r\n{"messages":[]}')
        got = b""
        while data := peer.recv(65536):
            got += data
    return got


def test_it_carries_both_ways(relay: Relay) -> None:
    assert ask(relay).endswith(T("a"))


def test_a_cut_resets_what_is_open_and_what_comes_until_it_is_mended(relay: Relay) -> None:
    with socket.create_connection(("127.0.0.1", relay.port), timeout=5) as peer:
        peer.sendall(b"POST ")
        relay.cut()
        with pytest.raises(ConnectionResetError):
            peer.recv(1)
    with pytest.raises(ConnectionResetError):
        ask(relay)
    relay.mend()
    assert ask(relay).endswith(T("a"))


def test_a_cut_reaches_a_connection_that_is_only_being_opened() -> None:
    """Nobody ever accepts at the other end: a listener with a full queue lets the relay wait for its own half."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full, contextlib.ExitStack() as waiting:
        port = full.getsockname()[1]
        for _ in range(4):
            filler = waiting.enter_context(socket.socket())
            filler.setblocking(False)
            filler.connect_ex(("127.0.0.1", port))
        with Relay(port) as relay, socket.create_connection(("127.0.0.1", relay.port), timeout=5) as peer:
            wait_for(lambda: relay._open, what="the relay has the connection")
            relay.cut()
            with pytest.raises(ConnectionResetError):
                peer.recv(1)
