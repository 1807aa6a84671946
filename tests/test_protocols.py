"""What one client can make the real server hold: a body that is too long, pings whose answers nobody reads."""

import http.client
import json
import re
import select
import socket
import struct
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.fakes.processes import ProviderProcess, ServerProcess, get, wait_for

MOST = 1_000_000
MB = 1024 * 1024
HEAD = "POST /accounts/login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: text/plain\r\n"
TOKEN = "t" * 32  # any will do for CSRF as long as the cookie and the form carry the same
REFUSAL = (
    b"HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Type: text/plain\r\n"
    b"Content-Length: 26\r\n\r\nThe request is too large.\n"
)
MASK = b"\0\0\0\0"
PING = b"\x89\xfd" + MASK + b"p" * 125
PONG = b"\x8a\x7d" + b"p" * 125


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    data = tmp_path_factory.mktemp("server")
    (data / "static").mkdir()
    (data / "static" / "staticfiles.json").write_text("{}")  # collecting is slow, and no page is asked for
    with (
        ProviderProcess(tmp_path_factory.mktemp("provider")) as provider,
        ServerProcess(
            data,
            provider_url=provider.base_url,
            GYMNASIA_DEBUG="1",
            GYMNASIA_MAX_REQUEST_BYTES=str(MOST),
        ) as running,
    ):
        yield running
        assert "Traceback" not in running.output()


def held_bytes(server: ServerProcess) -> int:
    """The memory of the process that is not the system's to take back."""
    status = Path(f"/proc/{server.pid}/status").read_text(encoding="ascii")
    (kilobytes,) = re.findall(r"^RssAnon:\s+(\d+) kB$", status, re.MULTILINE)
    return int(kilobytes) * 1024


def connected(server: ServerProcess) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=10)


def to_the_end(wire: socket.socket) -> bytes:
    """All that comes until the other end has closed; how it does that is up to the network."""
    came = b""
    try:
        while piece := wire.recv(65536):
            came += piece
    except ConnectionError:
        pass
    return came


def pour(wire: socket.socket, piece: bytes, *, total: int) -> int:
    """Send up to `total` bytes; gives how many went before the other end closed."""
    gone = 0
    try:
        while gone < total:
            wire.sendall(piece)
            gone += len(piece)
    except ConnectionError:
        pass
    return gone


# --- bodies ---------------------------------------------------------------------------------------------------------
def test_a_body_that_is_announced_too_long_is_refused_before_it_comes(server: ServerProcess) -> None:
    """The rest of it is thrown away: a client that sends first and reads afterwards can still hear why."""
    before = held_bytes(server)
    with connected(server) as wire:
        wire.sendall(f"{HEAD}Content-Length: {64 * MB}\r\n\r\n".encode())
        assert wire.recv(65536, socket.MSG_PEEK) == REFUSAL
        pour(wire, b"a" * MB, total=64 * MB)
        assert to_the_end(wire) in {REFUSAL, b""}  # nothing where the line was cut off at last
    assert held_bytes(server) - before < 8 * MB
    assert get(server.port, "/healthz")[0] == 200


@pytest.mark.parametrize(
    ("accept", "words"),
    [
        ("text/html", "<h1>Demasiado de una vez</h1>"),
        ("application/json", '{"error": "too_large", "message": "Un '),
    ],
)
def test_a_browser_reads_a_page_or_our_script_a_sentence(
    server: ServerProcess, accept: str, words: str
) -> None:
    """In the language of the person: what somebody reads who sends five pictures at once."""
    with connected(server) as wire:
        wishes = f"Accept: {accept}\r\nAccept-Language: es\r\nCookie: a=b\r\n"
        wire.sendall(f"{HEAD}{wishes}Content-Length: {2 * MOST}\r\n\r\n".encode() + b"a" * 2 * MOST)
        answer = to_the_end(wire).decode()
    assert answer.startswith("HTTP/1.1 413 Content Too Large\r\nConnection: close\r\n")
    assert words in answer


def test_a_body_of_unknown_length_is_refused_when_it_has_grown_too_long(server: ServerProcess) -> None:
    before = held_bytes(server)
    chunk = b"10000\r\n" + b"a" * 0x10000 + b"\r\n"
    with connected(server) as wire:
        wire.sendall(f"{HEAD}Transfer-Encoding: chunked\r\n\r\n".encode())
        for _ in range(MOST // 0x10000):
            wire.sendall(chunk)
        assert select.select([wire], [], [], 0.2)[0] == []
        wire.sendall(chunk)
        assert wire.recv(65536, socket.MSG_PEEK) == REFUSAL
        pour(wire, chunk, total=64 * MB)
        assert to_the_end(wire) in {REFUSAL, b""}
    assert held_bytes(server) - before < 8 * MB


@pytest.mark.parametrize(("length", "status"), [(MOST, b"HTTP/1.1 403 "), (MOST + 1, b"HTTP/1.1 413 ")])
def test_the_longest_body_that_is_let_in(server: ServerProcess, length: int, status: bytes) -> None:
    """It reaches the application, which has a word of its own for a form without a token."""
    with connected(server) as wire:
        wire.sendall(f"{HEAD}Connection: close\r\nContent-Length: {length}\r\n\r\n".encode() + b"a" * length)
        assert to_the_end(wire).startswith(status)


def test_who_asks_whether_to_go_on_is_told_no(server: ServerProcess) -> None:
    with connected(server) as wire:
        wire.sendall(f"{HEAD}Expect: 100-continue\r\nContent-Length: {MOST + 1}\r\n\r\n".encode())
        assert to_the_end(wire) == REFUSAL


def test_a_connection_carries_many_requests_and_each_is_measured_alone(server: ServerProcess) -> None:
    body = b"a" * (MOST * 2 // 3)
    statuses = []
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)) as client:
        for _ in range(3):
            client.request("POST", "/accounts/login/", body)
            answer = client.getresponse()
            answer.read()
            statuses.append(answer.status)
    assert statuses == [403] * 3


