"""The scripted provider over real sockets: what it says on the wire, how it ends, and what it writes down.

Every other test that needs a bad provider leans on this one, so its own promises are held here with a plain
socket.
"""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.provider import Record, ScriptedProvider
from tests.fakes.script import (
    DONE,
    FIN,
    GAP,
    USAGE,
    Cut,
    End,
    Paced,
    Reset,
    Script,
    Stall,
    T,
    Until,
    Wait,
    page,
    play,
    whole_answer,
)

ROOT = Path(__file__).resolve().parents[2]
HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nCache-Control: no-cache\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n"
)


def ask(provider: ScriptedProvider, text: str = "hello", *, port: int = 0) -> socket.socket:
    """Send one chat request; the answer is left to be read."""
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": text}]}).encode()
    peer = socket.create_connection(("127.0.0.1", port or provider.port), timeout=5)
    head = "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer k\r\n"
    peer.sendall(head.encode() + b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    return peer


def rest(peer: socket.socket) -> bytes:
    """Everything up to the peer's end of the connection."""
    got = b""
    while data := peer.recv(65536):
        got += data
    return got


def until(peer: socket.socket, ending: bytes) -> bytes:
    """Everything up to this ending, which must come last."""
    got = b""
    while not got.endswith(ending):
        data = peer.recv(65536)
        assert data, f"the connection ended after {got!r}"
        got += data
    return got


def chunked(*parts: bytes) -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts)


@pytest.fixture
def provider() -> Iterator[ScriptedProvider]:
    with ScriptedProvider() as running:
        yield running


class TestWire:
    """The bytes that a client sees."""

    def test_a_whole_answer_is_chunked_and_the_connection_is_kept(self, provider: ScriptedProvider) -> None:
        provider.script = play(T("a"), FIN("stop"), DONE)
        with ask(provider) as peer:
            wanted = HEAD + chunked(T("a"), FIN("stop"), DONE) + b"0\r\n\r\n"
            assert until(peer, b"0\r\n\r\n") == wanted
            peer.sendall(b"GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n")
            models = until(peer, b"0\r\n\r\n").split(b"\r\n")
        assert json.loads(models[-4]) == {
            "object": "list",
            "data": [{"id": "scripted-1", "object": "model", "created": 1750000000, "owned_by": "tests"}],
        }

    def test_a_body_without_framing_ends_with_the_connection(self, provider: ScriptedProvider) -> None:
        provider.script = play(T("a"), framing="eof")
        with ask(provider) as peer:
            head, _, body = rest(peer).partition(b"\r\n\r\n")
        assert (head.endswith(b"\r\nConnection: close"), body) == (True, T("a"))

    def test_a_cut_leaves_the_terminator_out(self, provider: ScriptedProvider) -> None:
        provider.script = play(T("a"), Cut(), T("never"))
        with ask(provider) as peer:
            assert rest(peer) == HEAD + chunked(T("a"))

    def test_it_waits_until_it_is_told(self, provider: ScriptedProvider) -> None:
        told = threading.Event()
        provider.script = play(T("a"), Until(told), T("b"), framing="eof")
        with ask(provider) as peer:
            assert until(peer, T("a")).endswith(T("a"))
            peer.settimeout(0.05)
            with pytest.raises(TimeoutError):
                peer.recv(1)
            peer.settimeout(5)
            told.set()
            assert rest(peer) == T("b")

    def test_a_reset_is_felt_as_one(self, provider: ScriptedProvider) -> None:
        provider.script = play(T("a"), GAP, Reset())
        with ask(provider) as peer:
            assert until(peer, chunked(T("a"))) == HEAD + chunked(T("a"))
            with pytest.raises(ConnectionResetError):
                peer.recv(1)

    def test_steps_are_written_apart(self, provider: ScriptedProvider) -> None:
        """A test that says where a character is cut must find it cut there."""
        provider.script = play(b"\xe2\x82", GAP, b"\xac", End())
        with ask(provider) as peer:
            assert until(peer, chunked(b"\xe2\x82")) == HEAD + chunked(b"\xe2\x82")
            assert until(peer, b"0\r\n\r\n") == chunked(b"\xac") + b"0\r\n\r\n"

    def test_a_status_comes_with_its_headers_and_body(self, provider: ScriptedProvider) -> None:
        provider.script = page(b'{"error":{}}', status=429, Retry_After="2")
        client = http.client.HTTPConnection("127.0.0.1", provider.port, timeout=5)
        client.request("POST", "/v1/chat/completions", body=b'{"messages":[]}')
        answer = client.getresponse()
        seen = (answer.status, answer.reason, answer.headers["Retry-After"], answer.headers["Content-Type"])
        assert (*seen, answer.read()) == (429, "Too Many Requests", "2", "application/json", b'{"error":{}}')
        client.close()

    def test_an_unknown_path_is_not_found(self, provider: ScriptedProvider) -> None:
        client = http.client.HTTPConnection("127.0.0.1", provider.port, timeout=5)
        client.request("GET", "/elsewhere")
        assert client.getresponse().status == 404
        client.close()


