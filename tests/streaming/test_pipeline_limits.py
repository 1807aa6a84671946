"""The edges of the chain: exactly at a limit and one past it, at the end of a body, at a new body, behind a block."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from chat.streaming.deltas import PartKind
from chat.streaming.errors import FeedAfterClose, ReleaseBeforeClose
from chat.streaming.gates import GATES, Gate
from chat.streaming.outcome import Outcome, Reason, Verdict
from chat.streaming.pipeline import Append, Pipeline, immediate
from chat.streaming.sse import Event
from tests.streaming.test_pipeline import ToyReader, body

TOO_LONG = Verdict(
    Outcome.failed,
    Reason.event_too_large,
    None,
    False,
    "expected a reply of at most 6 characters, got a longer one",
)


def six(gate: Callable[[PartKind], Gate] = immediate) -> Pipeline:
    """A pipeline whose reply may have six characters."""
    return Pipeline(ToyReader(), gate=gate, max_event_bytes=100, max_chars=6)


WAYS: dict[str, list[list[str]]] = {
    "in one piece": [["answer:1:abcdef"]],
    "in one body": [["answer:1:ab", "answer:1:cd", "answer:1:ef"]],
    "in many bodies": [["answer:1:ab"], ["answer:1:cd"], ["answer:1:ef"]],
    "letter by letter": [[f"answer:1:{letter}" for letter in "abcdef"]],
    "in parts": [["answer:1:ab", "reasoning:1:cd", "answer:2:ef"]],
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("gate", ["immediate", "sentence"])
def test_the_limit_itself_is_allowed_and_one_character_more_is_not(way: str, gate: str) -> None:
    """Whatever the pieces are; the one past it is seen in the very bytes that bring it, and the line is closed."""
    pipeline = six(lambda _kind: GATES[gate]())
    for events in WAYS[way]:
        pipeline.feed(body(*events))
    assert (pipeline.fault, pipeline.finished) == (None, False)
    pipeline.feed(body("answer:9:g"))
    assert (pipeline.fault, pipeline.finished) == (TOO_LONG, True)


def test_a_limit_that_is_passed_in_the_middle_of_one_body_ends_there() -> None:
    """What follows in the same bytes is read no more: neither kept nor shown."""
    pipeline = six()
    shown = pipeline.feed(body(*[f"answer:1:{letter}" for letter in "abcdefghijkl"]))
    assert (shown, pipeline.fault) == ([Append("answer", "abcdefg")], TOO_LONG)
    assert (pipeline.feed(body("answer:1:more")), pipeline.reading().answer) == ([], "abcdefg")


def test_a_run_is_counted_once_however_often_the_limit_is_looked_at() -> None:
    """Text that is made storable may be shorter than it came: four halves of a pair are two letters, not four."""
    pipeline = six()
    halves = [body(f"answer:1:{'a' * 5}")]
    assert pipeline.feed(b"".join(halves)) == [Append("answer", "aaaaa")]
    assert pipeline.feed(body("answer:1:", "answer:1:", "answer:1:b")) == [Append("answer", "b")]
    assert pipeline.fault is None
    assert pipeline.feed(body("reasoning:1:")) == []
    assert pipeline.fault is None


def test_the_end_of_a_body_brings_what_was_held_back_in_reading() -> None:
    """A character that the network cut, and an event without its blank line: the first is replaced, the second is none."""
    pipeline = six()
    assert pipeline.feed(b"data: answer:1:ab\n\ndata: answer:1:c") == [Append("answer", "ab")]
    assert pipeline.close("eof") == []
    assert (pipeline.reading().answer, pipeline.reading().outcome) == ("ab", "incomplete")


class Lines:
    """A framing that ends its last event with the body."""

    def __init__(self, _limit: int) -> None:
        self._text = ""

    def feed(self, text: str) -> list[Event]:
        self._text += text
        return []

    def close(self) -> list[Event]:
        return [Event("message", self._text, "")]


@pytest.mark.parametrize(("bytes_", "text"), [(b"answer:1:ab", "ab"), (b"answer:1:ab\xe2\x82", "ab\ufffd")])
def test_a_framing_may_have_its_last_event_at_the_end(bytes_: bytes, text: str) -> None:
    pipeline = Pipeline(ToyReader(), framing=Lines)
    assert pipeline.feed(bytes_) == []
    assert pipeline.close("eof") == [Append("answer", text)]
    assert pipeline.reading().answer == text


def test_a_fault_at_the_end_is_a_fault() -> None:
    pipeline = Pipeline(ToyReader(), framing=Lines)
    pipeline.feed(b"bad")
    assert pipeline.close("eof") == []
    assert pipeline.fault is not None
    assert (pipeline.reading().outcome, pipeline.reading().reason) == ("failed", "malformed_stream")


def test_a_new_body_of_the_same_stream_forgets_what_the_old_one_cut() -> None:
    """Half a character and half an event are in the new body as a whole."""
    pipeline = six()
    assert pipeline.feed(b"data: answer:1:a\n\ndata: answer:1:\xe2\x82") == [Append("answer", "a")]
    pipeline.reconnect()
    assert pipeline.feed("data: answer:1:€\n\ndata: end\n\n".encode()) == [Append("answer", "€")]
    pipeline.close("eof")
    assert (pipeline.reading().answer, pipeline.reading().outcome) == ("a€", "complete")
    with pytest.raises(FeedAfterClose) as told:
        pipeline.reconnect()
    assert str(told.value) == str(FeedAfterClose(pipeline))


def test_whoever_goes_on_after_the_end_is_told_with_what() -> None:
    pipeline = six()
    with pytest.raises(ReleaseBeforeClose) as early:
        pipeline.release()
    assert str(early.value) == "expected close() before release(), got an open stream"
    pipeline.close("eof")
    with pytest.raises(FeedAfterClose) as late:
        pipeline.feed(b"x")
    assert str(late.value) == str(FeedAfterClose(pipeline))


def no_x(text: str) -> str | None:
    """A rule."""
    return "no-x" if "x" in text else None


def test_behind_a_block_nothing_more_is_seen_of_any_lane() -> None:
    """Also what another gate would let through, and also in later bytes."""
    pipeline = six(
        lambda kind: GATES["sentence"](check=no_x if kind is PartKind.answer else lambda _text: None)
    )
    assert pipeline.feed(body("answer:1:Some xs. Yes", "reasoning:1:Well then. But")) == []
    assert pipeline.feed(body("reasoning:2:So what. Do")) == []
    assert pipeline.reading().reasoning == ""


def test_a_fault_leaves_what_the_gates_hold_unseen_and_tool_arguments_have_no_gate() -> None:
    """A stream with a call and a held text: both are there, only the text is released."""
    whole = six(lambda _kind: GATES["whole"]())
    whole.feed(body("tool:0:{}", "answer:1:ab", "end"))
    whole.close("eof")
    assert whole.release() == [Append("answer", "ab")]
    broken = six(lambda _kind: GATES["whole"]())
    broken.feed(body("answer:1:ab", "bad"))
    broken.close("eof")
    assert broken.release() == []


def test_refusals_are_joined_without_a_border() -> None:
    pipeline = six()
    pipeline.feed(body("refusal:1:No", "refusal:2:pe"))
    assert pipeline.reading().refusal == "Nope"
