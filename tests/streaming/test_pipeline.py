"""The chain as a whole: what may be seen when, what is read, and whose fault it was."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.providers import WIRES, read
from chat.providers.profiles import STRICT
from chat.streaming.deltas import Delta, PartKind, TextDelta, ToolDelta, Usage
from chat.streaming.errors import FeedAfterClose, MalformedStream, ReleaseBeforeClose
from chat.streaming.gates import GATES, Gate, Immediate
from chat.streaming.outcome import Ending, Outcome, Reason, Verdict
from chat.streaming.pipeline import Append, Pipeline, immediate
from chat.streaming.sse import Event


class ToyReader:
    """A wire in which each event's data is `kind:key:text`; `end` is its terminal signal, `bad` is no event of it."""

    def __init__(self) -> None:
        self.response_id = "toy"
        self.usage: Usage | None = None
        self.finished = False
        self.late_events = 0
        self.last_event: str | None = None
        self.accepted = 0
        self.carry: list[Any] = []
        self.divergence: str | None = None

    def feed(self, event: Event) -> list[Delta]:
        if self.finished:
            self.late_events += 1
            return []
        self.last_event = event.data
        if event.data == "end":
            self.finished = True
            return []
        if event.data == "bad":
            raise MalformedStream("expected better")
        kind, key, text = event.data.split(":", 2)
        if kind == "tool":
            return [ToolDelta(key, f"id-{key}", f"name-{key}", text, position=int(key))]
        return [TextDelta(PartKind[kind], key, text)]

    def close(self, ending: Ending) -> Verdict:
        return (
            Verdict(Outcome.complete)
            if self.finished
            else Verdict(Outcome.incomplete, Reason.stream_truncated, ending)
        )


def toy(gate: Callable[[PartKind], Gate] = immediate, *, max_event_bytes: int = 100) -> Pipeline:
    """A pipeline for the toy wire."""
    return Pipeline(ToyReader(), gate=gate, max_event_bytes=max_event_bytes)


def body(*events: str) -> bytes:
    """Events of the toy wire."""
    return b"".join(b"data: " + event.encode() + b"\n\n" for event in events)


def test_released_text_comes_in_order_and_joined() -> None:
    """One append for neighbours of a lane; reasoning parts are a blank line apart, answer parts are not."""
    pipeline = toy()
    assert pipeline.feed(
        body(
            "reasoning:1:a",
            "reasoning:1:b",
            "reasoning:2:c",
            "answer:1:d",
            "answer:2:e",
            "refusal:1:f",
            "tool:1:{}",
        )
    ) == [
        Append("reasoning", "ab\n\nc"),
        Append("answer", "de"),
        Append("refusal", "f"),
    ]
    assert pipeline.feed(body("reasoning:3:g")) == [Append("reasoning", "\n\ng")]
    reading = pipeline.reading()
    assert (reading.outcome, reading.answer, reading.reasoning, reading.refusal) == (
        "open",
        "de",
        "ab\n\nc\n\ng",
        "f",
    )
    assert reading.reasoning_parts == ["ab", "c", "g"]


def test_the_states_of_a_stream() -> None:
    """Started at the first delta, finished at the terminal signal, judged at the close."""
    pipeline = toy()
    walk = [(pipeline.started, pipeline.finished, pipeline.reading().outcome)]
    for chunk in (b": hi\n\n", body("answer:1:a"), body("end"), body("answer:1:late")):
        pipeline.feed(chunk)
        walk.append((pipeline.started, pipeline.finished, pipeline.reading().outcome))
    pipeline.close("cut")
    walk.append((pipeline.started, pipeline.finished, pipeline.reading().outcome))
    assert walk == [
        (False, False, "open"),
        (False, False, "open"),
        (True, False, "open"),
        (True, True, "open"),
        (True, True, "open"),
        (True, True, "complete"),
    ]
    reading = pipeline.reading()
    assert (reading.answer, reading.late_events, reading.last_event, reading.confirmable) == (
        "a",
        1,
        "end",
        True,
    )


def test_gates_hold_until_release() -> None:
    """What is held is in no append, not even at the close; only a good end releases it."""
    pipeline = toy(lambda kind: GATES["whole"]() if kind is PartKind.answer else Immediate())
    assert pipeline.feed(body("answer:1:a", "reasoning:1:r", "answer:2:b", "end")) == [
        Append("reasoning", "r")
    ]
    with pytest.raises(ReleaseBeforeClose):
        pipeline.release()
    assert (pipeline.close("eof"), pipeline.close("eof")) == ([], [])
    assert (pipeline.release(), pipeline.release()) == ([Append("answer", "ab")], [])


