"""The Interactions wire: what is heard of each event, and what each ending means."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.providers.interactions_reader import STATUSES
from chat.streaming.deltas import Usage
from chat.streaming.outcome import Ending
from chat.streaming.reading import ToolCall
from tests.providers.interactions_bodies import (
    COMPLETE,
    CREATED,
    DONE,
    END,
    HI,
    OUTPUT,
    STOP,
    completed,
    delta,
    event,
    heard,
    judged,
    said,
    start,
    stop,
)

# --- what is not an answer --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "part",
    [
        b"data\n\n",
        b"data: : ping\n\n",
        DONE,
        event({}),
        event([]),
        event("null"),
        event({"event_type": 5, "delta": {"type": "text", "text": "no"}}),
        event({"delta": {"type": "text", "text": "no"}}),
        event({"type": "response.output_text.delta", "delta": "no"}),
        event({"candidates": [{"content": {"parts": [{"text": "no"}]}, "finishReason": "STOP"}]}),
        said("interaction.status_update", status="completed"),
        said("interaction.status_update", status="failed"),
        said("something.new", text="no", interaction={"status": "failed"}),
        said("step.delta", index=0, delta="no"),
        said("step.delta", index=0, delta=None),
        said("step.start", index=9, step="no"),
        said("error_free", error={}),
        delta(0, "text"),
        delta(0, "text", text=""),
        delta(0, "text", text=5),
        delta(0, "image", data="bm8="),
        delta(0, "thought_summary", content={"type": "image", "data": "bm8="}),
        delta(0, "thought_summary", content="no"),
        delta(0, "thought_signature", signature=7),
        delta(0, "arguments_delta", arguments="{}"),
        start(9, "user_input", content=[{"type": "text", "text": "no"}]) + delta(9, "text", text="no"),
        start(9, "google_search_call", arguments={"queries": ["no"]}) + stop(9),
        start(9, "function_result", result="no") + delta(9, "text", text="no"),
        stop(9),
    ],
)
def test_foreign_things_add_nothing(part: bytes) -> None:
    """Before the text, inside it and after the end; a status on the way decides nothing."""
    more = delta(0, "text", text="!")
    reading = heard(CREATED, OUTPUT, part, HI, part, more, part, STOP, part, END, part)
    assert judged(reading) == COMPLETE
    assert (reading.answer, reading.reasoning, reading.tool_calls, reading.carry) == ("Hi!", "", [], [])


# --- steps --------------------------------------------------------------------------------------------------------


def thought(index: int | None, text: str) -> bytes:
    """A piece of a thought."""
    return delta(index, "thought_summary", content={"type": "text", "text": text})


@pytest.mark.parametrize(
    ("parts", "reasoning"),
    [
        ([start(1, "thought"), thought(1, "a"), thought(1, "b")], ["ab"]),
        # Each step is a part of its own, interleaved or not, even under an index that comes again.
        (
            [start(1, "thought"), thought(1, "a"), start(2, "thought"), thought(2, "b"), thought(1, "c")],
            ["ac", "b"],
        ),
        ([start(1, "thought"), thought(1, "a"), stop(1), start(1, "thought"), thought(1, "b")], ["a", "b"]),
        # Without indexes an event means the step that began last; a step may begin unannounced.
        (
            [start(None, "thought"), thought(None, "a"), start(None, "thought"), thought(None, "b")],
            ["a", "b"],
        ),
        ([thought(1, "a"), thought(1, "b")], ["ab"]),
        # A step may begin with its first text; a thought's plain text is a thought.
        ([start(1, "thought", summary=[{"type": "text", "text": "a"}]), thought(1, "b")], ["ab"]),
        ([start(1, "thought"), delta(1, "text", text="a")], ["a"]),
        # A thought is never the answer, wherever it stands.
        ([thought(0, "a")], ["a"]),
    ],
)
def test_thoughts_are_parts_of_their_own(parts: list[bytes], reasoning: list[str]) -> None:
    """One reasoning part per step."""
    reading = heard(CREATED, OUTPUT, HI, *parts, END)
    assert (reading.reasoning_parts, reading.answer, judged(reading)) == (reasoning, "Hi", COMPLETE)


def test_the_words_of_before_are_heard_too() -> None:
    """`content` was the step, and the interaction was `complete`."""
    reading = heard(
        said("interaction.start", interaction={"id": "v0", "status": "in_progress"}),
        said("content.start", index=0, content={"type": "thought"}),
        said(
            "content.delta",
            index=0,
            delta={"type": "thought_summary", "content": {"type": "text", "text": "Hm"}},
        ),
        said("content.stop", index=0),
        said("content.start", index=1, content={"type": "text", "text": "H"}),
        said("content.delta", index=1, delta={"type": "text", "text": "i"}),
        said("content.stop", index=1),
        said("interaction.complete", interaction={"id": "v0", "status": "completed"}),
    )
    assert (judged(reading), reading.answer, reading.reasoning) == (COMPLETE, "Hi", "Hm")
    call = {"type": "function_call", "id": "a", "name": "f", "arguments": {"x": 1}}
    asked = heard(
        said("content.start", index=0, content={"type": "function_call"}),
        said("content.delta", index=0, delta=call),
        said("content.stop", index=0),
        said("interaction.complete", interaction={"status": "requires_action"}),
    )
    assert asked.tool_calls == [ToolCall("a", "f", None, {"x": 1}, complete=True)]


def call(index: int, call_id: str = "a", name: str = "f", arguments: Any = None) -> bytes:
    """A call begins."""
    return start(
        index, "function_call", id=call_id, name=name, arguments={} if arguments is None else arguments
    )


def pieces(index: int, *texts: str) -> bytes:
    """Pieces of its arguments."""
    return b"".join(delta(index, "arguments_delta", arguments=text) for text in texts)


@pytest.mark.parametrize(
    ("parts", "calls"),
    [
        (
            [call(0), pieces(0, '{"x"', ":1}"), stop(0)],
            [ToolCall("a", "f", '{"x":1}', {"x": 1}, complete=True)],
        ),
        # Interleaved; in order of arrival.
        (
            [call(0), call(2, "b", "g"), pieces(2, "{"), pieces(0, "{}"), pieces(2, "}")],
            [
                ToolCall("a", "f", "{}", {}, complete=True),
                ToolCall("b", "g", "{}", {}, complete=True),
            ],
        ),
        # The object that it begins with is whole once the step is, if no text came.
        ([call(0), stop(0)], [ToolCall("a", "f", None, {}, complete=True)]),
        ([call(0, arguments={"x": 1}), stop(0)], [ToolCall("a", "f", None, {"x": 1}, complete=True)]),
        ([call(0, arguments={"x": 1})], [ToolCall("a", "f", None, None, complete=False)]),
        ([call(0), pieces(0, '{"x":'), stop(0)], [ToolCall("a", "f", '{"x":', None, complete=False)]),
        ([call(0), pieces(0, "[]"), stop(0)], [ToolCall("a", "f", "[]", [], complete=False)]),
        ([call(0, name=""), pieces(0, "{}"), stop(0)], [ToolCall("a", "", "{}", {}, complete=False)]),
        ([call(0, arguments=["no"]), stop(0)], [ToolCall("a", "f", None, None, complete=False)]),
    ],
)
def test_arguments_come_as_text_or_as_an_object(parts: list[bytes], calls: list[ToolCall]) -> None:
    """The empty object of the beginning is a place holder for the text; nothing is repaired."""
    reading = heard(CREATED, *parts, completed("requires_action"))
    assert (judged(reading), reading.tool_calls) == (("tool_requested", None, "requires_action", None), calls)


def test_signatures_are_carried_with_their_steps() -> None:
    """All steps, as input steps, if any is signed or a call; a tool's place between thoughts is kept."""
    reading = heard(
        CREATED,
        start(0, "thought"),
        thought(0, "Hm"),
        delta(0, "thought_signature", signature="c2"),
        delta(0, "thought_signature", signature="ln"),
        start(1, "model_output"),
        delta(1, "text", text="H"),
        delta(1, "text", text="i"),
        start(2, "thought", signature="eA=="),
        start(3, "function_call", id="a", name="f", arguments={}),
        pieces(3, '{"x":1}'),
        start(4, "thought"),
        thought(4, "unsigned"),
        start(5, "function_call", id="b", name="g", arguments={"y": 2}),
        start(6, "function_call", id="c", name="h", arguments={}),
        pieces(6, '{"cut'),
        completed("requires_action"),
    )
    assert reading.carry == [
        {"type": "thought", "summary": [{"type": "text", "text": "Hm"}], "signature": "c2ln"},
        {"type": "model_output", "content": [{"type": "text", "text": "Hi"}]},
        {"type": "thought", "signature": "eA=="},
        {"type": "function_call", "id": "a", "name": "f", "arguments": {"x": 1}},
        {"type": "function_call", "id": "b", "name": "g", "arguments": {"y": 2}},
    ]
    assert reading.reasoning_parts == ["Hm", "unsigned"]


