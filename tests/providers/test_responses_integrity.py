"""The Responses wire: repeated, missing and contradicting events."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.providers.responses_reader import OpenAIResponsesReader
from chat.streaming.pipeline import Pipeline
from chat.streaming.reading import Reading
from tests.providers.responses_bodies import (
    COMPLETE,
    CREATED,
    END,
    HI,
    Fields,
    Said,
    call_item,
    ended,
    event,
    heard,
    judged,
    message,
    numbered,
    plain,
    text,
)

WORDS = [text(word) for word in ("Once ", "upon ", "a ", "time ", "two ", "tools ", "met.")]
STORY = numbered(CREATED, *WORDS, END)
WHOLE = heard(*STORY)

# --- numbers ------------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(1, 3), min_size=len(STORY), max_size=len(STORY)), st.data())
def test_a_repeated_event_adds_no_character(times: list[int], data: st.DataObject) -> None:
    """Each event once or more often, and any earlier one again at any place: the same reading."""
    body: list[bytes] = []
    for number, part in enumerate(STORY[:-1]):
        body += [part] * times[number]
        body.append(STORY[data.draw(st.integers(0, number))])
    assert heard(*body, STORY[-1]) == WHOLE


@given(st.sets(st.integers(1, len(STORY) - 2), min_size=1))
def test_a_gap_is_seen_and_blocks_confirmation(lost: set[int]) -> None:
    """Whatever is missing between two numbered events; what came is kept."""
    reading = heard(*(part for number, part in enumerate(STORY) if number not in lost))
    first = min(lost)
    after = min(number for number in range(first, len(STORY)) if number not in lost)
    assert (judged(reading), reading.confirmable) == (COMPLETE, False)
    assert reading.divergence == f"expected event {first}, got {after}"
    assert reading.answer == "".join(
        str(word[1]["delta"]) for number, word in enumerate(WORDS, 1) if number not in lost
    )


@given(st.permutations(range(1, len(STORY) - 1)))
def test_events_out_of_order_never_make_an_answer_in_another_order(order: list[int]) -> None:
    """A late one is as good as a lost one."""
    reading = heard(STORY[0], *(STORY[number] for number in order), STORY[-1])
    assert reading.confirmable is (order == sorted(order))
    assert order != sorted(order) or reading == WHOLE


@pytest.mark.parametrize("first", [0, 1, 41])
def test_the_first_number_is_free(first: int) -> None:
    """A resumed stream begins after its cursor."""
    reading = heard(*numbered(CREATED, HI, END, first=first))
    assert (reading.confirmable, reading.last_event) == (True, str(first + 2))


def test_events_without_numbers_have_no_gaps() -> None:
    """All of them, some of them, or numbers that are none."""
    assert heard(*plain(CREATED, HI, END)).last_event == "3"
    created, hi, end = numbered(CREATED, HI, END)
    mixed = heard(created, *plain(text("a"), text("b")), hi, *plain(text("c")), end)
    assert (mixed.answer, mixed.confirmable, mixed.last_event) == ("abHic", True, "2")
    odd: list[object] = [-1, 2**63, 10**30, "1", True, 1.5, None]
    parts = [
        event({"type": "response.output_text.delta", "sequence_number": value, "delta": "x"}) for value in odd
    ]
    assert heard(*plain(CREATED), *parts, *plain(END)).answer == "x" * len(odd)


def test_the_cursor_moves_with_events_that_are_not_known() -> None:
    """Else a resumed stream would repeat them for ever; repeated and late ones do not move it."""
    created, hi, odd, end = numbered(CREATED, HI, ("something.new", {"x": 1}), END)
    assert heard(created, hi, odd, hi, ending="cut").last_event == "2"
    reading = heard(created, hi, odd, end, *numbered(text("late"), first=4))
    assert (reading.last_event, reading.late_events, reading.answer) == ("3", 1, "Hi")


# --- texts --------------------------------------------------------------------------------------------------------


def done(name: str, **fields: object) -> Said:
    """A `.done` of the first item."""
    return f"{name}.done", {"output_index": 0, "item_id": "i", **fields}


def reasoned(delta: str) -> Said:
    """A piece of a summary."""
    return "reasoning_summary_text.delta", {"delta": delta, "output_index": 0, "summary_index": 0}


def part_done(type_: str, **fields: object) -> Said:
    """A `content_part.done`."""
    return done("content_part", content_index=0, part={"type": type_, **fields})


REASONING: Fields = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "H"}]}


@pytest.mark.parametrize(
    "said",
    [
        [HI, done("output_text", content_index=0, text="Ho")],
        [HI, done("output_text", content_index=0, text="")],
        [HI, part_done("output_text", text="Hi!")],
        [HI, done("output_item", item=message("H", "o"))],
        [HI, ended(output=[message("Hi!")])],
        [HI, ended(output=[message("Hi"), message("!")])],
        [HI, ended(output=[{"type": "reasoning", "summary": []}])],
        [HI, ended("incomplete", output=[message("H")])],
        [ended(output=[message("Hi")])],
        [text("a", 1), text("b", 0), ended(output=[message("b"), message("a")])],
        [reasoned("Hm"), HI, done("reasoning_summary_text", summary_index=0, text="H")],
        [reasoned("Hm"), HI, done("reasoning_summary_part", part={"type": "summary_text", "text": "H"})],
        [reasoned("Hm"), text("Hi", 1), done("output_item", item=REASONING)],
        [reasoned("Hm"), text("Hi", 1), ended(output=[REASONING, message("Hi")])],
        [
            HI,
            ended(
                output=[message("Hi"), {"type": "message", "content": [{"type": "refusal", "refusal": "x"}]}]
            ),
        ],
        [HI, ended(output=[message("Hi"), call_item("{}")])],
        [done("output_item", item=call_item("{}")), ended(output=[message("")])],
        [done("output_item", item=call_item("{}")), ended(output=[call_item("{}", call_id="d")])],
        [done("output_item", item=call_item("{}")), ended(output=[call_item("{}", name="g")])],
        [done("output_item", item=call_item("{}")), ended(output=[call_item('{"x":1}')])],
    ],
)
def test_a_whole_text_that_differs_from_its_deltas_is_a_divergence(said: list[Said]) -> None:
    """At each place where the provider says a text again: the reading tells, and cannot be confirmed."""
    closed = said if said[-1][0] in ("completed", "incomplete") else [*said, END]
    reading = heard(*numbered(CREATED, *closed))
    assert reading.divergence is not None
    assert not reading.confirmable
    assert all(secret not in reading.divergence for secret in ("Hi", "Hm", "{}"))


@pytest.mark.parametrize(
    "said",
    [
        [HI, ended(output=[])],
        [HI, ended(output=None)],
        [HI, ended(output=["no", 5])],
        [HI, done("output_text", content_index=0, text="Hi"), ended(output=[message("Hi")])],
        [HI, done("output_text", content_index=0, text=None), done("output_item", item={"type": "message"})],
        [
            text("H"),
            text("i", 0, 1),
            done("output_item", item=message("H", "i")),
            ended(output=[message("H", "i")]),
        ],
        # Relays number the parts of a finished item anew (gpt-oss on Bedrock).
        [
            text("Hi", 0, 1),
            done("output_text", content_index=1, text="Hi"),
            done("output_item", item=message("Hi")),
        ],
        # Reasoning may be missing from the output.
        [reasoned("Hm"), text("Hi", 1), ended(output=[{"type": "reasoning", "summary": []}, message("Hi")])],
        [reasoned("Hm"), text("Hi", 1), ended(output=[message("Hi")])],
    ],
)
def test_an_empty_text_or_the_same_one_says_nothing(said: list[Said]) -> None:
    """Some servers repeat everything, some nothing."""
    closed = said if said[-1][0] == "completed" else [*said, END]
    reading = heard(*numbered(CREATED, *closed))
    assert (reading.answer, reading.divergence, reading.confirmable) == ("Hi", None, True)


@pytest.mark.parametrize(
    "said",
    [
        [done("output_text", content_index=0, text="Hi")],
        [part_done("output_text", text="Hi")],
        [done("output_item", item=message("Hi"))],
        [done("output_item", item=message("H", "i"))],
        [done("output_text", content_index=0, text="Hi"), part_done("output_text", text="Hi")],
    ],
)
def test_a_text_without_deltas_is_said_by_its_whole_once(said: list[Said]) -> None:
    """Some servers do not stream short texts."""
    reading = heard(*numbered(CREATED, *said, done("output_item", item=message("Hi")), END))
    assert (reading.answer, reading.divergence, reading.confirmable) == ("Hi", None, True)


@pytest.mark.parametrize(
    ("pieces", "told", "kept", "diverges"),
    [
        (["{}"], "{}", "{}", False),
        (['{"a":', "1}"], '{"a": 1}', '{"a": 1}', False),
        (["{"], "{}", "{}", True),
        (['{"a":1}'], '{"a":2}', '{"a":2}', True),
        (["{}"], "", "{}", True),
        ([], "{}", "{}", False),
    ],
)
def test_the_whole_arguments_win(pieces: list[str], told: str, kept: str, *, diverges: bool) -> None:
    """And a difference in more than layout is told."""
    said: list[Said] = [
        ("function_call_arguments.delta", {"delta": piece, "output_index": 0}) for piece in pieces
    ]
    reading = heard(*numbered(CREATED, *said, done("output_item", item=call_item(told)), END))
    (call,) = reading.tool_calls
    assert (call.arguments_text, call.name, reading.divergence is not None) == (kept, "f", diverges)


def test_an_abridged_recording_is_not_compared() -> None:
    """It leaves events out on purpose: only the tests read so."""
    said = [
        CREATED,
        text("H"),
        done("output_text", content_index=0, text="Hi"),
        ended(output=[message("Hi")]),
    ]
    parts = numbered(*said)
    body = b"".join([*parts[:1], *numbered(*said[1:], first=5)])

    def read(*, abridged: bool) -> Reading:
        pipeline = Pipeline(OpenAIResponsesReader(abridged=abridged))
        pipeline.feed(body)
        pipeline.close("eof")
        return pipeline.reading()

    assert read(abridged=False).divergence == "expected event 1, got 5"
    assert (read(abridged=True).divergence, read(abridged=True).confirmable) == (None, True)
