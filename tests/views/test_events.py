"""The socket's twins through the real application: server-sent events, and one answer at a time."""

import asyncio
import threading
import uuid
from typing import Any

import pytest
from django.contrib.auth.models import AbstractBaseUser

from chat import generations
from chat.engine.embedded import EmbeddedEngine
from chat.models import Generation
from tests.engine.conftest import WAIT_S
from tests.fakes.provider import ScriptedProvider
from tests.fakes.script import DONE, FIN, Reset, Stall, T, Until, Wait, play, whole_answer
from tests.listeners import ana, cookie, cookie_of, db, engine, provider, row
from tests.rows import cut, ended, person, sent
from tests.views.hearing import Heard, Request, asked, kind, nobody_listens, painted, polled, text_of

__all__ = ["ana", "cookie", "engine", "provider", "row"]

pytestmark = pytest.mark.django_db(transaction=True)


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
    whole, is_heard = "".join(f"{number} " for number in range(8)), threading.Event()
    provider.script = play(*steps, Until(is_heard), FIN("stop"), DONE)
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
        if text_of(heard) == whole:
            is_heard.set()
    assert text_of(heard) == whole
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
    whole, is_heard = "".join(f"{number} " for number in range(8)), threading.Event()
    provider.script = play(*steps, Until(is_heard), FIN("stop"), DONE)
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
    text, cursor, ends, cursors = "", "2:0", [False], []
    while not ends[-1]:
        answer = await polled(row.conversation_id, cookie, cursor)
        frames += answer["frames"]
        cursor = answer["cursor"]
        ends.append(answer["end"])
        cursors.append(cursor)
        text = "".join(frame[2] for frame in frames if isinstance(frame, list))
        if text == whole:
            is_heard.set()
    finals = [frame for frame in frames if isinstance(frame, dict) and frame["type"] == "final"]
    assert text == whole
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
