"""How a stream of events ends: a deletion, a sign-out, a server that stops, a fault, its share, its reader's going."""

import asyncio
import json
import threading
from typing import Any

import pytest
from django.contrib.auth.models import AbstractBaseUser
from django.contrib.sessions.models import Session

from chat import consumers, conversations
from chat.engine.embedded import EmbeddedEngine
from chat.engine.hub import Farewell
from chat.models import Generation
from tests.engine.conftest import WAIT_S
from tests.fakes.provider import ScriptedProvider
from tests.fakes.script import DONE, FIN, Stall, T, Until, Wait, play
from tests.listeners import ana, cookie, db, engine, provider, row
from tests.rows import sent
from tests.views.hearing import Heard, Request, asked, kind, nobody_listens, painted, text_of

__all__ = ["ana", "cookie", "engine", "provider", "row"]

pytestmark = pytest.mark.django_db(transaction=True)


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
    all_have_been = threading.Event()
    provider.script = play(T("Three minutes "), Until(all_have_been), T("for an egg."), FIN("stop"), DONE)
    before = len(asyncio.all_tasks())
    running = await db(sent, ana, "And an egg?", conversation=row.conversation)
    for _ in range(10):
        async with Request(row.conversation_id, cookie) as request:
            await request.until_paint()
            assert len(engine.hub) == 1
        assert len(engine.hub) == 0
    all_have_been.set()
    async with asyncio.timeout(WAIT_S):
        while (await db(Generation.objects.get, pk=running.pk)).state != "confirmed":  # noqa: ASYNC110 (a row)
            await asyncio.sleep(0.01)
    assert len(asyncio.all_tasks()) <= before
