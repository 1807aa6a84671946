"""What a stranger may send to the real server: bytes that are no request, and connections that are torn down.

None is answered with 500, fills the log with our code, or leaves anything behind.
"""

import socket
import struct
from collections.abc import Iterator

import pytest

from tests.fakes.device import TOKEN, Device
from tests.fakes.processes import WatchedServer, get, wait_for
from tests.fakes.provider import ScriptedProvider
from tests.served.conftest import serve

HOST = b"Host: 127.0.0.1"
LOGIN = b"/accounts/login/"
SOCKET = b"/ws/conversations/00000000-0000-0000-0000-000000000000/"
UPGRADE = (
    b"Upgrade: websocket",
    b"Connection: Upgrade",
    b"Sec-WebSocket-Version: 13",
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    b"Origin: http://127.0.0.1",
)
MASK = b"\0\0\0\0"


def ask(line: bytes, *headers: bytes, body: bytes = b"", host: bytes = HOST) -> bytes:
    """A request as it goes over the line; "" for no Host at all."""
    named = [each for each in (host, *headers, b"Connection: close") if each]
    return b"\r\n".join([line + b" HTTP/1.1", *named, b"", body])


def form(kind: bytes, body: bytes) -> bytes:
    told = (
        b"Content-Type: " + kind,
        b"Content-Length: %d" % len(body),
        b"Cookie: csrftoken=" + TOKEN.encode(),
    )
    return ask(b"POST " + LOGIN, *told, body=body)


PART = b"--b\r\nContent-Disposition: form-data; name=a"
PLAIN = b"application/x-www-form-urlencoded"
PARTS = b"multipart/form-data; boundary=b"
CLAIM = b"csrfmiddlewaretoken=" + TOKEN.encode()

NONSENSE: dict[str, bytes] = {
    "no boundary": form(b"multipart/form-data", PART),
    "a boundary that is none": form(b"multipart/form-data; boundary=\xff\xfe", PART),
    "a part in pieces": form(PARTS, PART + b"; filename*=bogus''%ff\r\n\r\nx\r\n--b"),
    "too many parts": form(PARTS, (PART + b"; filename=f\r\n\r\nx\r\n") * 2000 + b"--b--\r\n"),
    "too many fields": form(PLAIN, b"&".join(b"a%d=1" % n for n in range(3000))),
    "no alphabet": form(PLAIN, CLAIM + b"&login=%ff%00&password=\xff"),
    "a name like a book": form(PLAIN, CLAIM + b"&password=x&login=" + b"a" * 100_000),
    "a chunk that is none": ask(b"POST " + LOGIN, b"Transfer-Encoding: chunked", body=b"zz\r\nx"),
    "a length that is none": ask(b"POST " + LOGIN, b"Content-Length: -1"),
    "another host": ask(b"GET " + LOGIN, host=b"Host: evil.invalid"),
    "a host that is none": ask(b"GET " + LOGIN, host=b"Host: [\xff"),
    "no host": ask(b"GET " + LOGIN, host=b""),
    "odd cookies": ask(b"GET " + LOGIN, b'Cookie: sessionid="\\777\xff"; csrftoken=\xc3; messages=x:y; =;;'),
    "an odd language": ask(b"GET " + LOGIN, b"Accept-Language: \xff;q=x,*;q=-1," + b"a-" * 4000),
    "another root": ask(b"GET " + LOGIN, b"Daphne-Root-Path: \xff"),
    "a query in no alphabet": ask(b"GET /?q=%ff%fe%00"),
    "a path in no alphabet": ask(b"GET /s/%ff%00/\xff"),
    "a following page that is none": ask(b"GET " + LOGIN + b"?next=http://["),
    "an address that is none": ask(b"GET http://["),
    "a method that is none": ask(b"G\xc3T /"),
    "a version that is none": b"GET / HTTP/9.\xff\r\n\r\n",
    "a header like a book": ask(b"GET /", b"X: " + b"y" * 1_000_000),
    "a header that is none": ask(b"GET /", b"X\xff y"),
    "no HTTP": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0\xff" * 200 + b"\r\n\r\n",
    "a socket of nowhere": ask(b"GET /ws/%ff?after=%ff", *UPGRADE),
    "a socket without a key": ask(b"GET " + SOCKET, *UPGRADE[:3], UPGRADE[4]),
    "a socket of another age": ask(b"GET " + SOCKET, *UPGRADE[:2], b"Sec-WebSocket-Version: x", *UPGRADE[3:]),
    "a socket from no place": ask(b"GET " + SOCKET, *UPGRADE[:4], b"Origin: http://["),
    "a socket with an odd wish": ask(b"GET " + SOCKET, *UPGRADE, b"Sec-WebSocket-Protocol: \xff"),
    "a socket under another root": ask(b"GET " + SOCKET, *UPGRADE, b"Daphne-Root-Path: /x"),
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, provider: ScriptedProvider) -> Iterator[WatchedServer]:
    with serve(tmp_path_factory.mktemp("server"), provider, GYMNASIA_HEARTBEAT_S="1") as running:
        yield running
        assert "Traceback" not in running.output()


