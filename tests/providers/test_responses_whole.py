"""What whole items say. How that is compared: test_responses_integrity.py."""

from __future__ import annotations

from typing import Any

import pytest

from chat.providers.responses_whole import call_arguments, same_arguments, same_text, told_texts


def test_texts_by_kind() -> None:
    """In order; a kind of which nothing is told is absent, and an empty text is told."""
    items: list[dict[str, Any]] = [
        {
            "summary": [{"type": "summary_text", "text": "s"}],
            "content": [{"type": "reasoning_text", "text": "r"}],
        },
        {
            "content": [
                {"type": "output_text", "text": "a"},
                {"type": "refusal", "refusal": "f", "text": "no"},
            ]
        },
        {
            "content": [
                {"type": "output_text", "text": ""},
                "no",
                {"type": "audio", "text": "no"},
                {"type": ["no"]},
            ]
        },
        {"summary": None, "content": {"type": "output_text"}},
    ]
    assert told_texts(items) == {"s": ["s"], "r": ["r"], "t": ["a", ""], "f": ["f"]}


@pytest.mark.parametrize(
    ("ours", "theirs", "same"),
    [
        ("a", "a", True),
        ("a", "b", False),
        ("\ud83d\ude00", "😀", True),
        ("a\0", "a\ufffd", True),
    ],
)
def test_texts_are_compared_as_they_are_kept(ours: str, theirs: str, *, same: bool) -> None:
    """Storable, with pairs joined."""
    assert same_text(ours, theirs) is same


@pytest.mark.parametrize(
    ("ours", "theirs", "same"),
    [
        ('{"a":1,"b":2}', '{ "b": 2, "a": 1 }', True),
        ('{"a":1}', '{"a":2}', False),
        ("{", "{", True),
        ("{", "{}", False),
        ("[" * 100_000, "{}", False),
    ],
)
def test_arguments_are_compared_by_what_they_mean(ours: str, theirs: str, *, same: bool) -> None:
    """Layout is nobody's business; what is no JSON must be the same to the letter."""
    assert same_arguments(ours, theirs) is same


def test_where_arguments_stand() -> None:
    """A custom tool takes text, under another name."""
    assert call_arguments({"type": "function_call", "arguments": "{}", "input": "no"}) == "{}"
    assert call_arguments({"type": "custom_tool_call", "arguments": "no", "input": "ls"}) == "ls"
    assert call_arguments({"type": "function_call", "arguments": {}}) is None
