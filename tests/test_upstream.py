"""The way out, over real sockets: bytes as they come, and one name for each way that a line can fail."""

import asyncio
import time
import zlib
from collections.abc import AsyncIterator, Iterator

import pytest

from chat.providers.base import UpstreamRequest
from chat.upstream import Lost, NotReached, Silent, Upstream, UpstreamFault
from tests.fakes.provider import ScriptedProvider
from tests.fakes.script import (
    FIN,
    Cut,
    End,
    Paced,
    Reset,
    Script,
    Stall,
    T,
    Wait,
    headless,
    page,
    play,
    whole_answer,
)

KEY = "sk-secret-0123456789"
PROMPT = b'{"messages":[{"role":"user","content":"a private question"}]}'


@pytest.fixture
def provider() -> Iterator[ScriptedProvider]:
    with ScriptedProvider() as running:
        yield running


@pytest.fixture
async def upstream() -> AsyncIterator[Upstream]:
    client = Upstream(connect_timeout_s=2, idle_timeout_s=0.3)
    yield client
    await client.aclose()


def request_to(base_url: str, **headers: str) -> UpstreamRequest:
    url = f"{base_url}/chat/completions"
    return UpstreamRequest("POST", url, {"Authorization": f"Bearer {KEY}", **headers}, PROMPT)


async def body_of(upstream: Upstream, provider: ScriptedProvider) -> tuple[bytes, UpstreamFault | None]:
    """All bytes of the answer, and the fault that ended it, if one did."""
    data = b""
    async with upstream.open(request_to(provider.base_url)) as response:
        try:
            async for piece in response.chunks():
                data += piece
        except UpstreamFault as fault:
            return data, fault
    return data, None


# --- what comes -----------------------------------------------------------------------------------------------------
async def test_bytes_come_as_they_were_sent(upstream: Upstream, provider: ScriptedProvider) -> None:
    """Not decoded, not cut at lines; the request arrives as it was built."""
    provider.script = play(b"data: caf\xc3", Wait(5), b"\xa9\xe2\x80\xa8\r", Wait(5), b"\n\r\n")
    data, fault = await body_of(upstream, provider)
    (record,) = provider.requests
    assert (data, fault) == (b"data: caf\xc3\xa9\xe2\x80\xa8\r\n\r\n", None)
    assert (record.body, record.headers["authorization"]) == (PROMPT, f"Bearer {KEY}")


async def test_the_first_bytes_do_not_wait_for_the_rest(
    upstream: Upstream, provider: ScriptedProvider
) -> None:
    provider.script = play(T("Two"), Stall())
    async with upstream.open(request_to(provider.base_url)) as response:
        first = await anext(response.chunks())
    assert first == T("Two")


@pytest.mark.parametrize(
    ("status", "kind", "answer"),
    [
        (200, "text/event-stream", True),
        (200, "Text/Event-Stream; charset=utf-8", True),
        (200, "application/json", False),
        (200, "text/html", False),
        (200, "text/event-streamer", False),
        (429, "text/event-stream", False),
        (503, "application/json", False),
    ],
)
async def test_only_a_good_status_with_the_right_type_is_a_stream(
    upstream: Upstream, provider: ScriptedProvider, status: int, kind: str, answer: object
) -> None:
    """A login page with status 200 is no reply."""
    provider.script = page(b"x", status=status, content_type=kind, Retry_After="2")
    async with upstream.open(request_to(provider.base_url)) as response:
        assert (response.status, response.is_event_stream) == (status, answer)
        assert response.headers["retry-after"] == "2"


@pytest.mark.parametrize(
    ("at_most", "read"), [(5, b"01234"), (10, b"0123456789"), (99, b"0123456789"), (0, b"")]
)
async def test_of_an_error_page_only_the_beginning_is_read(
    upstream: Upstream, provider: ScriptedProvider, at_most: int, read: bytes
) -> None:
    provider.script = page(b"0123456789", status=500)
    async with upstream.open(request_to(provider.base_url)) as response:
        assert await response.body(at_most=at_most) == read


@pytest.mark.parametrize("end", [Reset(), Cut(), Stall()])
async def test_an_error_page_that_breaks_off_is_given_as_far_as_it_came(
    upstream: Upstream, provider: ScriptedProvider, end: Reset | Cut | Stall
) -> None:
    provider.script = Script((b"too many", Wait(30), end), status=429, headers={})
    async with upstream.open(request_to(provider.base_url)) as response:
        assert await response.body(at_most=100) == b"too many"


