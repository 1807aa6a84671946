"""The socket's twins through the real application: server-sent events, and one answer at a time."""

import asyncio
import json
import uuid
from typing import Any, NamedTuple, Self

import pytest
from asgiref.testing import ApplicationCommunicator
from django.contrib.auth.models import AbstractBaseUser
from django.contrib.sessions.models import Session

from chat import consumers, conversations, drafts, generations
from chat.engine.embedded import EmbeddedEngine
from chat.engine.hub import Farewell
from chat.models import Generation
from chat.streaming.sse import Event, SseReader
from gymnasia.asgi import application
from tests.engine.conftest import WAIT_S
from tests.fakes.provider import ScriptedProvider
from tests.fakes.script import DONE, FIN, Reset, Stall, T, Wait, play, whole_answer
from tests.listeners import ana, cookie, cookie_of, db, engine, provider, row
from tests.rows import cut, ended, person, sent

__all__ = ["ana", "cookie", "engine", "provider", "row"]

pytestmark = pytest.mark.django_db(transaction=True)


class Heard(NamedTuple):
    """One event: its name, where its reader stands after it, and what it brought."""

    name: str
    id: str
    data: Any


class Request:
    """A GET of the conversation's events as the server hands it to the application; read piece by piece."""

    def __init__(
        self,
        conversation_id: Any,
        cookie: bytes = b"",
        query: str = "",
        *,
        last: str | None = None,
        method: str = "GET",
    ) -> None:
        headers = [(b"host", b"localhost:8000"), (b"cookie", cookie)]
        if last is not None:
            headers.append((b"last-event-id", last.encode("latin-1")))
        path = f"/conversations/{conversation_id}/events"
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "headers": headers,
            "client": ("127.0.0.1", 4711),
            "server": ("127.0.0.1", 8000),
        }
        self.wire: Any = ApplicationCommunicator(application, scope)  # type: ignore[no-untyped-call]
        self.text = ""
        self.is_over = False
        self._events = SseReader(1 << 20)
        self._heard: list[Event] = []

    async def __aenter__(self) -> Self:
        await self.wire.send_input({"type": "http.request"})
        start = await self.wire.receive_output(timeout=WAIT_S)
        self.status: int = start["status"]
        self.headers = {name.decode().lower(): value.decode() for name, value in start["headers"]}
        return self

    async def __aexit__(self, *_: object) -> None:
        """The client goes, as Daphne tells it."""
        await self.wire.send_input({"type": "http.disconnect"})
        await self.wire.wait(timeout=WAIT_S)

    async def _more(self) -> None:
        piece = await self.wire.receive_output(timeout=WAIT_S)
        text = piece.get("body", b"").decode()
        self.text += text
        self._heard += self._events.feed(text)
        self.is_over = not piece.get("more_body", False)

    async def event(self) -> Heard:
        while not self._heard:
            assert not self.is_over, f"expected an event, got the end after {self.text}"
            await self._more()
        heard = self._heard.pop(0)
        return Heard(heard.type, heard.last_event_id, json.loads(heard.data))

    async def until(self, *names: str) -> list[Heard]:
        """Every event up to the first with one of these names."""
        events = [await self.event()]
        while events[-1].name not in names:
            events.append(await self.event())
        return events

    async def until_paint(self) -> Heard:
        """The first text that comes."""
        while kind(event := await self.event()) != "paint":
            pass
        return event

    async def whole(self) -> str:
        while not self.is_over:
            await self._more()
        return self.text


async def asked(conversation_id: Any, cookie: bytes, query: str = "", **more: Any) -> tuple[int, str]:
    """Status and body of an answer that ends."""
    async with Request(conversation_id, cookie, query, **more) as request:
        return request.status, await request.whole()


async def polled(conversation_id: Any, cookie: bytes, after: str = "") -> Any:
    status, body = await asked(conversation_id, cookie, f"poll=1&after={after}")
    assert status == 200
    return json.loads(body)


async def painted(running: Generation, seq: int) -> None:
    """Until the draft has been painted this often."""
    async with asyncio.timeout(WAIT_S):
        while (entry := drafts.STORE.get(running.pk)) is None or entry.draft.seq < seq:  # noqa: ASYNC110 (no event tells)
            await asyncio.sleep(0.005)


async def nobody_listens(engine: EmbeddedEngine) -> None:
    async with asyncio.timeout(WAIT_S):
        while len(engine.hub):  # noqa: ASYNC110 (no event tells)
            await asyncio.sleep(0.005)


def text_of(events: list[Heard]) -> str:
    return "".join(event.data[2] for event in events if isinstance(event.data, list))


