"""What can be stored, and what becomes of the rest."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.streaming.deltas import is_storable, storable


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
