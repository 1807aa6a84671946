"""What can be stored, and what becomes of the rest."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.streaming.deltas import DEEPEST, is_storable, is_storable_value, paired, storable


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("", ""),
        ("plain é 😀", "plain é 😀"),
        ("a\0b", "a\ufffdb"),
        ("é\0", "é\ufffd"),
        ("\ud83d", "\ufffd"),
        ("\ude00\ud83d", "\ufffd\ufffd"),
        ("\ud83d\ude00", "😀"),
        ("\ud83dx\ude00", "\ufffdx\ufffd"),
        ("\ud83d\ud83d\ude00é", "\ufffd😀é"),
    ],
)
def test_the_documented_rule(text: str, stored: str) -> None:
    """Pairs are joined; lone halves and NUL become U+FFFD."""
    assert storable(text) == stored


@settings(deadline=None)
@given(st.text(alphabet=st.characters(exclude_categories=()) | st.sampled_from("\0\ud83d\ude00")))
def test_everything_becomes_storable(text: str) -> None:
    """No database and no encoder may ever choke on a provider's text."""
    stored = storable(text)
    assert is_storable(stored)
    assert "\0" not in stored.encode().decode()
    assert (stored == text) is is_storable(text)


@pytest.mark.parametrize(
    ("text", "joined"),
    [("é", "é"), ("\ud83d\ude00", "😀"), ("\ud83dx\0", "\ud83dx\0"), ("\ude00\ud83d\ude00", "\ude00😀")],
)
def test_only_pairs_are_joined(text: str, joined: str) -> None:
    """What will be sent back must not be changed otherwise."""
    assert paired(text) == joined


def nested(depth: int) -> Any:
    """A list in a list in a list."""
    value: Any = []
    for _ in range(depth - 1):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "fits"),
    [
        ({"a": [1, 1.5, True, None, "é", {"b": []}]}, True),
        ("\0", False),
        (["\ud83d"], False),
        ({"\0": 1}, False),
        ({"a": ["x", "\0"]}, False),
        ([float("nan")], False),
        (float("inf"), False),
        (nested(DEEPEST), True),
        (nested(DEEPEST + 1), False),
        (nested(100_000), False),
    ],
)
def test_values_that_can_be_kept_as_they_are(value: Any, *, fits: bool) -> None:
    """No database, encoder or recursive reader may choke on them."""
    assert is_storable_value(value) is fits
