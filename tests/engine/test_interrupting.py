"""A server that stops in the middle of a move: what people have seen is never journalled as something that never began."""

import asyncio
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth.models import AbstractBaseUser

from chat import catalogue
from chat.engine.embedded import EmbeddedEngine
from chat.models import Generation, JournalRow
from tests.engine.conftest import MS, WAIT_S, Make, ask
from tests.engine.conftest import until as until_state
from tests.engine.test_resuming import Stage
from tests.engine.test_resuming import ask as ask_in_background
from tests.fakes.provider import ScriptedProvider
from tests.fakes.responses import ResponsesProvider
from tests.fakes.script import Script, Stall, T, play
from tests.rows import closing


async def test_a_stop_of_the_server_does_not_take_the_opening_along(
    make_engine: Make, provider: ScriptedProvider, person: AbstractBaseUser
) -> None:
    """1. headers and text come, the text is painted; 2. the database is busy, so the move still waits its turn; 3. SIGTERM.
    The waiting move was cancelled with the runner that waited for it: `failed`, never opened, under text on the page."""
    provider.script = play(T("Two"), Stall(), hold_ms=200)  # until the database is busy
    engine = await make_engine(sweep_interval_s=60, checkpoint_interval_ms=60_000)
    row = await ask(engine, person)
    run = engine._runs[row.pk]
    await until(lambda: run.job is not None)  # the lease is taken; the next move is the opening
    free, blocking = await block(engine)
    await until(lambda: run.told)
    draining = asyncio.create_task(engine.drain())
    await until(lambda: run.ending)
    free.set()
    await asyncio.gather(blocking, draining)
    now = await asyncio.to_thread(closing, lambda: Generation.objects.get(pk=row.pk))
    assert (now.state, now.reason) == ("incomplete", "shutdown")
    journal = await asyncio.to_thread(
        closing, lambda: [*JournalRow.objects.values_list("trigger", flat=True)]
    )
    assert journal == ["opened", "ended_short"]


async def test_a_stop_of_the_server_does_not_take_the_providers_id_along(
    person: AbstractBaseUser, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """1. a background reply is named; 2. the database is busy, so the name still waits to be kept; 3. SIGTERM. The next
    process found an open reply that nobody can go on with, and took it for lost."""
    monkeypatch.setattr(catalogue, "defaults", lambda _: {"background": True, "store": True})
    words = [f"w{n} " for n in range(9)]
    with Late(words, [6, None], ends=Stall()) as provider:
        stage = Stage(provider, settings, checkpoint_interval_ms=60_000, sweep_interval_s=0.05)
        first = await stage.engine()
        row = await ask_in_background(first, person)
        run = first._runs[row.pk]
        await until(lambda: run.job is not None)
        free, blocking = await block(first)
        await until(lambda: bool(run.response_id))
        draining = asyncio.create_task(first.drain())
        await until(lambda: run.ending)
        free.set()
        await asyncio.gather(blocking, draining)
        second = await stage.engine()
        now = await until_state(second, row, "confirmed", "incomplete", "failed", "expired")
        assert (now.state, now.reason, now.message.text) == ("confirmed", "", "".join(words))
        await second.drain()


class Late(ResponsesProvider):
    """Its heads come late enough for the database to be busy by then."""

    def _from(self, first: int) -> Script:
        return replace(super()._from(first), hold_ms=200)


async def block(engine: EmbeddedEngine) -> tuple[threading.Event, asyncio.Task[None]]:
    """Keep the engine's database thread busy until the event is set."""
    free, busy = threading.Event(), threading.Event()

    def wait() -> None:
        busy.set()
        free.wait(WAIT_S)

    blocking = asyncio.create_task(engine.db(wait))
    await asyncio.to_thread(busy.wait, WAIT_S)
    return free, blocking


async def until(holds: Callable[[], bool]) -> None:
    """Wait in bounded steps."""
    for _ in range(WAIT_S * 200):
        if holds():
            return
        await asyncio.sleep(5 * MS)
    raise TimeoutError("it did not come to pass")