def test_a_blocked_gate_ends_the_stream() -> None:
    """What was shown stays, the rest is neither shown nor released, and the verdict names the rule."""

    def no_x(text: str) -> str | None:
        return "no-x" if "x" in text else None

    pipeline = toy(lambda kind: GATES["sentence"](check=no_x))
    shown = pipeline.feed(body("answer:1:Good. Now x. Then. ", "answer:1:More. And", "end"))
    assert (shown, pipeline.finished, pipeline.feed(body("answer:1:later. Yes"))) == (
        [Append("answer", "Good. ")],
        True,
        [],
    )
    assert pipeline.fault == Verdict(Outcome.refused, Reason.policy, detail="rule no-x blocked the answer")
    assert (pipeline.close("eof"), pipeline.release()) == ([], [])
    reading = pipeline.reading()
    assert (reading.outcome, reading.reason, reading.confirmable) == ("refused", "policy", False)
    assert (reading.rule, reading.silenced) == ("no-x", None)


def test_after_a_block_nothing_more_is_read() -> None:
    """Bytes that were on their way change neither what was said nor how it ended: they are not looked at."""
    pipeline = toy(lambda kind: GATES["sentence"](check=lambda text: "no-x" if "x" in text else None))
    pipeline.feed(body("answer:1:Good. Now xx. Then"))
    blocked = pipeline.reading()
    late = [body("answer:1: and more."), body("bad"), b"data: " + b"y" * 200 + b"\n\n", b"data: end\n\n\xff"]
    assert [pipeline.feed(chunk) for chunk in late] == [[], [], [], []]
    assert (pipeline.reading(), pipeline.close("eof"), pipeline.reading()) == (blocked, [], blocked)
    assert (blocked.answer, blocked.last_event) == ("Good. Now xx. Then", "answer:1:Good. Now xx. Then")
    assert (blocked.outcome, blocked.rule) == ("refused", "no-x")


def test_reasoning_that_breaks_a_rule_is_silenced_and_the_answer_goes_on() -> None:
    """A model may think of what it then does not say."""

    def no_x(text: str) -> str | None:
        return "no-x" if "x" in text else None

    pipeline = toy(lambda kind: GATES["sentence"](check=no_x))
    shown = pipeline.feed(body("reasoning:1:So. Not x. More. And", "answer:1:Fine. Well. ", "end"))
    pipeline.close("eof")
    reading = pipeline.reading()
    assert (shown, pipeline.release()) == (
        [Append("reasoning", "So. "), Append("answer", "Fine. ")],
        [Append("answer", "Well. ")],
    )
    assert (reading.confirmable, reading.silenced, reading.rule) == (True, "no-x", None)


def test_a_check_may_say_no_at_the_very_end() -> None:
    """A whole stream whose held text is bad is not an answer."""
    pipeline = toy(lambda kind: GATES["whole"](check=lambda text: "rule"))
    pipeline.feed(body("answer:1:a", "end"))
    pipeline.close("eof")
    assert (pipeline.reading().confirmable, pipeline.release(), pipeline.reading().outcome) == (
        True,
        [],
        "refused",
    )


MALFORMED = Verdict(Outcome.failed, Reason.malformed_stream, None, True, "expected better")
TOO_LARGE = Verdict(
    Outcome.failed,
    Reason.event_too_large,
    None,
    False,
    "expected an event of at most 30 bytes, got a larger one",
)


@pytest.mark.parametrize(
    ("events", "fault", "answer"),
    [
        (["answer:1:a", "bad", "answer:1:b", "end"], MALFORMED, "a"),
        (["answer:1:a", "answer:1:" + "b" * 40, "answer:1:c", "end"], TOO_LARGE, "a"),
        (["answer:1:a", "end", "bad", "answer:1:" + "b" * 40, "answer:1:c"], None, "a"),
    ],
)
def test_their_faults_become_the_verdict(events: list[str], fault: Verdict | None, answer: str) -> None:
    """Never an exception, never lost text; and after the terminal signal nothing is a fault any more."""
    whole = body(*events)
    readings = []
    for chunks in ([whole], [whole[i : i + 1] for i in range(len(whole))]):
        pipeline = toy(max_event_bytes=30)
        released = [append for chunk in chunks for append in pipeline.feed(chunk)] + pipeline.close("eof")
        assert ("".join(append.text for append in released), pipeline.fault) == (answer, fault)
        readings.append(pipeline.reading())
    assert readings[0] == readings[1]
    assert readings[0].outcome == (fault.outcome if fault else "complete")


def test_a_200_mb_event_is_refused_without_being_kept() -> None:
    """The connection can be closed as soon as the limit is passed."""
    pipeline = toy(max_event_bytes=1_000_000)
    pipeline.feed(body("answer:1:before") + b"data: answer:1:")
    chunks = 0
    while not pipeline.finished:
        pipeline.feed(b"x" * 1000)
        chunks += 1
    assert (chunks, pipeline.reading().answer, pipeline.reading().reason) == (
        1000,
        "before",
        "event_too_large",
    )