def kind(event: Heard) -> str:
    if event.name != "message":
        return event.name
    return "paint" if isinstance(event.data, list) else str(event.data["type"])


# --- who may read ---------------------------------------------------------------------------------------------------
async def test_the_head_says_that_nothing_may_hold_it_back(
    engine: EmbeddedEngine, cookie: bytes, row: Generation
) -> None:
    """Each of these was forgotten once by somebody, and the text came all at once at the end."""
    async with Request(row.conversation_id, cookie) as request:
        assert (
            request.status,
            request.headers["content-type"],
            request.headers["cache-control"],
            request.headers["x-accel-buffering"],
            request.headers.get("content-encoding"),
            request.headers.get("content-length"),
        ) == (200, "text/event-stream", "no-cache", "no", None, None)


@pytest.mark.parametrize("query", ["", "poll=1"])
async def test_a_stranger_learns_only_that_there_is_nothing(
    engine: EmbeddedEngine, cookie: bytes, row: Generation, query: str
) -> None:
    eva = await db(lambda: cookie_of(person("eva")))
    root = await db(lambda: cookie_of(person("root", is_staff=True, is_superuser=True)))
    for theirs in (eva, root):
        assert (await asked(row.conversation_id, theirs, query))[0] == 404
    assert (await asked(uuid.uuid4(), cookie, query))[0] == 404
    assert len(engine.hub) == 0


@pytest.mark.parametrize("query", ["", "poll=1"])
async def test_who_is_not_signed_in_is_sent_to_the_door(
    engine: EmbeddedEngine, row: Generation, query: str
) -> None:
    async with Request(row.conversation_id, b"", query) as request:
        door = f"/accounts/login/?next=/conversations/{row.conversation_id}/events"
        assert (request.status, request.headers["location"].partition("%3F")[0]) == (302, door)
        await request.whole()


@pytest.mark.parametrize("method", ["POST", "HEAD", "PUT"])
async def test_it_is_only_read(engine: EmbeddedEngine, cookie: bytes, row: Generation, method: str) -> None:
    status = (await asked(row.conversation_id, cookie, method=method))[0]
    assert status == (403 if method in {"POST", "PUT"} else 405)  # without a token the CSRF check comes first


# --- what it says ---------------------------------------------------------------------------------------------------
async def test_a_reply_is_told_from_its_notice_to_its_end(
    engine: EmbeddedEngine, ana: AbstractBaseUser, cookie: bytes, row: Generation, provider: ScriptedProvider
) -> None:
    """The socket's frames, each with the cursor of who has got it; and it stays for the next reply."""
    provider.script = play(T("**Three** "), Wait(60), T("minutes."), FIN("stop"), DONE)
    async with Request(row.conversation_id, cookie) as request:
        notice, end = await request.until("end")
        assert (kind(notice), notice.data["state"]) == ("turn", "confirmed")
        assert end == Heard("end", "2:0", {"cursor": "2:0"})
        assert request.text.startswith("retry: 1000\n\n")
        for number, question in ((2, "And an egg?"), (3, "And a goose egg?")):
            reply = await db(sent, ana, question, conversation=row.conversation)
            events = await request.until("end")
            paints = [event for event in events if kind(event) == "paint"]
            [final] = [event for event in events if kind(event) == "final"]
            assert text_of(events) == "**Three** minutes."
            assert [event.data[:2] for event in paints] == [[number, at + 1] for at in range(len(paints))]
            assert [event.id for event in paints] == [f"{number}:{at + 1}" for at in range(len(paints))]
            assert (final.id, final.data["seq"]) == (f"{number + 1}:0", len(paints) + 1)
            assert (final.data["generation"], final.data["state"]) == (str(reply.pk), "confirmed")
            assert "<strong>Three</strong> minutes." in final.data["html"]
            assert events[-1] == Heard("end", f"{number + 1}:0", {"cursor": f"{number + 1}:0"})
    await nobody_listens(engine)


async def test_an_end_waits_for_the_attempt_that_follows_by_itself(
    engine: EmbeddedEngine, ana: AbstractBaseUser, cookie: bytes, row: Generation, provider: ScriptedProvider
) -> None:
    """Who closes at the first end must not miss the reply that a lost line has had begun anew."""
    engine.conf = engine.conf.but(retry_backoff_s=0.01)
    provider.queue.append(play(T("Lost "), Wait(60), Reset()))
    provider.script = whole_answer("Found.")
    async with Request(row.conversation_id, cookie) as request:
        await request.until("end")
        await db(sent, ana, "And an egg?", conversation=row.conversation)
        events = await request.until("end")
    finals = [
        (event.data["state"], event.data["reason"], event.data["handle"])
        for event in events
        if kind(event) == "final"
    ]
    assert finals == [("incomplete", "connection_lost", 2), ("confirmed", None, 3)]
    assert events[-1].id == "4:0"