# --- endings ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "verdict"),
    [
        ("completed", COMPLETE),
        ("requires_action", ("tool_requested", None, "requires_action", None)),
        ("incomplete", ("incomplete", "incomplete", "incomplete", None)),
        ("budget_exceeded", ("incomplete", "incomplete", "budget_exceeded", None)),
        ("requires_continuation", ("incomplete", "continuation", "requires_continuation", None)),
        ("cancelled", ("incomplete", "cancelled", "cancelled", None)),
        ("failed", ("failed", "provider_error", "failed", False)),
        ("in_progress", ("open", "stream_truncated", None, None)),
        ("queued", ("open", "stream_truncated", None, None)),
        ("idle", ("open", "stream_truncated", None, None)),
        ("COMPLETED", ("incomplete", "unknown", "COMPLETED", None)),
        ("done", ("incomplete", "unknown", "done", None)),
        ("", ("incomplete", "unknown", None, None)),
        (None, ("incomplete", "unknown", None, None)),
        (5, ("incomplete", "unknown", None, None)),
    ],
)
def test_each_status(status: Any, verdict: object) -> None:
    """The status inside decides, whatever the event is called; a word that nobody knows is never an answer."""
    assert judged(heard(CREATED, OUTPUT, HI, STOP, completed(status), DONE)) == verdict


