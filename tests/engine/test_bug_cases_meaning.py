"""Faults that people reported of other chat products, walked through the whole engine: what the events mean.

The numbers are those of the list that the cases were taken from; the earlier ones are in test_bug_cases.py.
"""

from __future__ import annotations

from typing import Any

import pytest

from chat import generations
from chat.models import Generation
from tests.engine.conftest import ask, until
from tests.engine.staging import CONFIRMED, FINALS, LOST, TRUNCATED, Stage, end_of, stage
from tests.fakes.script import (
    DONE,
    FIN,
    REASON,
    USAGE,
    Cut,
    End,
    Stall,
    Step,
    T,
    chunk,
    event,
    play,
)
from tests.providers import anthropic_bodies as claude

__all__ = ["stage"]  # the fixture

# --- 12: an error behind a 200 ----------------------------------------------------------------------------------
OVERLOADED = (
    b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n'
)
SPOKEN = {
    "openai_chat": [T("One "), T("two "), T("three")],
    "anthropic": [
        claude.START,
        claude.begin(0, "text", text=""),
        *(claude.add(0, "text_delta", text=word) for word in ("One ", "two ", "three")),
    ],
}
WHOLE = {
    "openai_chat": [FIN("stop"), DONE],
    "anthropic": [claude.end(0), claude.END_TURN, claude.STOP],
}


@pytest.mark.parametrize("wire", SPOKEN)
@pytest.mark.parametrize("words", [None, 0])
async def test_12_an_overloaded_provider_is_a_failure_that_may_be_tried_again(
    stage: Stage, wire: str, words: int | None
) -> None:
    row, _ = await stage.play(*SPOKEN[wire][:words], OVERLOADED, End(), wire=wire)
    assert (end_of(row), row.retryable) == (("failed", "provider_error"), True)
    assert row.provider_reason == "overloaded_error"
    assert (row.checkpoint.answer, await stage.answers()) == ("" if words == 0 else "One two three", [])


@pytest.mark.parametrize("wire", SPOKEN)
async def test_12_a_later_attempt_begins_from_nothing(stage: Stage, wire: str) -> None:
    """The failed draft and the answer that followed by itself stand apart."""
    engine = await stage.open(wire=wire, automatic_retries=1)
    stage.provider.queue.append(play(*SPOKEN[wire], OVERLOADED, End()))
    row, page = await stage.play(*SPOKEN[wire], *WHOLE[wire])
    second = await engine.db_for_pages(lambda: Generation.objects.get(retry_of=row))
    second = await until(engine, second, *FINALS)
    assert (end_of(row), row.checkpoint.answer) == (("failed", "provider_error"), "One two three")
    assert (end_of(second), await stage.answers()) == (CONFIRMED, ["One two three"])
    assert (await page.last()).successor == str(second.pk)


@pytest.mark.parametrize("wire", SPOKEN)
async def test_12_an_error_after_the_terminal_signal_undoes_nothing(stage: Stage, wire: str) -> None:
    row, _ = await stage.play(b"".join((*SPOKEN[wire], *WHOLE[wire], OVERLOADED)), wire=wire)
    assert (end_of(row), await stage.answers()) == (CONFIRMED, ["One two three"])


# --- 14: limits -------------------------------------------------------------------------------------------------
LIMITS: dict[str, tuple[list[Step], str, tuple[str, str]]] = {
    "in mid-sentence": ([T("1. Squat\n2. Lun"), FIN("length")], "max_tokens", ("1. Squat\n2. Lun", "")),
    "by a filter": ([T("1. Squat"), FIN("content_filter")], "content_filter", ("1. Squat", "")),
    "by reasoning": ([REASON("Let me think."), FIN("length")], "max_tokens", ("", "Let me think.")),
    "before any text": ([FIN("length")], "max_tokens", ("", "")),
}


async def test_14_a_limit_is_no_normal_end(stage: Stage) -> None:
    """The page and the row say which limit it was; there is no message, and so no empty bubble that looks ready."""
    found = {}
    for name, (steps, _, _) in LIMITS.items():
        row, page = await stage.play(*steps, DONE)
        draft = (row.checkpoint.answer, row.checkpoint.reasoning)
        found[name] = (end_of(row), (await page.last()).reason, draft)
    assert found == {
        name: (("incomplete", reason), reason, draft) for name, (_, reason, draft) in LIMITS.items()
    }
    assert await stage.answers() == []


# --- 16, 20: usage ----------------------------------------------------------------------------------------------
COUNTS = {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}


