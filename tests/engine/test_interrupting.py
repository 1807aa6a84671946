"""A server that stops in the middle of a move: what people have seen is never journalled as something that never began."""

import asyncio
import threading
from collections.abc import Callable

from django.contrib.auth.models import AbstractBaseUser

from chat.models import Generation, JournalRow
from tests.engine.conftest import MS, WAIT_S, Make, ask
from tests.fakes.provider import ScriptedProvider
from tests.fakes.script import Stall, T, play


async def test_a_stop_of_the_server_does_not_take_the_opening_along(
    make_engine: Make, provider: ScriptedProvider, person: AbstractBaseUser
) -> None:
    """1. headers and text come, the text is painted; 2. the database is busy, so the move still waits its turn; 3. SIGTERM.
    The waiting move was cancelled with the runner that waited for it: `failed`, never opened, under text on the page."""
    provider.script = play(T("Two"), Stall(), hold_ms=200)  # until the database is busy
    engine = await make_engine(sweep_interval_s=60, checkpoint_interval_ms=60_000)
    free, busy = threading.Event(), threading.Event()
    row = await ask(engine, person)
    run = engine._runs[row.pk]
    await until(lambda: run.job is not None)  # the lease is taken; the next move is the opening
    blocking = asyncio.create_task(engine.db(lambda: (busy.set(), free.wait(WAIT_S))))
    await asyncio.to_thread(busy.wait, WAIT_S)
    await until(lambda: run.told)
    draining = asyncio.create_task(engine.drain())
    await until(lambda: run.ending)
    free.set()
    await asyncio.gather(blocking, draining)
    now = await asyncio.to_thread(lambda: Generation.objects.get(pk=row.pk))
    assert (now.state, now.reason) == ("incomplete", "shutdown")
    journal = await asyncio.to_thread(lambda: [*JournalRow.objects.values_list("trigger", flat=True)])
    assert journal == ["opened", "ended_short"]


async def until(holds: Callable[[], bool]) -> None:
    """Wait in bounded steps."""
    for _ in range(WAIT_S * 200):
        if holds():
            return
        await asyncio.sleep(5 * MS)
    raise TimeoutError("it did not come to pass")