def test_text_is_storable_at_the_end_of_the_stream() -> None:
    """Half a surrogate pair that never met its other half is shown as U+FFFD when the stream ends."""
    pipeline = Pipeline(WIRES["openai_chat"].reader(STRICT))
    chunk = json.dumps({"choices": [{"delta": {"content": "a\ud83d"}, "finish_reason": "stop"}]}).encode()
    assert pipeline.feed(b"data: " + chunk + b"\n\ndata: [DONE]\n\n") == [Append("answer", "a")]
    assert pipeline.close("eof") == [Append("answer", "\ufffd")]
    assert pipeline.reading().answer == "a\ufffd"


def test_half_a_character_and_then_another_part() -> None:
    """A part that has nothing to show yet has its gate all the same, when the next one comes."""
    pipeline = Pipeline(WIRES["openai_chat"].reader(STRICT))
    for delta in ({"content": "\ud83d"}, {"reasoning_content": "So"}, {"content": "\udcaa"}):
        pipeline.feed(b"data: " + json.dumps({"choices": [{"delta": delta}]}).encode() + b"\n\n")
    pipeline.close("eof")
    assert (pipeline.reading().answer, pipeline.reading().reasoning) == ("\U0001f4aa", "So")


def test_nothing_is_taken_after_close() -> None:
    """A caller that goes on is wrong, and must see it."""
    pipeline = toy()
    pipeline.close("stalled")
    assert pipeline.reading().provider_reason == "stalled"
    with pytest.raises(FeedAfterClose):
        pipeline.feed(b"")


@pytest.mark.parametrize(
    ("text", "arguments", "complete"),
    [
        ('{"a": 1}', {"a": 1}, True),
        (' {"a": {}} ', {"a": {}}, True),
        ("{}", {}, True),
        ("", None, False),
        ('{"a": 1', None, False),
        ('{"a": 1}{"b": 2}', None, False),
        ('{"a": NaN}', None, False),
        ("[1]", [1], False),
        ('"x"', "x", False),
        ('{"a": "\\ud83d\\u0000"}', {"a": "\ufffd\ufffd"}, True),
        ("[" * 100_000, None, False),
        ('{"a": ' + "9" * 5000 + "}", None, False),
    ],
)
def test_arguments_are_parsed_once_the_call_is_whole(text: str, arguments: object, *, complete: bool) -> None:
    """Nothing is ever repaired into an object."""
    fragments = [{"tool_calls": [{"index": 0, "id": "c", "function": {"name": "f", "arguments": text}}]}]
    chunks = [{"choices": [{"delta": delta, "finish_reason": "tool_calls"}]} for delta in fragments]
    lines = b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks)
    open_, done = read("openai_chat", [lines]), read("openai_chat", [lines + b"data: [DONE]\n\n"])
    (cut,), (whole,) = open_.tool_calls, done.tool_calls
    assert (cut.arguments, cut.complete) == (None, False)
    assert (whole.arguments_text, whole.arguments, whole.complete) == (text, arguments, complete)


@settings(deadline=None)
@given(
    st.lists(
        st.binary(max_size=30) | st.sampled_from([b"data: ", b"{}", b"\n\n", b"[DONE]", b'{"choices":['])
    )
)
def test_no_bytes_raise(chunks: list[bytes]) -> None:
    """Whatever a provider sends becomes a reading."""
    whole = b"".join(chunks)
    readings = [read("openai_chat", pieces) for pieces in (chunks, [whole])]
    assert readings[0] == readings[1]
    assert not readings[0].confirmable


def test_the_core_loads_no_django() -> None:
    """It is pure, and starts in a moment."""
    code = "import sys, chat.streaming.pipeline, chat.providers; print(any('django' in name for name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_a_reply_that_does_not_end_is_ended_at_the_limit(size: int) -> None:
    """All parts count together, and where the bytes were cut changes nothing: memory and checkpoints stay bounded."""
    body = b"".join(
        b'data: {"choices":[{"index":0,"delta":{"%s":"abcd"},"finish_reason":null}]}\n\n' % name
        for _ in range(20)
        for name in (b"content", b"reasoning_content")
    )
    pipeline = Pipeline(WIRES["openai_chat"].reader(STRICT), max_chars=30)
    shown = [part for at in range(0, len(body), size) for part in pipeline.feed(body[at : at + size])]
    found = pipeline.reading()
    assert (found.outcome, found.reason, found.retryable) == ("failed", "event_too_large", False)
    assert (len(found.answer), len(found.reasoning)) == (16, 16)
    assert found.detail == "expected a reply of at most 30 characters, got a longer one"
    assert "".join(part.text for part in shown if part.lane == "answer") == found.answer
    assert pipeline.finished
