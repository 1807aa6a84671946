"""What Google must get back is kept as it came."""

from __future__ import annotations

from typing import Any

import pytest

from tests.providers.google_bodies import STOP, calls, google, judged, says


@pytest.mark.parametrize(
    ("parts", "carry"),
    [
        ([{"text": "a"}, {"text": "b"}], []),
        ([{"text": "t", "thought": True}, {"text": "a"}], []),
        (
            [{"text": "a"}, {"text": "b"}, {"text": "", "thoughtSignature": "s"}],
            [{"text": "ab"}, {"text": "", "thoughtSignature": "s"}],
        ),
        # A signed part is joined with no other, and parts of both kinds keep their order.
        (
            [
                *({"text": "t", "thought": True}, {"text": "u", "thought": True}, {"text": "a"}),
                *({"text": "b", "thoughtSignature": "s"}, {"text": "c"}, {"text": "d", "thought": False}),
            ],
            [
                *({"text": "tu", "thought": True}, {"text": "a"}, {"text": "b", "thoughtSignature": "s"}),
                {"text": "cd"},
            ],
        ),
        (
            [{"text": "t", "thought": True, "thoughtSignature": "s"}, {"text": "a"}],
            [{"text": "t", "thought": True, "thoughtSignature": "s"}, {"text": "a"}],
        ),
        (
            [
                {"text": "a"},
                {"executableCode": {"code": "1"}},
                {"toolCall": {"x": 1}, "thoughtSignature": "s"},
            ],
            [
                {"text": "a"},
                {"executableCode": {"code": "1"}},
                {"toolCall": {"x": 1}, "thoughtSignature": "s"},
            ],
        ),
        (
            [calls(name="f", args={"a": 1}) | {"thoughtSignature": "s"}, calls(name="g")],
            [calls(name="f", args={"a": 1}) | {"thoughtSignature": "s"}, calls(name="g")],
        ),
        # A call that was streamed goes back as one.
        (
            [
                calls(name="f", willContinue=True) | {"thoughtSignature": "s"},
                {"text": "between"},
                calls(
                    partialArgs=[{"jsonPath": "$.a", "stringValue": "x", "willContinue": True}],
                    willContinue=True,
                ),
                calls(partialArgs=[{"jsonPath": "$.a", "stringValue": "y"}]) | {"thoughtSignature": "later"},
            ],
            [calls(name="f", args={"a": "xy"}) | {"thoughtSignature": "s"}, {"text": "between"}],
        ),
        # What cannot be kept exactly is not sent back at all.
        ([{"text": "a\0"}, {"text": "", "thoughtSignature": "s"}], []),
        ([{"text": "a"}, {"inlineData": {"x": float("nan")}}], []),
        (
            [{"text": "\ud83d"}, {"text": "\ude00"}, {"text": "", "thoughtSignature": "s"}],
            [{"text": "😀"}, {"text": "", "thoughtSignature": "s"}],
        ),
    ],
)
def test_what_goes_back_unchanged(parts: list[Any], carry: list[Any]) -> None:
    """In one chunk or in many; signatures are in no text."""
    for chunks in ([says(*parts)], list(map(says, parts))):
        assert google(*chunks, STOP).carry == carry


@pytest.mark.parametrize(
    ("finish", "ending", "kept"),
    [
        ("STOP", "eof", True),
        ("STOP", "cut", False),
        ("MAX_TOKENS", "eof", False),
        ("SAFETY", "eof", False),
        ("OTHER", "eof", False),
        (None, "eof", False),
    ],
)
def test_only_a_whole_reply_is_carried(finish: str | None, ending: Any, *, kept: bool) -> None:
    """A signature belongs to a whole turn."""
    signed = {"text": "a", "thoughtSignature": "s"}
    reading = google(says(signed, finish=finish), ending=ending)
    assert (reading.carry, reading.answer) == ([signed] if kept else [], "a")
    assert judged(reading)[0] == ("complete" if kept else "incomplete")