@pytest.mark.parametrize("by", ["header", "after", "both"])
async def test_who_comes_back_misses_nothing_and_gets_nothing_twice(
    engine: EmbeddedEngine,
    ana: AbstractBaseUser,
    cookie: bytes,
    row: Generation,
    provider: ScriptedProvider,
    by: str,
) -> None:
    """At every event of a reply, with the id that it had; where both are given, the header is the newer one."""
    steps = [step for number in range(8) for step in (T(f"{number} "), Wait(45))]
    provider.script = play(*steps, FIN("stop"), DONE)
    running = await db(sent, ana, "Count!", conversation=row.conversation)
    heard: list[Heard] = []
    last, queries = "2:0", {"header": "", "after": "after={}", "both": "after=2:1"}
    while not heard or heard[-1].name != "end":
        header = None if by == "after" else last
        query = queries[by].format(last)
        async with Request(row.conversation_id, cookie, query, last=header) as request:
            while True:
                event = await request.event()
                if kind(event) != "turn":
                    heard.append(event)
                    last = event.id or last
                    break
    assert text_of(heard) == "".join(f"{number} " for number in range(8))
    assert [kind(event) for event in heard[-2:]] == ["final", "end"]
    assert (
        len({event.id for event in heard}) == len(heard) - 1
    )  # the last frame and the end stand at the same place
    assert (heard[-1].id, heard[-2].data["generation"]) == ("3:0", str(running.pk))
    await nobody_listens(engine)


@pytest.mark.parametrize("last", ["", "x", "1", ":", "é:1", "1:-1", "99999999999:1"])
async def test_whatever_is_no_cursor_is_the_beginning(
    engine: EmbeddedEngine, cookie: bytes, row: Generation, last: str
) -> None:
    async with Request(row.conversation_id, cookie, last=last) as request:
        notice, end = await request.until("end")
    assert (notice.data["generation"], end.id) == (str(row.pk), "2:0")


async def test_what_ended_while_the_reader_was_away_is_finished(
    engine: EmbeddedEngine, cookie: bytes, row: Generation
) -> None:
    async with Request(row.conversation_id, cookie, last="1:7") as request:
        notice, final, end = await request.until("end")
    assert (kind(notice), kind(final), final.id, final.data["seq"]) == ("turn", "final", "2:0", 8)
    assert "Two minutes." in final.data["html"]
    async with Request(row.conversation_id, cookie, last=end.id) as request:
        assert await request.until("end") == [end]


async def test_a_heart_beats_while_nothing_is_said(
    engine: EmbeddedEngine, ana: AbstractBaseUser, cookie: bytes, row: Generation, provider: ScriptedProvider
) -> None:
    """A proxy ends what is silent for long, a stalled provider's stream as well as an idle page's."""
    engine.conf = engine.conf.but(heartbeat_s=0.05)
    provider.script = play(T("One "), Stall())
    async with Request(row.conversation_id, cookie) as request:
        await request.until("end")
        while request.text.count(": heartbeat\n\n") < 3:
            await request._more()
        await db(sent, ana, "And an egg?", conversation=row.conversation)
        assert (await request.until_paint()).data == [2, 1, "One "]
        before = request.text.count(": heartbeat\n\n")
        while request.text.count(": heartbeat\n\n") < before + 3:
            await request._more()


# --- how it ends ----------------------------------------------------------------------------------------------------
async def test_when_the_conversation_is_deleted_it_says_so_and_ends(
    engine: EmbeddedEngine, ana: AbstractBaseUser, cookie: bytes, row: Generation
) -> None:
    async with Request(row.conversation_id, cookie) as request:
        await request.until("end")
        await db(conversations.delete, row.conversation, by=ana)
        assert await request.event() == Heard("error", "2:0", {"reason": "gone"})
        await request.whole()
    assert (await asked(row.conversation_id, cookie))[0] == 404
    await nobody_listens(engine)


async def test_who_signs_out_elsewhere_reads_no_further(
    engine: EmbeddedEngine, cookie: bytes, row: Generation
) -> None:
    """The response may live for hours."""
    async with Request(row.conversation_id, cookie) as request:
        await request.until("end")
        await db(Session.objects.all().delete)
        assert await request.event() == Heard("error", "2:0", {"reason": "signed_out"})
        await request.whole()
    await nobody_listens(engine)


