"""The Anthropic wire: what each ending, and each error inside a stream, means."""

from __future__ import annotations

from typing import Any

import pytest

from chat.providers.anthropic import STOP_REASONS
from chat.streaming.deltas import Usage
from chat.streaming.outcome import Ending
from tests.providers.anthropic_bodies import (
    END_TURN,
    HI,
    START,
    STOP,
    add,
    anthropic,
    begin,
    end,
    event,
    finish,
    judged,
    text,
)

TOOL = begin(1, "tool_use", id="t", name="f", input={}) + end(1)


@pytest.mark.parametrize(
    ("word", "verdict"),
    [
        ("end_turn", ("complete", None, "end_turn", None)),
        ("stop_sequence", ("complete", None, "stop_sequence", None)),
        ("tool_use", ("tool_requested", None, "tool_use", None)),
        ("max_tokens", ("incomplete", "max_tokens", "max_tokens", None)),
        (
            "model_context_window_exceeded",
            ("incomplete", "context_window", "model_context_window_exceeded", None),
        ),
        ("pause_turn", ("incomplete", "paused", "pause_turn", None)),
        ("refusal", ("refused", "refusal", "refusal", None)),
        ("compaction", ("incomplete", "unknown", "compaction", None)),
        ("END_TURN", ("incomplete", "unknown", "END_TURN", None)),
        ("", ("incomplete", "stream_truncated", None, None)),
        (None, ("incomplete", "stream_truncated", None, None)),
    ],
)
def test_each_stop_reason(word: str | None, verdict: object) -> None:
    """A word that nobody knows is never an answer."""
    assert judged(anthropic(START, HI, finish(word), STOP)) == verdict


def test_the_table_is_tested() -> None:
    """A new row must get its line above."""
    assert len(STOP_REASONS) == 7


@pytest.mark.parametrize(
    ("words", "verdict"),
    [
        (["end_turn", None], ("complete", None, "end_turn", None)),
        (["end_turn", "refusal"], ("refused", "refusal", "refusal", None)),
        (["refusal", "end_turn"], ("refused", "refusal", "refusal", None)),
        (["max_tokens", "end_turn"], ("incomplete", "max_tokens", "max_tokens", None)),
        (["new_word", "end_turn"], ("incomplete", "unknown", "new_word", None)),
    ],
)
def test_the_reason_furthest_from_an_answer_counts(words: list[str | None], verdict: object) -> None:
    """Several `message_delta` may come; a later friendly word heals nothing."""
    assert judged(anthropic(START, HI, *map(finish, words), STOP)) == verdict


@pytest.mark.parametrize(
    ("parts", "ending", "verdict"),
    [
        ([HI], "eof", ("incomplete", "stream_truncated", None, None)),
        ([HI], "cut", ("incomplete", "connection_lost", None, None)),
        ([HI], "stalled", ("incomplete", "stalled", None, None)),
        ([HI, END_TURN], "eof", ("incomplete", "stream_truncated", "end_turn", None)),
        ([HI, END_TURN], "cut", ("incomplete", "connection_lost", "end_turn", None)),
        ([HI, END_TURN], "stalled", ("incomplete", "stalled", "end_turn", None)),
        ([HI, END_TURN, STOP[:-1]], "eof", ("incomplete", "stream_truncated", "end_turn", None)),
        ([HI, STOP], "eof", ("incomplete", "stream_truncated", None, None)),
        ([HI, STOP], "cut", ("incomplete", "stream_truncated", None, None)),
        ([HI[: -len(end(0))], END_TURN, STOP], "eof", ("incomplete", "stream_truncated", "end_turn", None)),
        # A start that is repeated while its block is open: the first one was never closed.
        (
            [begin(0, "text", text=""), HI, END_TURN, STOP],
            "eof",
            ("incomplete", "stream_truncated", "end_turn", None),
        ),
        ([HI, END_TURN, STOP], "cut", ("complete", None, "end_turn", None)),
        ([HI, END_TURN, STOP], "stalled", ("complete", None, "end_turn", None)),
        # Some gateways say `end_turn` for everything.
        ([HI, TOOL, END_TURN, STOP], "eof", ("tool_requested", None, "end_turn", None)),
        (
            [HI, begin(1, "server_tool_use", name="x"), end(1), END_TURN, STOP],
            "eof",
            ("complete", None, "end_turn", None),
        ),
    ],
)
def test_the_end_must_be_proven(parts: list[bytes], ending: Ending, verdict: object) -> None:
    """A stop reason, `message_stop`, and every block closed: any two of the three are not enough."""
    assert judged(anthropic(START, *parts, ending=ending)) == verdict


def test_a_refusal_keeps_its_category() -> None:
    """For the administrator; the explanation quotes what was asked, and is not kept."""
    details = {"type": "refusal", "category": "bio", "explanation": "You asked how to …"}
    reading = anthropic(START, HI, finish("refusal", stop_details=details), STOP)
    assert (judged(reading), reading.detail, reading.answer, reading.refusal) == (
        ("refused", "refusal", "refusal", None),
        "category bio",
        "Hi",
        "",
    )