class TestRecords:
    """What a test can read afterwards."""

    def test_a_request_is_written_down(self, provider: ScriptedProvider) -> None:
        provider.script = whole_answer("two words", ms=1)
        before = time.monotonic()
        with ask(provider, "Hello?") as peer:
            until(peer, b"0\r\n\r\n")
        [record] = provider.wait_until(lambda seen: seen and seen[0].peer_closed_at)
        times = [before, record.connected_at, record.received_at]
        times += [at or 0 for at in (record.head_sent_at, record.finished_at, record.peer_closed_at)]
        assert times == sorted(times)
        body = b"".join([T("two"), T(" words"), FIN("stop"), USAGE(9, 2), DONE])
        assert (record.method, record.path, record.headers["authorization"], record.user_text) == (
            "POST",
            "/v1/chat/completions",
            "Bearer k",
            "Hello?",
        )
        assert record.bytes_sent == len(body)

    def test_our_own_close_is_not_taken_for_the_peers(self, provider: ScriptedProvider) -> None:
        provider.script = play(T("a"), Cut())
        with ask(provider) as peer:
            rest(peer)
        [record] = provider.wait_until(lambda seen: seen and seen[0].finished_at)
        assert record.peer_closed_at is None

    @pytest.mark.parametrize(
        "script",
        [
            play(T("a"), Stall()),
            play(hold_ms=float("inf")),
            play(Paced((T("a"),) * 10_000, 50)),
            play(T("a"), Wait(60_000)),
        ],
        ids=["stalled", "head held back", "between tokens", "in a pause"],
    )
    def test_the_moment_the_peer_goes_is_written_down(
        self, provider: ScriptedProvider, script: Script
    ) -> None:
        """Stop must close the provider's connection within a second; this is the clock that says so."""
        provider.script = script
        peer = ask(provider)
        provider.wait_until(lambda seen: seen and (seen[0].head_sent_at or script.hold_ms))
        closing = time.monotonic()
        peer.close()
        [record] = provider.wait_until(lambda seen: seen[0].peer_closed_at)
        assert record.finished_at is None
        assert record.peer_closed_at is not None
        assert 0 <= record.peer_closed_at - closing < 0.5

    def test_paced_pieces_keep_their_times(self, provider: ScriptedProvider) -> None:
        provider.script = play(Paced(tuple(T(str(n)) for n in range(5)), 100), DONE)
        with ask(provider) as peer:
            wanted = HEAD + chunked(*(T(str(n)) for n in range(5)), DONE) + b"0\r\n\r\n"
            assert until(peer, b"0\r\n\r\n") == wanted
        [record] = provider.requests
        assert len(record.paced_at) == 5
        assert 0.035 < record.paced_at[-1] - record.paced_at[0] < 0.5

    def test_waiting_in_vain_shows_what_was_seen(self, provider: ScriptedProvider) -> None:
        with pytest.raises(TimeoutError, match=r"requests: \[\]"):
            provider.wait_until(lambda seen: seen, timeout_s=0.01)


class TestChoice:
    """Which script a request gets."""

    def test_one_script_per_request_in_order(self) -> None:
        with ScriptedProvider(play(T("1")), play(T("2"))) as provider:
            bodies = []
            for _ in range(2):
                with ask(provider) as peer:
                    bodies.append(until(peer, b"0\r\n\r\n"))
        assert bodies == [HEAD + chunked(T(text)) + b"0\r\n\r\n" for text in "12"]

    def test_a_chooser_reads_the_request(self, provider: ScriptedProvider) -> None:
        def echo(record: Record) -> Script:
            return play(T(record.user_text[::-1]))

        provider.choose = echo
        with ask(provider, "abc") as peer:
            assert until(peer, b"0\r\n\r\n") == HEAD + chunked(T("cba")) + b"0\r\n\r\n"

    def test_mended_when_asked_again(self, provider: ScriptedProvider) -> None:
        """A retry must be able to succeed where the first attempt was cut."""
        with ask(provider, "mend cut") as first:
            assert b"0\r\n\r\n" not in rest(first)
        with ask(provider, "mend cut") as second:
            assert until(second, b"0\r\n\r\n").endswith(chunked(DONE) + b"0\r\n\r\n")


def test_as_a_process_it_says_its_port_and_hands_out_its_records() -> None:
    """Browser walks and benches run it this way and read the clock of another process from it."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.fakes.provider", "--rate", "1000"], stdout=subprocess.PIPE, cwd=ROOT
    )
    try:
        assert process.stdout is not None
        port = json.loads(process.stdout.readline())["port"]
        with ask(ScriptedProvider(), "limit", port=port) as peer:
            body = until(peer, b"0\r\n\r\n")
        with ask(ScriptedProvider(), "reset", port=port) as peer, pytest.raises(ConnectionResetError):
            rest(peer)
        client = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        client.request("GET", "/requests")
        [record, _] = json.loads(client.getresponse().read())
        client.close()
    finally:
        process.send_signal(signal.SIGTERM)
        code = process.wait(5)
        if process.stdout is not None:
            process.stdout.close()
    assert chunked(FIN("length")) in body
    assert (record["user_text"], record["path"], code) == ("limit", "/v1/chat/completions", 0)
    assert record["received_at"] < time.monotonic()
    assert os.getpid() != process.pid