USAGES: list[list[Step]] = [
    [T("Hi"), FIN("stop"), USAGE(9, 2), DONE],
    [T("Hi"), USAGE(9, 2), FIN("stop"), DONE],
    [chunk({"content": "Hi"}, usage=None), chunk({}, "stop", usage=None), USAGE(9, 2), DONE],
    [T("Hi"), FIN("stop"), event({"usage": COUNTS}), DONE],
    [
        event({"usage": None}),
        T("Hi"),
        chunk({"content": None, "role": ""}),
        FIN("stop"),
        USAGE(9, 2),
        DONE,
    ],
    [T("Hi"), event({"choices": [{"index": 0, "delta": None}]}), FIN("stop"), USAGE(9, 2), DONE],
    [T("Hi"), event({"choices": None}), FIN("stop"), USAGE(9, 2), USAGE(9, 2), DONE],
]


async def test_16_a_chunk_without_choices_adds_its_usage_and_nothing_else(stage: Stage) -> None:
    found = []
    for steps in USAGES:
        row, _ = await stage.play(*steps)
        found.append((end_of(row), row.usage_input, row.usage_output))
    assert found == [(CONFIRMED, 9, 2)] * len(USAGES)
    assert await stage.answers() == ["Hi"] * len(USAGES)


TOTALS = {"input_tokens": 27, "cache_read_input_tokens": 100}
COUNTED = claude.event("message_start", message={"id": "m", "usage": {**TOTALS, "output_tokens": 1}})


def total(output: int, reason: str | None = None) -> bytes:
    """A `message_delta` that carries the totals so far."""
    counts = {**TOTALS, "output_tokens": output}
    return claude.event("message_delta", delta={"stop_reason": reason}, usage=counts)


def counts(row: Generation) -> tuple[int | None, int | None, int | None]:
    return row.usage_input, row.usage_cached_input, row.usage_output


async def test_20_running_totals_replace_each_other_and_each_attempt_has_its_own(stage: Stage) -> None:
    engine = await stage.open(wire="anthropic", automatic_retries=1)
    stage.provider.queue.append(play(COUNTED, claude.HI, total(20), OVERLOADED, End()))
    row, _ = await stage.play(COUNTED, claude.HI, total(20), total(47, "end_turn"), claude.STOP)
    second = await engine.db_for_pages(lambda: Generation.objects.get(retry_of=row))
    second = await until(engine, second, *FINALS)
    assert (end_of(row), counts(row)) == (("failed", "provider_error"), (27, 100, 20))
    assert (end_of(second), counts(second)) == (CONFIRMED, (27, 100, 47))


async def test_20_a_stopped_reply_keeps_the_last_known_totals(stage: Stage) -> None:
    engine = await stage.open(wire="anthropic")
    stage.provider.script = play(COUNTED, claude.HI, total(20), Stall())
    row = await ask(engine, stage.person)
    await until(engine, row, "buffered")
    await engine.db_for_pages(lambda: generations.cancel(row, by=stage.person))
    await engine.idle()
    row = await until(engine, row, "cancelled")
    assert counts(row)[:2] == (27, 100)
    assert row.checkpoint.answer == "Hi"


# --- 18: no sentinel follows --------------------------------------------------------------------------------------
def google(**candidate: Any) -> bytes:
    """A chunk of the generate wire."""
    return event({"candidates": [candidate]})


SAID = google(content={"parts": [{"text": "hi"}]})
USED = {"promptTokenCount": 4, "candidatesTokenCount": 1}


def last(reason: str) -> bytes:
    """The last event: a reason, usage, and no parts."""
    return event({"candidates": [{"finishReason": reason}], "usageMetadata": USED})


LASTS: dict[str, tuple[list[Step], tuple[str, str]]] = {
    "stop": ([SAID, last("STOP")], CONFIRMED),
    "limit": ([SAID, last("MAX_TOKENS")], ("incomplete", "max_tokens")),
    "limit without text": ([last("MAX_TOKENS")], ("incomplete", "max_tokens")),
    "no last event": ([SAID], TRUNCATED),
    "no text and no last event": ([google(content={"parts": []})], TRUNCATED),
    "stop, but the line breaks": ([SAID, last("STOP"), Cut()], LOST),
}


async def test_18_a_finish_without_parts_ends_it_and_its_absence_does_not(stage: Stage) -> None:
    found = {}
    for name, (steps, _) in LASTS.items():
        row, _ = await stage.play(*steps, wire="google")
        found[name] = end_of(row)
    assert found == {name: told for name, (_, told) in LASTS.items()}
    assert await stage.answers() == ["hi"]


async def test_18_the_other_wires_know_their_own_terminal_event(stage: Stage) -> None:
    """A stop reason without `message_stop` is no end, whatever other wires do."""
    row, _ = await stage.play(claude.START, claude.HI, claude.END_TURN, wire="anthropic")
    assert (end_of(row), await stage.answers()) == (TRUNCATED, [])
