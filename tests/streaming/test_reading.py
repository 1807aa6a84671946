"""What validation may look at."""

from __future__ import annotations

import pytest

from chat.streaming.outcome import Outcome
from chat.streaming.reading import Reading


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