# --- how it fails ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("steps", "fault"),
    [
        ((T("Two"), Wait(30), Reset()), Lost),
        ((T("Two"), Wait(30), Cut()), Lost),
        ((T("Two"), Stall()), Silent),
        ((T("Two"), End()), type(None)),
    ],
)
async def test_each_way_to_break_off_has_its_name(
    upstream: Upstream,
    provider: ScriptedProvider,
    steps: tuple[bytes | Wait | Reset | Cut | Stall | End, ...],
    fault: type,
) -> None:
    """A reset, a body shorter than promised, silence; and an orderly end, which is no fault and proves nothing."""
    provider.script = play(*steps)
    data, found = await body_of(upstream, provider)
    assert (data, type(found)) == (T("Two"), fault)


async def test_what_came_before_a_break_is_read_though_nobody_was_asking(
    upstream: Upstream, provider: ScriptedProvider
) -> None:
    """A busy server asks for the next piece when the line is already known to be broken: the last words must not go."""
    provider.script = play(T("Two"), Wait(5), T(" sets"), Wait(5), FIN("stop"), Wait(5), Reset())
    async with upstream.open(request_to(provider.base_url)) as response:
        pieces = response.chunks()
        data = await anext(pieces)
        for _ in range(2000):
            if response._stream.exception() is not None:
                break
            await asyncio.sleep(0.005)
        data += await anext(pieces)
        with pytest.raises(Lost):
            await anext(pieces)
    assert data == T("Two") + T(" sets") + FIN("stop")


async def test_where_nobody_listens_nothing_was_reached(upstream: Upstream) -> None:
    with ScriptedProvider() as gone:
        base_url = gone.base_url
    with pytest.raises(NotReached, match="Cannot connect"):
        async with upstream.open(request_to(base_url)):
            pass


@pytest.mark.parametrize(
    "base_url", ["http://", "ftp://127.0.0.1", "http://127.0.0.1:99999", "http://[::1", "x"]
)
async def test_an_address_that_is_none_is_not_reached(upstream: Upstream, base_url: str) -> None:
    with pytest.raises(NotReached):
        async with upstream.open(request_to(base_url)):
            pass


async def test_headers_that_never_come_are_not_reached(
    upstream: Upstream, provider: ScriptedProvider
) -> None:
    """The request may be sent again: nothing of an answer was seen."""
    provider.script = play(hold_ms=float("inf"))
    with pytest.raises(NotReached, match=r"no whole answer head within 2\.3 s"):
        async with upstream.open(request_to(provider.base_url)):
            pass


async def test_what_came_on_a_connection_before_says_nothing_of_the_next_request(
    upstream: Upstream, provider: ScriptedProvider
) -> None:
    """Kept open by one reply, reset under the next: that one may be sent again."""
    provider.queue.extend([whole_answer("Two."), headless(b"", Reset())])
    await body_of(upstream, provider)
    with pytest.raises(NotReached):
        async with upstream.open(request_to(provider.base_url)):
            pass
    first, second = provider.requests
    assert first.connected_at == second.connected_at


async def test_a_body_in_a_broken_encoding_is_lost(upstream: Upstream, provider: ScriptedProvider) -> None:
    provider.script = Script((b"no gzip at all",), headers={"Content-Encoding": "gzip"})
    _, fault = await body_of(upstream, provider)
    assert type(fault) is Lost


async def test_a_body_that_is_packed_against_our_wish_comes_unpacked_and_at_once(
    upstream: Upstream, provider: ScriptedProvider
) -> None:
    """Some proxy in between does it: an event must not wait for the end of the archive."""
    packer = zlib.compressobj(wbits=31)
    first = packer.compress(T("Two")) + packer.flush(zlib.Z_SYNC_FLUSH)
    provider.script = Script((first, Stall()), headers={"Content-Encoding": "gzip"})
    async with upstream.open(request_to(provider.base_url)) as response:
        assert await anext(response.chunks()) == T("Two")


async def test_a_key_with_a_line_end_in_it_is_not_sent(
    upstream: Upstream, provider: ScriptedProvider
) -> None:
    """A file with a key often ends with one; it would be a header of its own, and must not be told either."""
    provider.script = whole_answer("Two.")
    await body_of(upstream, provider)  # the next one finds its connection open
    with pytest.raises(NotReached) as caught:
        async with upstream.open(request_to(provider.base_url, **{"X-Key": f"{KEY}\r\nX-Evil: 1"})):
            pass
    assert (KEY in str(caught.value), len(provider.requests)) == (False, 1)