def test_the_table_is_tested() -> None:
    """A new row must get its line above."""
    assert len(STATUSES) == 10


def test_a_call_is_a_call_whatever_the_status_says() -> None:
    """Tools before complete."""
    reading = heard(CREATED, OUTPUT, HI, call(1), stop(1), END)
    assert judged(reading) == ("tool_requested", None, "completed", None)


@pytest.mark.parametrize(
    ("parts", "ending", "verdict"),
    [
        ([], "eof", ("incomplete", "stream_truncated", None, None)),
        ([CREATED, OUTPUT, HI, STOP], "eof", ("incomplete", "stream_truncated", None, None)),
        ([CREATED, OUTPUT, HI, STOP, DONE], "eof", ("incomplete", "stream_truncated", None, None)),
        ([CREATED, OUTPUT, HI, STOP, DONE], "cut", ("incomplete", "connection_lost", None, None)),
        ([CREATED, OUTPUT, HI], "stalled", ("incomplete", "stalled", None, None)),
        ([CREATED, OUTPUT, HI, END[:-1]], "eof", ("incomplete", "stream_truncated", None, None)),
        ([CREATED, OUTPUT, HI, END], "cut", COMPLETE),
        ([CREATED, completed("in_progress"), OUTPUT, HI, END], "eof", COMPLETE),
        ([CREATED, completed("in_progress"), OUTPUT, HI], "cut", ("open", "connection_lost", None, None)),
    ],
)
def test_the_end_must_be_proven(parts: list[bytes], ending: Ending, verdict: object) -> None:
    """Only the completed event proves it; `[DONE]` follows, and proves nothing."""
    assert judged(heard(*parts, ending=ending)) == verdict