async def test_a_server_that_stops_tells_the_reply_s_end_and_then_its_own(
    engine: EmbeddedEngine, ana: AbstractBaseUser, cookie: bytes, row: Generation, provider: ScriptedProvider
) -> None:
    provider.script = play(T("One "), Stall())
    async with Request(row.conversation_id, cookie) as request:
        await request.until("end")
        running = await db(sent, ana, "And an egg?", conversation=row.conversation)
        await painted(running, 1)
        await engine.drain()
        events = await request.until("error")
        await request.whole()
    [final] = [event.data for event in events if kind(event) == "final"]
    assert (final["state"], final["reason"]) == ("incomplete", "shutdown")
    assert events[-1] == Heard("error", "3:0", {"reason": "draining"})
    assert len(engine.hub) == 0


@pytest.mark.parametrize("state", ["draining", "absent"])
async def test_a_server_without_a_running_engine_says_come_back(
    engine: EmbeddedEngine, cookie: bytes, row: Generation, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    """In a way that makes a browser do so by itself: one that is answered with an error never comes again."""
    if state == "draining":
        await engine.drain()
    else:
        monkeypatch.setattr(consumers, "_engine", None)
    async with Request(row.conversation_id, cookie) as request:
        assert (request.status, await request.event()) == (200, Heard("error", "", {"reason": "draining"}))
        await request.whole()
    status, body = await asked(row.conversation_id, cookie, "poll=1")
    assert (status, json.loads(body)["error"]) == (503, "draining")


async def test_one_that_begins_while_the_server_stops_does_not_hold_it_up(
    engine: EmbeddedEngine, cookie: bytes, row: Generation
) -> None:
    """It may join when everyone has been sent away already."""
    async with Request(row.conversation_id, cookie) as request:
        engine.draining = True
        assert (await request.until("error"))[-1].data == {"reason": "draining"}
        await request.whole()
    engine.draining = False


async def test_what_breaks_inside_is_told_as_an_event(
    engine: EmbeddedEngine, cookie: bytes, row: Generation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The status was sent long ago: a bare end would look like a lost line."""

    def broken(*_: Any) -> list[Generation]:
        raise ConnectionError("the database went away")

    monkeypatch.setattr(consumers, "_generations", broken)
    async with Request(row.conversation_id, cookie) as request:
        assert await request.event() == Heard("error", "", {"reason": "failed"})
        await request.whole()
    assert len(engine.hub) == 0


async def test_a_reader_that_fails_does_not_stop_the_others(
    engine: EmbeddedEngine, cookie: bytes, row: Generation
) -> None:
    async with Request(row.conversation_id, cookie) as request:
        await request.until("end")
        [listener] = next(iter(engine.hub._listeners.values()))
        await engine.hub._send_away(listener, Farewell.AGAIN)
        assert await request.event() == Heard("error", "2:0", {"reason": "failed"})
        await request.whole()


@pytest.mark.parametrize("knob", [{"response_frames": 3}, {"ahead_bytes": 1024}])
async def test_one_response_brings_no_more_than_its_share(
    engine: EmbeddedEngine,
    ana: AbstractBaseUser,
    cookie: bytes,
    row: Generation,
    provider: ScriptedProvider,
    knob: dict[str, int],
) -> None:
    """Whoever does not read has no more than this piled up for it; whoever reads comes back and has it all."""
    engine.conf = engine.conf.but(**knob)
    steps = [step for number in range(25) for step in (T(f"{number} " + "x" * 100), Wait(45))]
    provider.script = play(*steps, FIN("stop"), DONE)
    await db(sent, ana, "Count!", conversation=row.conversation)
    heard: list[Heard] = []
    last, responses = "2:0", 0
    while not heard or heard[-1].name != "end":
        responses += 1
        async with Request(row.conversation_id, cookie, last=last) as request:
            events = await request.until("more", "end")
            if events[-1].name == "more":
                await request.whole()
            assert len(request.text) < 6144  # of which a final frame is the half
        heard += events
        last = next(event.id for event in reversed(events) if event.id)
    assert text_of(heard) == "".join(f"{number} " + "x" * 100 for number in range(25))
    assert [kind(event) for event in heard].count("final") == 1
    assert responses > 2
    await nobody_listens(engine)


async def test_who_goes_away_in_the_middle_leaves_nothing_behind(
    engine: EmbeddedEngine, ana: AbstractBaseUser, cookie: bytes, row: Generation, provider: ScriptedProvider
) -> None:
    """The reply goes on without them."""
    provider.script = whole_answer("Three minutes for an egg, and five for one that stands.", ms=20)
    before = len(asyncio.all_tasks())
    running = await db(sent, ana, "And an egg?", conversation=row.conversation)
    for _ in range(10):
        async with Request(row.conversation_id, cookie) as request:
            await request.until_paint()
            assert len(engine.hub) == 1
        assert len(engine.hub) == 0
    async with asyncio.timeout(WAIT_S):
        while (await db(Generation.objects.get, pk=running.pk)).state != "confirmed":  # noqa: ASYNC110 (a row)
            await asyncio.sleep(0.01)
    assert len(asyncio.all_tasks()) <= before


# --- one answer -----------------------------------------------------------------------------------------------------
async def test_an_answer_is_never_cached(engine: EmbeddedEngine, cookie: bytes, row: Generation) -> None:
    async with Request(row.conversation_id, cookie, "poll=1") as request:
        assert (request.headers["content-type"], request.headers["cache-control"]) == (
            "application/json",
            "max-age=0, no-cache, no-store, must-revalidate, private",
        )
        assert int(request.headers["content-length"]) == len(await request.whole())


async def test_answers_follow_one_another_by_their_cursors(
    engine: EmbeddedEngine, ana: AbstractBaseUser, cookie: bytes, row: Generation, provider: ScriptedProvider
) -> None:
    """The same frames as the socket's; an answer never waits for what is to come."""
    steps = [step for number in range(8) for step in (T(f"{number} "), Wait(45))]
    provider.script = play(*steps, FIN("stop"), DONE)
    first = await polled(row.conversation_id, cookie)
    assert ([frame["state"] for frame in first["frames"]], first["cursor"], first["end"]) == (
        ["confirmed"],
        "2:0",
        True,
    )
    assert await polled(row.conversation_id, cookie, "2:0") == {"frames": [], "cursor": "2:0", "end": True}
    running = await db(sent, ana, "Count!", conversation=row.conversation)
    await painted(running, 2)
    frames: list[Any] = []
    cursor, ends, cursors = "2:0", [False], []
    while not ends[-1]:
        answer = await polled(row.conversation_id, cookie, cursor)
        frames += answer["frames"]
        cursor = answer["cursor"]
        ends.append(answer["end"])
        cursors.append(cursor)
    paints = [frame for frame in frames if isinstance(frame, list)]
    finals = [frame for frame in frames if isinstance(frame, dict) and frame["type"] == "final"]
    assert "".join(paint[2] for paint in paints) == "".join(f"{number} " for number in range(8))
    assert [(final["generation"], final["state"]) for final in finals] == [(str(running.pk), "confirmed")]
    assert (cursor, ends.count(True), len(set(cursors)) > 2) == ("3:0", 1, True)
    assert len(engine.hub) == 0


async def test_an_answer_brings_no_more_than_its_share(
    engine: EmbeddedEngine, ana: AbstractBaseUser, cookie: bytes, row: Generation, provider: ScriptedProvider
) -> None:
    """Where more is there than one answer may bring, the next one brings it; and that is not the end."""
    engine.conf = engine.conf.but(ahead_bytes=1024)
    provider.script = play(T("x" * 40_000), Stall())
    running = await db(sent, ana, "Long!", conversation=row.conversation)
    await painted(running, 3)
    sizes, cursor, answer = [], "2:0", await polled(row.conversation_id, cookie, "2:0")
    for _ in range(4):
        answer = await polled(row.conversation_id, cookie, cursor)
        sizes.append(sum(len(frame[2]) for frame in answer["frames"] if isinstance(frame, list)))
        cursor = answer["cursor"]
        assert answer["end"] is False
    assert (sizes, cursor) == ([16_384, 16_384, 40_000 - 2 * 16_384, 0], "2:3")
    await db(generations.cancel, running, by=ana)
    async with asyncio.timeout(WAIT_S):
        while not answer["end"]:
            answer = await polled(row.conversation_id, cookie, cursor)
            cursor = answer["cursor"]
    final = answer["frames"][-1]
    assert (final["type"], final["seq"], final["state"], final["html"]) == ("final", 4, "cancelled", "")
    assert cursor == "3:0"


@pytest.fixture
def other(ana: AbstractBaseUser) -> Generation:
    return ended(sent(ana, "Elsewhere?"), cut())


async def test_a_cursor_of_another_conversation_is_the_beginning(
    other: Generation, engine: EmbeddedEngine, cookie: bytes, row: Generation
) -> None:
    answer = await polled(row.conversation_id, cookie, f"{other.pk}:3")
    assert [frame["generation"] for frame in answer["frames"]] == [str(row.pk)]
