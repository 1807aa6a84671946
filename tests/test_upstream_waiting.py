"""How long the way out waits: as long as a provider asks for, and for an answer that drips never without an end."""

import asyncio
import gzip
import itertools
import time

import pytest
import time_machine

from chat.providers.base import UpstreamRequest
from chat.upstream import SLICE_BYTES, Garbled, NotReached, Upstream, retry_after_s
from tests.fakes.provider import ScriptedProvider
from tests.fakes.script import Script, Stall, T, Wait, headless, play


def asked(provider: ScriptedProvider) -> UpstreamRequest:
    return UpstreamRequest("POST", f"{provider.base_url}/chat/completions", {}, b"{}")


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("", None),
        ("  ", None),
        ("3", 3.0),
        (" 0.5 ", 0.5),
        ("-1", 0.0),
        ("Mon, 30 Nov 2026 12:00:05 GMT", 5.0),
        ("Mon, 30 Nov 2026 11:59:00 GMT", 0.0),
        ("Mon, 30 Nov 2026 12:00:05 -0000", 5.0),
        ("soon", None),
        ("Mon, 99 Nov 2026", None),
        ("nan", None),
        ("1e308", 366 * 86_400),
        ("inf", None),
    ],
)
@time_machine.travel("2026-11-30T12:00:00Z", tick=False)
def test_retry_after_is_seconds_or_a_date(value: str, seconds: float | None) -> None:
    """RFC 9110, 10.2.3; what is neither says nothing, and nobody waits for ever."""
    assert retry_after_s(value) == seconds


@pytest.mark.parametrize("packing", ["", "gzip"])
async def test_a_flood_leaves_everybody_else_their_turns(packing: str) -> None:
    """Packed it is a thousandth on the line: read in one go, every page of the server waited a minute for it."""
    upstream = Upstream(connect_timeout_s=5, idle_timeout_s=5)
    flood = b":\n\n" * 1_000_000
    headers = {"Content-Type": "text/event-stream"} | ({"Content-Encoding": packing} if packing else {})
    with ScriptedProvider(Script((gzip.compress(flood) if packing else flood,), headers=headers)) as provider:
        async with upstream.open(asked(provider)) as response:
            turns = 0

            async def others() -> None:
                nonlocal turns
                while True:
                    turns += 1
                    await asyncio.sleep(0)

            async with asyncio.TaskGroup() as group:
                other = group.create_task(others())
                seen = [(len(piece), turns) async for piece in response.chunks()]
                other.cancel()
    await upstream.aclose()
    assert sum(size for size, _ in seen) == len(flood)
    assert max(size for size, _ in seen) <= SLICE_BYTES
    read = 0
    for (size, before), (_, after) in itertools.pairwise(seen):
        read = 0 if after > before else read + size
        assert read <= SLICE_BYTES


async def test_a_way_of_packing_that_cannot_be_undone_is_no_event_stream() -> None:
    upstream = Upstream(connect_timeout_s=5, idle_timeout_s=5)
    headers = {"Content-Type": "text/event-stream", "Content-Encoding": "br"}
    with ScriptedProvider(Script((b"\x8b\x02\x80data",), headers=headers)) as provider:
        async with upstream.open(asked(provider)) as response:
            assert (response.is_event_stream, response.kind) == (False, "text/event-stream packed as br")
    await upstream.aclose()


async def test_a_drip_of_headers_or_of_an_error_is_no_answer() -> None:
    """Never silent, never done: it is bounded before the stream as the stream itself is."""
    upstream = Upstream(connect_timeout_s=1, idle_timeout_s=1, answer_timeout_s=0.3)
    drip = [step for _ in range(200) for step in (b"x", Wait(20))]
    with ScriptedProvider(
        Script(tuple(drip), status=500, headers={"Content-Type": "text/plain"})
    ) as provider:
        async with upstream.open(asked(provider)) as response:
            begun = time.monotonic()
            body = await response.body(at_most=10_000)
        assert 0 < len(body) < 60
        assert time.monotonic() - begun < 2
    for held, told in (
        (play(T("late"), hold_ms=float("inf")), NotReached),
        (headless(b"HTTP/1.1 200 OK\r\n", Stall()), Garbled),
    ):
        silent = pytest.raises(told, match=r"no whole answer head within 0\.3 s")
        with ScriptedProvider(held) as provider, silent:
            async with upstream.open(asked(provider)):
                raise AssertionError("unreachable")
    await upstream.aclose()
