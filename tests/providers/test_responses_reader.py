"""The Responses wire: what is heard of each event, and which item it belongs to."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.streaming.deltas import Usage
from chat.streaming.reading import Reading
from tests.providers.responses_bodies import (
    COMPLETE,
    CREATED,
    END,
    HI,
    Said,
    added,
    call_item,
    event,
    heard,
    item_done,
    judged,
    message,
    numbered,
    plain,
    text,
)

# --- what is not an answer --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "part",
    [
        b"data\n\n",
        b": \n\n",
        b"data: : PROCESSING\n\n",
        b"data: [DONE]\n\n",
        event({"time": 5}, "ping"),
        event({}),
        event([]),
        event("7"),
        event("null"),
        event({"type": 5, "delta": "no"}),
        event({"type": "response.output_text.delta", "delta": ["no"]}),
        event({"type": "response.output_text.delta", "delta": ""}),
        event({"type": "response.output_text.delta"}),
        event({"delta": "no"}),
        event({"choices": [{"delta": {"content": "no"}, "finish_reason": "stop"}]}),
        event({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "no"}}),
        event({"type": "response.output_text.annotation.added", "annotation": {"text": "no"}}),
        event({"type": "response.web_search_call.completed", "item_id": "w"}),
        event({"type": "response.code_interpreter_call_code.delta", "delta": "no"}),
        event({"type": "response.mcp_call_arguments.delta", "delta": "no"}),
        event({"type": "response.audio.transcript.delta", "delta": "no"}),
        event({"type": "response.something.new", "delta": "no", "text": "no", "response": {"status": "x"}}),
        event({"type": "response.cancelled", "response": {"status": "completed"}}),
        event({"type": "response.output_item.added", "item": None}),
        event({"type": "response.output_item.added", "output_index": 9, "item": {"type": ["no"]}}),
        event({"type": "response.output_item.done", "output_index": 9, "item": {"type": "mcp_call"}}),
        event({"type": "response.content_part.done", "part": {"type": "audio", "text": "no"}}),
        event({"type": "response.content_part.done", "part": "no"}),
        event({"type": "response.in_progress", "response": {"status": "completed", "usage": {}}}),
        event({"type": "error_free", "error": None}),
    ],
)
def test_foreign_things_add_nothing(part: bytes) -> None:
    """Before the text, inside it and after the end."""
    created, hi, more, end = plain(CREATED, HI, text("!"), END)
    reading = heard(created, part, hi, part, more, part, end, part)
    assert judged(reading) == COMPLETE
    assert (reading.answer, reading.reasoning, reading.refusal, reading.tool_calls) == ("Hi!", "", "", [])
    assert reading.divergence is None


# --- which item ---------------------------------------------------------------------------------------------------


def reasoned(
    delta: str, index: int | None, item_id: str | None, part: int | None, *, raw: bool = False
) -> Said:
    """One piece of reasoning."""
    name, key = ("reasoning_text", "content_index") if raw else ("reasoning_summary_text", "summary_index")
    return f"{name}.delta", {"delta": delta, "output_index": index, "item_id": item_id, key: part}


@pytest.mark.parametrize(
    ("said", "parts"),
    [
        # One part per item and index, interleaved, summaries and raw text apart.
        ([reasoned("a", 0, "i", 0), reasoned("b", 0, "i", 1), reasoned("c", 0, "i", 0)], ["ac", "b"]),
        ([reasoned("a", 0, "i", 0), reasoned("b", 2, "j", 0), reasoned("c", 0, "i", 0)], ["ac", "b"]),
        ([reasoned("a", 0, "i", 0), reasoned("b", 0, "i", 0, raw=True)], ["a", "b"]),
        # Ids that rotate (Copilot): the index knows better.
        ([reasoned("a", 1, "x1", 0), reasoned("b", 1, "x2", 0), reasoned("c", 1, "x3", 0)], ["abc"]),
        # An id that is always the same: so does it here.
        ([reasoned("a", 0, "i", 0), reasoned("b", 1, "i", 0)], ["a", "b"]),
        # No indexes (llama.cpp): the id is all there is.
        (
            [reasoned("a", None, "i", None), reasoned("b", None, "j", None), reasoned("c", None, "i", None)],
            ["ac", "b"],
        ),
        # An index that comes late joins its item.
        ([added("reasoning", None, "i"), reasoned("a", 0, "i", 0), reasoned("b", None, "i", 0)], ["ab"]),
        # Neither: the item that was announced last.
        (
            [
                added("reasoning", None, None),
                reasoned("a", None, None, None),
                reasoned("b", None, None, None),
            ],
            ["ab"],
        ),
        (
            [
                added("reasoning", None, None),
                reasoned("a", None, None, None),
                added("reasoning", None, None),
                reasoned("b", None, None, None),
            ],
            ["a", "b"],
        ),
        # An index shared by all: announcing another id there begins another item, and ids tell them apart.
        (
            [
                added("reasoning", 0, "i"),
                reasoned("a", 0, "i", 0),
                added("reasoning", 0, "j"),
                reasoned("b", 0, "j", 0),
                reasoned("c", 0, "i", 0),
                reasoned("d", 0, "?", 0),
            ],
            ["ac", "bd"],
        ),
        # Announced twice, or only after its first text: the same item.
        (
            [
                reasoned("a", 0, "i", 0),
                added("reasoning", 0, "i"),
                reasoned("b", 0, "i", 0),
                added("reasoning", 0, "i"),
                reasoned("c", 0, "i", 0),
            ],
            ["abc"],
        ),
    ],
)
def test_text_finds_its_part(said: list[Said], parts: list[str]) -> None:
    """By index, and where that is missing or shared by id."""
    reading = heard(*plain(*said, HI, END))
    assert (reading.reasoning_parts, reading.answer, judged(reading)) == (parts, "Hi", COMPLETE)


def test_all_messages_are_the_answer() -> None:
    """Commentary and final answer, their parts in order of arrival, nothing between them; indexes may have gaps."""
    reading = heard(*numbered(CREATED, text("a", 0), text("b", 0, 1), text("c", 7), text("d", 0, 1), END))
    assert (reading.answer, reading.confirmable) == ("abdc", True)


# --- what must be sent back ---------------------------------------------------------------------------------------


def test_what_only_the_provider_can_read_is_carried_unchanged() -> None:
    """From `.done` alone: what was announced may be unfinished. In the order of the output, never shown."""
    sealed = {
        "type": "reasoning",
        "id": "rs",
        "summary": [],
        "encrypted_content": "gAAA=",
        "more": {"x": 1.5},
    }
    asked = call_item("{}", id="fc", status="completed")
    reading = heard(
        *numbered(
            CREATED,
            added("reasoning", 0, "rs", encrypted_content="half"),
            item_done(2, message("Hi")),
            item_done(1, asked),
            item_done(0, sealed),
            item_done(3, {"type": "reasoning", "summary": [], "encrypted_content": None}),
            END,
        )
    )
    assert reading.carry == [sealed, asked]
    assert "gAAA" not in reading.answer + reading.reasoning


# --- the rest -----------------------------------------------------------------------------------------------------


def test_usage_is_that_of_the_end() -> None:
    """Null before; what it does not say is None."""
    told = {
        "input_tokens": 10,
        "output_tokens": 4,
        "input_tokens_details": {"cached_tokens": 2},
        "output_tokens_details": {"reasoning_tokens": 3},
    }

    def usage(value: Any) -> Usage | None:
        return heard(*plain(CREATED, ("completed", {"response": {"usage": value}}))).usage

    assert usage(told) == Usage(10, 4, 3, 2)
    assert usage({"input_tokens": 1, "output_tokens": 2}) == Usage(1, 2)
    absurd: list[Any] = [None, {}, {"input_tokens": "5"}, {"input_tokens": -1, "output_tokens": 2**40}, [], 5]
    assert [usage(value) for value in absurd] == [None] * 6


def test_the_first_id_names_the_reply() -> None:
    """A relay may rotate the ids of the response too."""

    def created(id_: Any) -> Said:
        return "created", {"response": {"id": id_}}

    reading = heard(*plain(created(5), created(""), created("a\0"), created("b")))
    assert reading.response_id == "a\ufffd"


def test_halves_of_a_pair_in_two_deltas_are_no_divergence() -> None:
    """JSON can cut an emoji; the whole text has it in one piece."""
    said = [text("a\ud83d"), text("\ude00"), ("output_text.done", {"text": "a😀", "output_index": 0}), END]
    reading = heard(*numbered(CREATED, *said))
    assert (reading.answer, reading.divergence, reading.confirmable) == ("a😀", None, True)


def test_malformed_json_is_a_failure_and_keeps_what_came() -> None:
    """A mangled event is never skipped in silence: text may be missing. The same inside an object read later."""
    for bad in (
        b'data: {"type":"response.output_te\n\n',
        b'data: {"type":"response.completed","response":{"a":tru}}\n\n',
    ):
        reading = heard(*plain(CREATED, HI), bad, *plain(END))
        assert (judged(reading), reading.answer) == (("failed", "malformed_stream", None, True), "Hi")


NAMES = [
    *("output_text.delta", "output_text.done", "refusal.delta", "refusal.done", "reasoning_text.delta"),
    *("output_item.added", "output_item.done", "content_part.done", "reasoning_summary_part.done"),
    *("function_call_arguments.delta", "function_call_arguments.done", "created", "in_progress"),
]
FIELDS = [
    *(
        "item",
        "part",
        "response",
        "delta",
        "text",
        "type",
        "id",
        "item_id",
        "output_index",
        "content",
        "summary",
    ),
    *(
        "content_index",
        "sequence_number",
        "status",
        "arguments",
        "call_id",
        "name",
        "usage",
        "output",
        "refusal",
    ),
]
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-1, 3)
    | st.floats()
    | st.text(max_size=3)
    | st.sampled_from(["message", "reasoning", "function_call", "output_text", "summary_text", "completed"]),
    lambda children: (
        st.lists(children, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), children, max_size=5)
    ),
    max_leaves=15,
)


def read_any(said: list[tuple[str, Any]]) -> Reading:
    """Read events with any content."""
    return heard(
        *(
            event({**(value if isinstance(value, dict) else {"item": value}), "type": f"response.{name}"})
            for name, value in said
        )
    )


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(NAMES), JSON), max_size=6))
def test_any_json_is_read_without_an_exception(said: list[tuple[str, Any]]) -> None:
    """And never makes an answer out of a stream without its terminal event."""
    assert not read_any(said).confirmable


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from([*NAMES, "completed", "incomplete", "failed"]), JSON), max_size=6))
def test_any_end_is_judged_without_an_exception(said: list[tuple[str, Any]]) -> None:
    """Whatever stands in the terminal event."""
    assert read_any(said).outcome in ("complete", "tool_requested", "incomplete", "refused", "failed", "open")
