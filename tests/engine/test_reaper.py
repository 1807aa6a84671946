"""The reaper sweeps for as long as its process lives, whatever the database does meanwhile."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from django.db import OperationalError

from chat import generations, retention
from chat.engine.reaper import sweep_forever
from chat.generations import Swept
from chat.models import Generation
from chat.running import Ended

LOST, ORPHAN = Generation(number=1, reason="worker_lost"), Generation(number=2)


async def sweeps(*answers: Swept | Exception) -> list[Any]:
    """What comes of these answers of the database, one a sweep."""
    waiting = list(answers)
    happened: list[Any] = []
    purges: list[Any] = []
    done = asyncio.Event()

    async def db(verb: Callable[..., Any], *, running_here: set[UUID] | None = None) -> Any:
        if verb is retention.purge:
            purges.append(verb)
            if len(purges) == 1:
                raise OperationalError("locked")
            return 0
        assert (verb, running_here) == (generations.sweep, {LOST.pk})
        if not waiting:
            done.set()
            return Swept([], [])
        answer = waiting.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def ended(end: Ended) -> None:
        happened.append(("ended", end))

    task = asyncio.create_task(
        sweep_forever(
            db,
            interval_s=0,
            running_here=lambda: {LOST.pk},
            ended=ended,
            orphan=lambda row: happened.append(("orphan", row)),
        )
    )
    async with asyncio.timeout(10):
        await done.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    # With every sweep, whatever became of it; a failed one is followed by the next.
    assert len(purges) >= len(answers)
    return happened


async def test_what_a_sweep_finds_goes_to_the_engine() -> None:
    assert await sweeps(Swept([LOST], [ORPHAN])) == [("ended", Ended(LOST)), ("orphan", ORPHAN)]


async def test_a_database_that_is_away_is_asked_again(caplog: pytest.LogCaptureFixture) -> None:
    """A restart of the database must not leave lost replies hanging until the web process restarts too."""
    with caplog.at_level(logging.ERROR, "chat.engine.reaper"):
        happened = await sweeps(OperationalError("locked"), Swept([], [ORPHAN]), OperationalError("x"))
    assert happened == [("orphan", ORPHAN)]
    told = [record.message for record in caplog.records]
    assert told.count("the sweep failed and is tried again") == 2
    assert told.count("what is over its time could not be taken away, and is tried again") == 1