TIMEOUT = {"code": "gateway_timeout", "message": "m"}


@pytest.mark.parametrize(
    ("part", "word", "retryable", "detail"),
    [
        (said("error", error=TIMEOUT), "gateway_timeout", True, "m"),
        (event({"error": TIMEOUT}), "gateway_timeout", True, "m"),
        (event({"event_type": "error", **TIMEOUT}), "gateway_timeout", True, "m"),
        (event({"error": TIMEOUT}, "error"), "gateway_timeout", True, "m"),
        (said("error", error={"code": 503, "status": "UNAVAILABLE"}), "UNAVAILABLE", True, ""),
        (said("error", error={"code": "not_found", "message": "m"}), "not_found", False, "m"),
        (event("gone", "error"), None, False, "gone"),
        (completed("failed", error=TIMEOUT), "gateway_timeout", True, "m"),
        (completed("failed", errors=[TIMEOUT]), "gateway_timeout", True, "m"),
        (completed("completed", errors=[TIMEOUT]), "gateway_timeout", True, "m"),
    ],
)
def test_an_error_in_a_200(part: bytes, word: str | None, detail: str, *, retryable: bool) -> None:
    """It fails the stream at once; what follows is late."""
    reading = heard(CREATED, OUTPUT, HI, part, HI, END, DONE)
    assert judged(reading) == ("failed", "provider_error", word, retryable)
    assert (reading.answer, reading.detail, reading.late_events) == ("Hi", detail, 3)


# --- the rest -----------------------------------------------------------------------------------------------------


def test_usage_id_and_cursor() -> None:
    """Usage is that of the end; the first id names the reply; the cursor is the last event's id, else their count."""
    told = {
        "total_input_tokens": 5,
        "total_output_tokens": 2,
        "total_thought_tokens": 1,
        "total_cached_tokens": 0,
    }
    assert heard(CREATED, completed(usage=told)).usage == Usage(5, 2, 1, 0)
    absurd: list[Any] = [None, {}, {"total_input_tokens": "5"}, {"total_output_tokens": -1}, [], 5]
    assert [heard(completed(usage=usage)).usage for usage in absurd] == [None] * 6
    assert heard(said("interaction.status_update", interaction_id="a\0"), CREATED).response_id == "a\ufffd"
    assert heard(CREATED, OUTPUT, HI).last_event == "3"
    assert heard(said("x", event_id="e1"), said("y", event_id="e2"), HI).last_event == "e2"
    assert heard(said("x", event_id="e" * 1000)).last_event == "e" * 100
    assert heard(END, said("x", event_id="late")).last_event == "1"


def test_malformed_json_is_a_failure_and_keeps_what_came() -> None:
    """A mangled event is never skipped in silence: text may be missing."""
    reading = heard(CREATED, OUTPUT, HI, b'data: {"event_type":"step.de\n\n', END)
    assert (judged(reading), reading.answer) == (("failed", "malformed_stream", None, True), "Hi")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 3) | st.floats() | st.text(max_size=3),
    lambda children: (
        st.lists(children, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "delta",
                    "step",
                    "content",
                    "interaction",
                    "type",
                    "text",
                    "summary",
                    "arguments",
                    "id",
                    "name",
                    "signature",
                    "status",
                    "index",
                    "error",
                ]
            ),
            children,
            max_size=5,
        )
    ),
    max_leaves=15,
)
NAMES = [
    "step.start",
    "step.delta",
    "step.stop",
    "content.start",
    "interaction.created",
    "interaction.status_update",
]


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(NAMES), JSON), max_size=6))
def test_any_json_is_read_without_an_exception(told: list[tuple[str, Any]]) -> None:
    """And never makes an answer out of a stream without its terminal event."""
    parts = [
        event({**(value if isinstance(value, dict) else {"step": value}), "event_type": name})
        for name, value in told
    ]
    assert not heard(*parts).confirmable
    assert json.dumps(heard(*parts, completed("x")).carry) is not None
