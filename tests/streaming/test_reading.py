"""What validation may look at."""

from __future__ import annotations

import pytest

from chat.streaming.outcome import Outcome, Reason, Verdict
from chat.streaming.reading import WORDS, Reading, ToolCall, of_verdict, without


def reading(outcome: Outcome, *parts: str) -> Reading:
    """A reading with that outcome and those reasoning parts."""
    return Reading(outcome, None, None, None, "text", list(parts), "", [], None, None)


@pytest.mark.parametrize("outcome", Outcome)
def test_only_complete_is_confirmable(outcome: Outcome) -> None:
    """The whole promise in one line."""
    assert reading(outcome).confirmable is (outcome == "complete")


def test_reasoning_parts_are_joined_by_a_blank_line() -> None:
    """And no part is no text."""
    parts = [reading(Outcome.open, *parts).reasoning for parts in ((), ("a",), ("a", "b\n"))]
    assert parts == ["", "a", "a\n\nb\n"]


def test_a_verdict_keeps_what_had_been_read() -> None:
    """The label of a stopped reply stands under its text, not in its place; a call that was cut is none."""
    call = ToolCall("c", "n", "{}", {}, complete=True)
    so_far = Reading(
        Outcome.open,
        None,
        "w",
        None,
        "Two",
        ["Think."],
        "No.",
        [call],
        "r-1",
        None,
        last_event="5",
        carry=["x"],
    )
    stalled = Verdict(Outcome.incomplete, Reason.stalled, detail="silence")
    assert of_verdict(stalled, so_far=so_far) == Reading(
        Outcome.incomplete, Reason.stalled, None, None, "Two", ["Think."], "No.", [], "r-1", None, "silence",
        last_event="5",
    )  # fmt: skip
    nothing = Verdict(Outcome.failed, Reason.connect_failed, "E", True, "no answer")
    assert of_verdict(nothing) == Reading(
        Outcome.failed, Reason.connect_failed, "E", True, "", [], "", [], None, None, "no answer"
    )


def test_its_words_can_be_stored() -> None:
    """A NUL in a provider's error text must not make the end of a reply impossible to write."""
    said = "a\0b\ud800c\u2028\x85\ufeff\ud83d\ude00"
    found = Reading(
        Outcome.failed, None, said, None, "", [], "", [], said, None, said, divergence=said, last_event=said
    )
    kept = "a\ufffdb\ufffdc\u2028\x85\ufeff😀"
    assert {word: getattr(found, word) for word in WORDS} == dict.fromkeys(WORDS, kept)


def test_a_secret_is_in_none_of_its_words_and_calls() -> None:
    """A provider that echoes our key must not write it into the audit, in whatever field."""
    key = "open sesame"
    said = f"<{key}>"
    whole = ToolCall("c1", "find_gym", '{"near": 1}', {"near": 1}, complete=True)
    object_ = ToolCall(said, said, None, {"a": [said]}, complete=True)
    text = ToolCall("", "x", said, None, complete=False)
    found = Reading(
        Outcome.failed, Reason.unauthorized, said, None, said, [said], "", [whole, object_, text], said, None,
        said, divergence=said, last_event=said,
    )  # fmt: skip
    kept = without(found, key)
    assert [getattr(kept, word) for word in WORDS] == ["<…>"] * len(WORDS)
    assert kept.tool_calls == [
        whole,
        ToolCall("<…>", "<…>", '{"a": ["<…>"]}', None, complete=True),
        ToolCall("", "x", "<…>", None, complete=False),
    ]
    assert (kept.answer, kept.reasoning_parts, kept.reason) == (said, [said], Reason.unauthorized)


def test_arguments_are_said_as_they_came() -> None:
    """Text in the provider's own letters, an object as JSON; one that nobody could write down is none."""
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    said = [
        ToolCall("", "x", text, value, complete=True).said
        for text, value in [('{"a" : 1}', {"a": 1}), ("", {}), (None, {"a": "é"}), (None, None), (None, deep)]
    ]
    assert said == ['{"a" : 1}', "", '{"a": "é"}', "", ""]
