"""The Responses wire: what each ending, and each error inside a stream, means."""

from __future__ import annotations

import pytest

from chat.providers.responses_reader import INCOMPLETE_REASONS
from chat.streaming.outcome import Ending
from tests.providers.responses_bodies import (
    COMPLETE,
    CREATED,
    END,
    HI,
    Said,
    call_item,
    ended,
    event,
    heard,
    judged,
    numbered,
    plain,
)

SERVER_ERROR = {"code": "server_error", "message": "m"}
FAILED = ("failed", "provider_error", "server_error", True)
REFUSAL: Said = ("refusal.delta", {"delta": "No.", "output_index": 0})
CALL: Said = ("output_item.done", {"output_index": 1, "item": call_item("{}")})


def stopped(reason: object, status: str = "incomplete", name: str | None = None) -> Said:
    """An end that was cut short."""
    return ended(status, name, incomplete_details={"reason": reason})


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ([END], COMPLETE),
        ([ended(None)], COMPLETE),
        ([("completed", {})], COMPLETE),
        ([CALL, END], ("tool_requested", None, "completed", None)),
        ([REFUSAL, END], ("refused", "model_refusal", "completed", None)),
        ([REFUSAL, CALL, END], ("refused", "model_refusal", "completed", None)),
        ([REFUSAL, stopped("max_output_tokens")], ("refused", "model_refusal", "max_output_tokens", None)),
        ([stopped("max_output_tokens")], ("incomplete", "max_tokens", "max_output_tokens", None)),
        ([CALL, stopped("max_output_tokens")], ("incomplete", "max_tokens", "max_output_tokens", None)),
        ([stopped("content_filter")], ("incomplete", "content_filter", "content_filter", None)),
        ([stopped("max_messages")], ("incomplete", "unknown", "max_messages", None)),
        ([stopped("steered")], ("incomplete", "unknown", "steered", None)),
        ([stopped(None)], ("incomplete", "unknown", "incomplete", None)),
        ([("incomplete", {})], ("incomplete", "unknown", "incomplete", None)),
        ([ended("failed", error=SERVER_ERROR)], FAILED),
        ([ended("failed")], ("failed", "provider_error", "failed", False)),
        ([("failed", {})], ("failed", "provider_error", "failed", False)),
        # The status inside beats the name of the event.
        (
            [stopped("max_output_tokens", name="completed")],
            ("incomplete", "max_tokens", "max_output_tokens", None),
        ),
        ([ended("failed", "completed", error=SERVER_ERROR)], FAILED),
        ([ended("cancelled", "completed")], ("incomplete", "cancelled", "cancelled", None)),
        ([ended("cancelled", "incomplete")], ("incomplete", "cancelled", "cancelled", None)),
        ([ended("paused", "completed")], ("incomplete", "unknown", "paused", None)),
        ([ended("COMPLETED", "completed")], ("incomplete", "unknown", "COMPLETED", None)),
        # But a friendly one heals nothing.
        ([ended("completed", "incomplete")], ("incomplete", "unknown", "incomplete", None)),
        ([ended("completed", "failed")], ("failed", "provider_error", "failed", False)),
        ([stopped("content_filter", "completed")], ("incomplete", "content_filter", "content_filter", None)),
        ([ended(error=SERVER_ERROR)], FAILED),
        ([REFUSAL, ended(error=SERVER_ERROR)], FAILED),
        ([ended("in_progress", "completed", error=SERVER_ERROR)], FAILED),
    ],
)
def test_each_end(said: list[Said], verdict: object) -> None:
    """Error before refusal before a short end before tools before complete; unknown words are no answer."""
    assert judged(heard(*numbered(CREATED, HI, *said))) == verdict


@pytest.mark.parametrize("status", [5, ["completed"], {"completed": 1}, True])
def test_a_status_that_is_no_word_is_no_answer(status: object) -> None:
    """Whatever it is."""
    reading = heard(*plain(CREATED, HI, ("completed", {"response": {"status": status}})))
    assert judged(reading) == ("incomplete", "unknown", None, None)