@pytest.mark.parametrize("what", NONSENSE)
def test_nonsense_is_answered_and_told_in_a_line_at_most(server: WatchedServer, what: str) -> None:
    before = len(server.output())
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as wire:
        answer = b""
        try:
            wire.sendall(NONSENSE[what])
            while piece := wire.recv(65536):
                answer += piece
        except ConnectionError:
            pass  # it did not want to hear all of it
    said = server.output()[before:]
    assert (answer[:12] == b"HTTP/1.1 500", "Traceback" in said, said.count("\n") < 3) == (False, False, True)
    assert get(server.port, "/healthz")[0] == 200


def frame(first: int, payload: bytes) -> bytes:
    return bytes([first, 0x80 | len(payload)]) + MASK + payload


def test_a_socket_that_is_torn_down_leaves_nothing_and_takes_no_other_along(
    server: WatchedServer, provider: ScriptedProvider
) -> None:
    """While bytes of it lie unread, above all: it was kept for ever, and nobody was pinged any more."""
    ana = Device(server, "ana")
    started = ana.ask("hello")
    place = f"127.0.0.1:{server.port}".encode()
    path = b"GET /ws/conversations/%s/" % started["conversation"].encode()
    cookie = f"Cookie: sessionid={ana.session}".encode()
    shake = ask(path, *UPGRADE[:4], b"Origin: http://" + place, cookie, host=b"Host: " + place)
    shake = shake.replace(b"Connection: close\r\n", b"")

    def opened() -> socket.socket:
        wire = socket.create_connection(("127.0.0.1", server.port), timeout=10)
        wire.sendall(shake)
        return wire

    junk = [
        *(
            frame(0x81, word)
            for word in (b"\xff", b"{", b'{"ack":[-1,1e999]}', b'{"ack":[[],{}]}', b"[" * 90)
        ),
        *(frame(0x88, word) for word in (b"x", b"\0\0", b"\x13\x88", b"\x03\xe8\xff")),
        *(frame(first, b"x") for first in (0xF1, 0x83, 0x80, 0x09)),
        b"\x81\xff" + b"\xff" * 8 + MASK,
        b"\x81\x02hi",
    ]
    with opened() as good:
        for number in range(60):
            wire = opened()
            if number % 3:
                assert wire.recv(12) == b"HTTP/1.1 101"
            wire.sendall(junk[number % len(junk)] if number % 2 else frame(0x81, b'{"ack":[1,1]}') * number)
            if number % 5:  # without a farewell
                wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            wire.close()
        wait_for(lambda: server.holds()["listeners"] == 1, what="the listener of the page that stays")
        came = b""
        while came.count(b"\x89\x0c") < 3:  # pings, one a second
            piece = good.recv(65536)
            assert piece
            came += piece
    assert "Traceback" not in server.output()
