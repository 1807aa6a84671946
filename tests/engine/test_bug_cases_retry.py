"""Faults that people reported of other chat products, walked through the whole engine: attempts, and calls in pieces.

The numbers are those of the list that the cases were taken from. 35 (the card that asks a person before a tool runs) has
nothing to be tried on yet: no tool is offered to any model.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from chat.models import Generation, ToolCall
from chat.streaming.frames import Final, Paint, Turn
from tests.engine.conftest import WAIT_S, ask
from tests.engine.listening import Page
from tests.engine.staging import CONFIRMED, LOST, TRUNCATED, Stage, end_of, stage
from tests.fakes.script import (
    DONE,
    FIN,
    GAP,
    USAGE,
    Cut,
    End,
    Reset,
    Step,
    T,
    Wait,
    chunk,
    play,
    whole_answer,
)

__all__ = ["stage"]  # the fixture


def call(arguments: str, **more: Any) -> bytes:
    """A piece of a tool call's arguments."""
    return chunk({"tool_calls": [{"index": 0, "function": {"arguments": arguments}, **more}]})


NAMED = {"id": "call_1", "type": "function"}
BEGUN = chunk({"tool_calls": [{"index": 0, **NAMED, "function": {"name": "log_set", "arguments": ""}}]})

FIRSTS: dict[str, list[Step]] = {
    "in a word": [T("Hello wor")],
    "in a fence": [T("```python\nprint('Hel")],
    "in a tool call": [T("Hello"), BEGUN, call('{"sets": 5}')],
}


async def attempts(stage: Stage, row: Generation, count: int) -> list[Generation]:
    """All attempts of a question, once so many have ended."""
    assert stage.engine is not None
    found: list[Generation] = []
    for _ in range(WAIT_S * 100):
        found = await stage.engine.db_for_pages(
            lambda: list(
                Generation.objects.filter(conversation=row.conversation_id)
                .select_related("checkpoint")
                .order_by("number")
            )
        )
        if len(found) == count and found[-1].is_final:
            return found
        await asyncio.sleep(0.01)
    raise TimeoutError(f"expected {count} attempts; got {[end_of(each) for each in found]}")


@pytest.mark.parametrize("where", FIRSTS)
async def test_32_a_second_attempt_is_never_glued_to_the_first(stage: Stage, where: str) -> None:
    """In two tabs: the border is a frame of its own, told before the first word of the second attempt."""
    engine = await stage.open(automatic_retries=2, paint_interval_ms=1)
    stage.provider.queue.append(play(*FIRSTS[where], USAGE(9, 3), GAP, Wait(100), Reset()))
    stage.provider.script = whole_answer("Hello world")
    row = await ask(engine, stage.person)
    tabs = [Page(engine, row.conversation_id) for _ in range(2)]
    first, second = await attempts(stage, row, 2)
    assert (end_of(first), end_of(second), second.attempt) == (LOST, CONFIRMED, 2)
    assert await stage.answers() == ["Hello world"]
    assert (first.usage_output, second.usage_output) == (3, 2)
    for tab in tabs:
        while not any(isinstance(frame, Final) and frame.handle == 2 for frame in tab.frames):  # noqa: ASYNC110 (a page)
            await asyncio.sleep(0.005)
        border = next(n for n, frame in enumerate(tab.frames) if isinstance(frame, Final))
        final = tab.frames[border]
        assert isinstance(final, Final)
        assert (final.handle, final.reason, final.successor) == (1, "connection_lost", str(second.pk))
        later = tab.frames[border + 1 :]
        assert {frame.handle for frame in later if isinstance(frame, Paint)} <= {2}
        assert any(isinstance(frame, Turn) and frame.handle == 2 for frame in tab.frames)
        assert "Hello world".endswith(tab.text(2))


async def test_32_three_failing_attempts_are_three_and_no_more(stage: Stage) -> None:
    engine = await stage.open(automatic_retries=2)
    stage.provider.script = play(T("Hello wor"), Cut())
    rows = await attempts(stage, await ask(engine, stage.person), 3)
    assert [(end_of(row), row.attempt, row.checkpoint.answer) for row in rows] == [
        (LOST, n, "Hello wor") for n in (1, 2, 3)
    ]
    assert (len(stage.provider.requests), await stage.answers()) == (3, [])


async def calls(stage: Stage) -> list[tuple[str, str, str]]:
    """Every call that was written down, and what became of it."""
    assert stage.engine is not None
    found: list[tuple[str, str, str]] = await stage.engine.db_for_pages(
        lambda: list(ToolCall.objects.values_list("name", "arguments", "state"))
    )
    return found


UNWHOLE: dict[str, tuple[list[Step], tuple[str, str]]] = {
    "whole, and then nothing": ([call('{"path": "/tmp/a"}'), End()], TRUNCATED),
    "whole, and then a cut": ([call('{"path": "/tmp/a"}'), Cut()], LOST),
    "whole, and then the limit": (
        [call('{"path": "/tmp/a"}'), FIN("length"), DONE],
        ("incomplete", "max_tokens"),
    ),
    "a second object behind it": (
        [call('{"path": "/tmp/a"}'), call('\n{"path": "/tmp/b"}'), End()],
        TRUNCATED,
    ),
    "half a number": ([call('{"amount": 1'), call("000"), End()], TRUNCATED),
    "nothing at all": ([End()], TRUNCATED),
}


async def test_33_arguments_that_parse_early_start_nothing(stage: Stage) -> None:
    """Only the provider's own terminal signal makes a call: before it nothing is there to run or to ask about."""
    found = {}
    for name, (steps, _) in UNWHOLE.items():
        row, page = await stage.play(T("I will. "), BEGUN, *steps)
        assert "tmp" not in page.text(1)
        found[name] = (end_of(row), row.checkpoint.answer)
    assert found == {name: (told, "I will. ") for name, (_, told) in UNWHOLE.items()}
    assert (await stage.answers(), await calls(stage)) == ([], [])


async def test_33_a_whole_call_that_nobody_offered_is_refused(stage: Stage) -> None:
    row, _ = await stage.play(BEGUN, call('{"sets": 5}'), FIN("tool_calls"), DONE)
    assert (end_of(row), await stage.answers()) == (("failed", "unexpected_tool_call"), [])
    assert await calls(stage) == [("log_set", '{"sets": 5}', "rejected")]