# --- errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "retryable"),
    [
        ("overloaded_error", True),
        ("api_error", True),
        ("rate_limit_error", True),
        ("timeout_error", True),
        ("invalid_request_error", False),
        ("authentication_error", False),
        ("permission_error", False),
        ("billing_error", False),
        ("not_found_error", False),
        ("brand_new_error", False),
    ],
)
def test_each_error(word: str, *, retryable: bool) -> None:
    """Before the first delta, in the middle and after the stop reason; what follows is late."""
    error = event("error", error={"type": word, "message": "Sorry"}, request_id="req_1")
    for before, answer in ((b"", ""), (START, ""), (START + HI, "Hi"), (START + HI + END_TURN, "Hi")):
        reading = anthropic(before, error, text(" late", 1), STOP)
        assert (judged(reading), reading.detail, reading.answer, reading.late_events) == (
            ("failed", "provider_error", word, retryable),
            "Sorry",
            answer,
            4,
        )


@pytest.mark.parametrize(
    ("part", "word", "detail"),
    [
        (b'data: {"error":{"type":"overloaded_error","message":"m"}}\n\n', "overloaded_error", "m"),
        (b'event: error\ndata: {"error":{"type":"overloaded_error"}}\n\n', "overloaded_error", ""),
        (b'event: error\ndata: {"type":"overloaded_error","message":"m"}\n\n', "overloaded_error", "m"),
        (b"event: error\ndata: upstream is gone\n\n", None, "upstream is gone"),
        (b'event: error\ndata: {"message":"\\ud800"}\n\n', None, "\ufffd"),
        (b"event: error\ndata:\n\n", None, ""),
    ],
)
def test_errors_as_gateways_word_them(part: bytes, word: str | None, detail: str) -> None:
    """`event: error` says that it failed, and so does an `error` in any event."""
    reading = anthropic(START, HI, part, END_TURN, STOP)
    assert (reading.outcome, reading.provider_reason, reading.detail) == ("failed", word, detail)


def test_an_error_after_the_end_undoes_nothing() -> None:
    """It is counted, as everything is that comes late (bug case 12)."""
    late = event("error", error={"type": "overloaded_error", "message": "Overloaded"})
    reading = anthropic(START, HI, END_TURN, STOP, late, text("more", 1), STOP)
    assert (judged(reading), reading.answer, reading.late_events, reading.last_event) == (
        ("complete", None, "end_turn", None),
        "Hi",
        5,
        "6",
    )


@pytest.mark.parametrize(
    "data",
    [
        '{"type":"content_block_delta","index":0,"delta":{"te',
        "upstream connect error",
        "{}x",
    ],
)
def test_malformed_json_is_a_failure_and_keeps_what_came(data: str) -> None:
    """A mangled event is never skipped in silence: text may be missing."""
    reading = anthropic(START, HI, f"data: {data}\n\n".encode(), END_TURN, STOP)
    assert (judged(reading), reading.answer) == (("failed", "malformed_stream", None, True), "Hi")
    assert reading.detail == f"expected a JSON object in each event, got {len(data)} characters of other text"


@pytest.mark.parametrize(
    "part",
    [
        add(0, "text_delta", text="lost"),
        add(7, "text_delta", text="lost"),
        add(7, "new_delta", text="lost"),
        begin(1, "text", text="") + add(1, "thinking_delta", thinking="lost"),
        begin(1, "thinking", thinking="") + add(1, "text_delta", text="lost"),
        begin(1, "tool_use", id="t") + add(1, "text_delta", text="lost"),
    ],
)
def test_text_that_no_block_can_hold_is_a_failure(part: bytes) -> None:
    """Dropped in silence, it would be missing from an answer that looks whole."""
    assert judged(anthropic(START, HI, part, end(1), END_TURN, STOP)) == (
        "failed",
        "malformed_stream",
        None,
        True,
    )


# --- usage ------------------------------------------------------------------------------------------------------------


def counted(*told: dict[str, Any]) -> Usage | None:
    """The usage after `message_start` with the first, and a `message_delta` with each of the others."""
    first, *others = told
    start = event("message_start", message={"id": "m", "usage": first})
    return anthropic(start, *(event("message_delta", delta={}, usage=usage) for usage in others)).usage


def test_totals_are_replaced_never_added() -> None:
    """They come again and again, and each is a running total (bug case 20)."""
    known = {"input_tokens": 27, "cache_read_input_tokens": 100}
    assert counted(
        known | {"output_tokens": 1}, known | {"output_tokens": 20}, known | {"output_tokens": 47}
    ) == Usage(27, 47, None, 100)


def test_each_key_is_overridden_by_itself() -> None:
    """A later event may say only what is new; what is absurd is as if it had not been said."""
    assert counted(
        {"input_tokens": 5, "output_tokens": 1, "cache_read_input_tokens": 2},
        {"output_tokens": 9, "output_tokens_details": {"thinking_tokens": 4}},
        {"input_tokens": 8, "cache_read_input_tokens": None, "output_tokens": -1},
        {"input_tokens": "9", "output_tokens": 2**40, "output_tokens_details": []},
    ) == Usage(8, 9, 4, 2)
    assert (counted({}), counted({"cache_read_input_tokens": 5})) == (None, None)