async def test_no_fault_tells_a_key_or_a_prompt(upstream: Upstream, provider: ScriptedProvider) -> None:
    """Its text goes to the journal and to the log."""
    faults: list[BaseException] = []
    scripts = [play(T("x"), Wait(20), Reset()), play(T("x"), Stall()), play(hold_ms=float("inf"))]
    provider.queue.extend(scripts)
    targets = [provider.base_url] * 3 + ["http://", "http://127.0.0.1:1/v1", "http://127.0.0.1:99999"]
    for base_url in targets:
        try:
            async with upstream.open(request_to(base_url)) as response:
                async for _ in response.chunks():
                    pass
        except UpstreamFault as fault:
            faults.append(fault)
    # A traceback that is logged shows no exception of the client, which would hold the whole request.
    assert {(fault.__cause__, fault.__suppress_context__) for fault in faults} == {(None, True)}
    assert len(faults) == len(targets)
    told = " ".join(f"{fault!r} {fault}" for fault in faults) + repr(request_to(provider.base_url))
    assert [word for word in (KEY, "Bearer", "uthorization", "private") if word in told] == []


# --- connections ----------------------------------------------------------------------------------------------------
async def test_leaving_early_closes_the_connection_within_a_second(
    upstream: Upstream, provider: ScriptedProvider
) -> None:
    """Stop means stop: the provider must not go on writing, and counting."""
    provider.script = play(Paced(tuple(T(f"w{n} ") for n in range(2000)), 200))
    async with upstream.open(request_to(provider.base_url)) as response:
        await anext(response.chunks())
        left = time.monotonic()
    await asyncio.to_thread(
        provider.wait_until, lambda requests: requests[0].peer_closed_at is not None, timeout_s=1
    )
    closed = provider.requests[0].peer_closed_at
    assert closed is not None
    assert closed - left < 1


async def test_two_hundred_open_streams_wait_for_no_pool(
    upstream: Upstream, provider: ScriptedProvider
) -> None:
    """With the transport's own ceiling the 101st reply would wait, in silence, for another one's end."""
    provider.script = play(T("Two"), Stall())
    firsts: list[bytes] = []
    enough = asyncio.Event()

    async def hold() -> None:
        async with upstream.open(request_to(provider.base_url)) as response:
            firsts.append(await anext(response.chunks()))
            if len(firsts) == 220:
                enough.set()
            await enough.wait()

    async with asyncio.timeout(10):
        await asyncio.gather(*(hold() for _ in range(220)))
    assert firsts == [T("Two")] * 220


async def test_a_connection_whose_answer_was_read_to_its_end_serves_again(
    upstream: Upstream, provider: ScriptedProvider
) -> None:
    """The second reply of a conversation saves a handshake."""
    provider.script = whole_answer("Two.")
    for _ in range(2):
        await body_of(upstream, provider)
    first, second = provider.requests
    assert first.connected_at == second.connected_at


async def test_what_is_told_to_a_provider_is_what_its_wire_says(
    upstream: Upstream, provider: ScriptedProvider
) -> None:
    """No cookie of one person's reply goes out with another's, and nothing of the machine or its libraries is told."""
    provider.script = Script((T("Two"),), headers={"Set-Cookie": "__cf_bm=one; Path=/"})
    for _ in range(2):
        await body_of(upstream, provider)
    told = {name: value for name, value in provider.requests[1].headers.items() if name != "host"}
    assert told == {
        "accept": "*/*",
        "accept-encoding": "identity",
        "authorization": f"Bearer {KEY}",
        "connection": "keep-alive",
        "content-length": str(len(PROMPT)),
        "content-type": "application/octet-stream",
        "user-agent": "Gymnasia",
    }


async def test_a_redirect_is_not_followed(upstream: Upstream, provider: ScriptedProvider) -> None:
    """The key would go along to wherever it points."""
    provider.script = page(b"", status=307, content_type="text/plain", Location=f"{provider.base_url}/other")
    async with upstream.open(request_to(provider.base_url)) as response:
        assert (response.status, len(provider.requests)) == (307, 1)


async def test_proxies_of_the_environment_are_not_used(
    upstream: Upstream, provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A prompt goes where the table of endpoints says, and nowhere else."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    provider.script = whole_answer("Two.")
    fresh = Upstream(connect_timeout_s=1, idle_timeout_s=1)
    _, fault = await body_of(fresh, provider)
    await fresh.aclose()
    assert fault is None