def test_one_address_takes_long_bodies_a_few_at_a_time(server: ServerProcess) -> None:
    """The import's; with as many under way as may be, the next one hears that it is too large for now."""
    head = HEAD.replace("/accounts/login/", "/import/")
    with connected(server) as one, connected(server) as two, connected(server) as three:
        for wire in (one, two):
            wire.sendall(f"{head}Connection: close\r\nContent-Length: {MOST + 9}\r\n\r\n".encode())
            assert select.select([wire], [], [], 0.2)[0] == []
        three.sendall(f"{head}Connection: close\r\nContent-Length: {MOST + 9}\r\n\r\n".encode())
        assert to_the_end(three) == REFUSAL
        one.sendall(b"a" * (MOST + 9))
        assert to_the_end(one).startswith(b"HTTP/1.1 403 ")  # no token
    with connected(server) as wire:
        wire.sendall(f"{head}Connection: close\r\nContent-Length: {200 * MB}\r\n\r\n".encode())
        assert to_the_end(wire) == REFUSAL


# --- sockets --------------------------------------------------------------------------------------------------------
def post(server: ServerProcess, path: str, cookie: str, **form: str) -> tuple[str, bytes]:
    """Head and body of the answer to a form."""
    headers = {
        "Cookie": f"csrftoken={TOKEN}; {cookie}",
        "Accept": "application/json",
        "Content-Type": "application/x-www-form-urlencoded",
    }
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)) as client:
        client.request("POST", path, urlencode({**form, "csrfmiddlewaretoken": TOKEN}), headers)
        answer = client.getresponse()
        return answer.headers.as_string(), answer.read()


@pytest.fixture(scope="module")
def handshake(server: ServerProcess) -> bytes:
    """What opens a socket of somebody's conversation."""
    words = "long-enough-for-ana-93"
    head, _ = post(server, "/accounts/signup/", "", username="ana", password1=words, password2=words)
    cookie = re.findall(r"sessionid=\w+", head)[0]
    _, body = post(server, "/", cookie, text="hello")
    conversation = json.loads(body)["conversation"]
    host = f"127.0.0.1:{server.port}"
    return (
        f"GET /ws/conversations/{conversation}/ HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\n"
        f"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        f"Sec-WebSocket-Key: {'a' * 22}==\r\nCookie: {cookie}\r\n\r\n"
    ).encode()


def opened(server: ServerProcess, handshake: bytes) -> socket.socket:
    wire = socket.socket()
    wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    wire.settimeout(10)
    wire.connect(("127.0.0.1", server.port))
    wire.sendall(handshake)
    came = b""
    while b"\r\n\r\n" not in came:
        came += wire.recv(1)
    assert came.startswith(b"HTTP/1.1 101 ")
    return wire


def test_pings_whose_answers_nobody_reads_are_left_unread(server: ServerProcess, handshake: bytes) -> None:
    """The network holds them back, and the server only what its buffer may; whoever reads on gets every answer."""
    before = held_bytes(server)
    piece = PING * 500
    with opened(server, handshake) as wire:
        wire.setblocking(False)
        gone, rest = 0, b""
        while gone < 20 * MB and select.select([], [wire], [], 1)[1]:
            rest = rest or piece
            count = wire.send(rest)
            gone, rest = gone + count, rest[count:]
        assert gone < 20 * MB
        assert held_bytes(server) - before < 4 * MB
        assert get(server.port, "/healthz")[0] == 200
        answered, came = 0, b""
        while answered < gone // len(PING):
            assert select.select([wire], [], [], 10)[0]
            came += wire.recv(65536)
            answered += came.count(PONG)
            came = came[came.rfind(PONG) + len(PONG) :] if PONG in came else came
        assert answered == gone // len(PING)
    assert held_bytes(server) - before < 4 * MB


def test_what_no_page_sends_is_not_kept(server: ServerProcess, handshake: bytes) -> None:
    """Nor does it end the socket: it still answers."""
    before = held_bytes(server)
    size = 3 * MB
    junk = b"\x82\xff" + struct.pack(">Q", size) + MASK + b"a" * size
    with opened(server, handshake) as wire:
        for _ in range(8):
            wire.sendall(junk)
        wire.sendall(PING)
        came = b""
        while PONG not in came:
            came += wire.recv(65536)
    wait_for(lambda: held_bytes(server) - before < 16 * MB, what="the memory of one message, given back")


def test_who_sends_more_than_can_be_read_is_cut_off(server: ServerProcess, handshake: bytes) -> None:
    before = held_bytes(server)
    ack = b'{"ack":[1,1]}'
    piece = (bytes([0x81, 0x80 | len(ack)]) + MASK + ack) * 5000
    with opened(server, handshake) as wire:
        assert pour(wire, piece, total=20 * MB) < 20 * MB
    assert held_bytes(server) - before < 4 * MB
    assert get(server.port, "/healthz")[0] == 200
