"""Heads and frames of answers over real sockets that no server of HTTP would send: what is read of them, and what is not."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from chat.providers.base import UpstreamRequest
from chat.upstream import Garbled, NotReached, Upstream, UpstreamFault

PROMPT = b'{"messages":[{"role":"user","content":"a private question"}]}'


@pytest.fixture
async def upstream() -> AsyncIterator[Upstream]:
    client = Upstream(connect_timeout_s=2, idle_timeout_s=1)
    yield client
    await client.aclose()


def request_to(base_url: str) -> UpstreamRequest:
    return UpstreamRequest("POST", f"{base_url}/chat/completions", {}, PROMPT)


@asynccontextmanager
async def raw_server(answer: bytes) -> AsyncIterator[str]:
    """A server that answers anything with these bytes and closes."""

    serving: set[asyncio.Task[None] | None] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving.add(asyncio.current_task())
        with contextlib.suppress(
            OSError, EOFError
        ):  # the client may go before it has read, or said, all of it
            await reader.readuntil(PROMPT)
            writer.write(answer)
            await writer.drain()
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        await asyncio.gather(*(task for task in serving if task is not None))


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (b"", NotReached),
        (b"H", Garbled),
        (b"SSH-2.0-OpenSSH_9.2\r\n", Garbled),
        (b"HTTP/1.1 two hundred\r\n\r\n", Garbled),
        (b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n", Garbled),
        (b"HTTP/1.1 200 OK\r\nX: private" + b"y" * 1_000_000, Garbled),
        (b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n", Garbled),
        (b"HTTP/1.1 100 Continue\r\n\r\n", Garbled),
    ],
)
async def test_what_is_no_http_is_no_answer_but_has_come(
    upstream: Upstream, answer: bytes, told: type[UpstreamFault]
) -> None:
    """A wrong port, a broken proxy: never a traceback; and where a byte came back, the request has arrived."""
    async with raw_server(answer) as base_url:
        with pytest.raises(UpstreamFault) as caught:
            async with upstream.open(request_to(base_url)):
                pass
    assert (type(caught.value), "private" in str(caught.value)) == (told, False)


async def test_a_status_line_in_any_letters_is_one(upstream: Upstream) -> None:
    """Its words are for nobody, and may be in Latin-1."""
    head = b"HTTP/1.1 429 Trop demand\xe9\r\nContent-Length: 0\r\n\r\n"
    async with raw_server(head) as base_url, upstream.open(request_to(base_url)) as response:
        assert response.status == 429


@pytest.mark.parametrize("body", [b"zz\r\nnot hexadecimal\r\n", b"5\r\nab", b"-1\r\n"])
async def test_a_body_whose_framing_is_broken_is_lost(upstream: Upstream, body: bytes) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    async with raw_server(head + body) as base_url:
        with pytest.raises(UpstreamFault):  # noqa: PT012 (where in the block is the parser's business)
            async with upstream.open(request_to(base_url)) as response:
                async for _ in response.chunks():
                    pass


async def test_of_a_header_that_comes_twice_the_first_counts(upstream: Upstream) -> None:
    """By its name in any letters; and no odd byte of it stops a journal row from being written."""
    head = b"HTTP/1.1 429 No\r\nRETRY-After: 2\r\nRetry-After: 9\r\nX-Odd: \xff\r\nContent-Length: 0\r\n\r\n"
    async with raw_server(head) as base_url, upstream.open(request_to(base_url)) as response:
        assert response.retry_after_s == 2
        assert dict(response.headers) == {"retry-after": "2", "x-odd": "ÿ", "content-length": "0"}
