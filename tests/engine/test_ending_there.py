"""However a background reply ends here, it is ended at its provider too: closing the line ends nothing there.

One row for each way in which we, or a person, or a clock end it while the provider has not said its last word.
"""

import asyncio
import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import AbstractBaseUser
from django.utils import timezone

from chat import conversations, generations, running
from chat.engine.embedded import EmbeddedEngine
from chat.models import Generation
from chat.streaming.outcome import Reason
from chat.streaming.reading import Reading
from tests.engine.conftest import MS, WAIT_S, until
from tests.engine.test_resuming import WORDS, Stage, ask, cancels, known, shown
from tests.fakes.responses import ResponsesProvider
from tests.fakes.script import Paced, Stall, Step
from tests.rows import closing, conversation_of, cut, draft, opened, reading

__all__ = ["known"]  # the fixture

PINGS = Paced((b": ping\n\n",) * 2000, 50)
NONSENSE = b"\n\ndata: {nonsense\n\n"
END = ("confirmed", "incomplete", "failed", "expired", "cancelled")


async def overdue(engine: EmbeddedEngine, row: Generation) -> None:
    await engine.db_for_pages(
        lambda: Generation.objects.filter(pk=row.pk).update(created="2020-01-01T00:00:00Z")
    )


async def deactivated(engine: EmbeddedEngine, row: Generation) -> None:
    await engine.db_for_pages(lambda: type(row.user).objects.update(is_active=False))  # type: ignore[union-attr]


async def conversation_gone(engine: EmbeddedEngine, row: Generation) -> None:
    await engine.db_for_pages(lambda: conversations.delete(conversation_of(row), by=None))


async def question_gone(engine: EmbeddedEngine, row: Generation) -> None:
    await engine.db_for_pages(row.parent.delete)  # type: ignore[union-attr]


async def stopped(engine: EmbeddedEngine, row: Generation) -> None:
    await engine.db_for_pages(lambda: generations.cancel(row, by=None))


async def a_fault_of_ours(engine: EmbeddedEngine, row: Generation) -> None:
    run = engine._runs[row.pk]
    engine._interrupt(run, Reason.internal)


BY_ITS_PROVIDER: dict[str, tuple[Step, dict[str, float], tuple[str, str]]] = {
    "silence": (Stall(), {"idle_timeout_s": 0.2, "resume_attempts": 0}, ("incomplete", "stalled")),
    "pings alone": (PINGS, {"no_progress_timeout_s": 0.3}, ("incomplete", "stalled")),
    "nonsense": (NONSENSE, {}, ("failed", "malformed_stream")),
}
BY_OTHERS: list[tuple[Callable[[EmbeddedEngine, Generation], Any], tuple[str, str]]] = [
    (stopped, ("cancelled", "cancelled")),
    (overdue, ("expired", "deadline")),
    (conversation_gone, ("cancelled", "deleted")),
    (question_gone, ("cancelled", "deleted")),
    (a_fault_of_ours, ("failed", "internal")),
    (deactivated, ("cancelled", "cancelled")),
]


@pytest.mark.parametrize("how", BY_ITS_PROVIDER)
async def test_what_its_provider_brought_about(person: AbstractBaseUser, settings: Any, how: str) -> None:
    ends, knobs, end = BY_ITS_PROVIDER[how]
    with ResponsesProvider(WORDS, [12], ends=ends) as provider:
        engine = await Stage(provider, settings, automatic_retries=0, **knobs).engine()
        row = await until(engine, await ask(engine, person), *END)
        await engine.idle()
        assert (row.state, row.reason, len(cancels(provider))) == (*end, 1)
        await engine.drain()


async def test_what_people_clocks_and_faults_of_ours_brought_about(
    person: AbstractBaseUser, settings: Any
) -> None:
    """One engine, one reply after the other, each with the eighth word on the page."""
    with ResponsesProvider(WORDS, [12] * len(BY_OTHERS), ends=Stall()) as provider:
        engine = await Stage(provider, settings, automatic_retries=0).engine()
        for number, (deed, end) in enumerate(BY_OTHERS, 1):
            row = await ask(engine, person)
            await shown(engine, row, "w8 ")
            await deed(engine, row)
            row = await until(engine, row, *END)
            await engine.idle()
            assert (deed, row.state, row.reason, len(cancels(provider))) == (deed, *end, number)
        await engine.drain()


async def test_what_a_killed_process_had_no_time_to_end_there_is_ended_by_the_next(
    person: AbstractBaseUser, settings: Any
) -> None:
    """It had written its end, and died before it asked; asked once, it is not asked again, nor is what ended there."""
    with ResponsesProvider(WORDS, []) as provider:
        stage = Stage(provider, settings)

        def left(found: Reading | None, **changes: Any) -> Generation:
            row = generations.send(user=person, text="How long?", endpoint="responses", model="gpt-5.4")
            job = opened(row)
            if found is None:
                generations.cancel(row, by=person)
            else:
                running.end(job, found, draft(row))
            Generation.objects.filter(pk=row.pk).update(
                provider_response_id=changes.pop("named", ""), **changes
            )
            return row

        def leave() -> list[Any]:
            old = timezone.now() - dt.timedelta(days=1)
            left(None, named="resp_stopped")
            left(cut(Reason.stalled), named="resp_stalled")
            left(cut(Reason.max_tokens), named="resp_at_its_limit")
            left(reading(), named="resp_confirmed")
            left(None, named="resp_asked", provider_cancel="HTTP 404")
            left(None, named="resp_old", ended_at=old)
            left(None, named="resp_in_front", settings={})
            left(None)
            return []

        await asyncio.to_thread(closing, leave)
        engine = await stage.engine()
        answers = {"resp_stopped": "HTTP 200", "resp_stalled": "HTTP 200", "resp_asked": "HTTP 404"}
        await kept(engine, answers)
        assert await engine.db(running.left_open) == []
        await engine.drain()
        asked = sorted(path.removeprefix("/v1/responses/") for path in cancels(provider))
        assert asked == ["resp_stalled/cancel", "resp_stopped/cancel"]


async def kept(engine: EmbeddedEngine, answers: dict[str, str]) -> None:
    """Wait until these answers of the provider are kept, and no other."""

    def found() -> dict[str, str]:
        rows = Generation.objects.exclude(provider_cancel="")
        return dict(rows.values_list("provider_response_id", "provider_cancel"))

    async with asyncio.timeout(WAIT_S):
        while await engine.db_for_pages(found) != answers:  # noqa: ASYNC110 (a row)
            await asyncio.sleep(5 * MS)