def test_the_table_is_tested() -> None:
    """A new row must get its line above."""
    assert len(INCOMPLETE_REASONS) == 2


BACKGROUND: Said = ("created", {"response": {"id": "r", "status": "queued", "background": True}})


@pytest.mark.parametrize(
    ("said", "ending", "verdict"),
    [
        ([CREATED, HI], "eof", ("incomplete", "stream_truncated", None, None)),
        ([CREATED, HI], "cut", ("incomplete", "connection_lost", None, None)),
        ([CREATED, HI], "stalled", ("incomplete", "stalled", None, None)),
        ([CREATED, REFUSAL], "cut", ("incomplete", "connection_lost", None, None)),
        ([], "eof", ("incomplete", "stream_truncated", None, None)),
        # What goes on at the provider is still open, and can be resumed.
        ([BACKGROUND, HI], "eof", ("open", "stream_truncated", None, None)),
        ([BACKGROUND, HI], "cut", ("open", "connection_lost", None, None)),
        ([BACKGROUND, HI], "stalled", ("open", "stalled", None, None)),
        ([BACKGROUND, HI, END], "cut", COMPLETE),
        ([BACKGROUND, ended("failed", error=SERVER_ERROR)], "cut", FAILED),
        ([CREATED, ended("in_progress", "completed")], "eof", ("open", "stream_truncated", None, None)),
        ([CREATED, ended("queued", "incomplete"), HI, END], "eof", COMPLETE),
    ],
)
def test_the_end_must_be_proven(said: list[Said], ending: Ending, verdict: object) -> None:
    """Items may all be done: only a terminal event proves the end; `[DONE]` proves nothing here."""
    for more in (b"", b"data: [DONE]\n\n"):
        assert judged(heard(*numbered(*said), more, ending=ending)) == verdict


@pytest.mark.parametrize(
    ("part", "word", "retryable", "detail"),
    [
        (event({"type": "error", "sequence_number": 0, **SERVER_ERROR}, "error"), "server_error", True, "m"),
        (event({"type": "error", **SERVER_ERROR}), "server_error", True, "m"),
        (event({"type": "error", "code": None, "message": "m", "param": None}, "error"), None, False, "m"),
        (event({"type": "error", "code": "rate_limit_exceeded"}), "rate_limit_exceeded", True, ""),
        (event({"type": "error", "code": "vector_store_timeout"}), "vector_store_timeout", True, ""),
        *(
            (event({"type": "error", "code": code}), code, False, "")
            for code in (
                *("invalid_prompt", "bio_policy", "misalignment_policy_violation", "data_residency_mismatch"),
                *("image_too_large", "insufficient_quota"),
            )
        ),
        (event({"type": "error", "error": SERVER_ERROR}), "server_error", True, "m"),
        (event({"error": SERVER_ERROR}), "server_error", True, "m"),
        (event({"error": {"type": "server_error", "code": None}}), "server_error", True, ""),
        (event({"error": "boom"}), None, False, "boom"),
        (event("upstream timed out", "error"), None, False, "upstream timed out"),
        (event("", "error"), None, False, ""),
    ],
)
def test_an_error_in_a_200(part: bytes, word: str | None, detail: str, *, retryable: bool) -> None:
    """It fails the stream at once, whatever its number; what follows is late."""
    reading = heard(*numbered(CREATED, HI), part, *plain(HI, END))
    assert judged(reading) == ("failed", "provider_error", word, retryable)
    assert (reading.answer, reading.detail, reading.late_events) == ("Hi", detail, 2)


def test_what_comes_after_the_end_changes_nothing_and_is_counted() -> None:
    """Not even an error."""
    late = numbered(HI, ended("failed", error=SERVER_ERROR), first=3)
    reading = heard(*numbered(CREATED, HI, END), *late, event({"error": "x"}, "error"), b"data: [DONE]\n\n")
    assert (judged(reading), reading.answer, reading.late_events) == (COMPLETE, "Hi", 4)
