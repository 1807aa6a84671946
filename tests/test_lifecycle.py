"""docs/lifecycle.md keeps up: every reason stands in it, and every test that it names is there."""

import re
from pathlib import Path

from chat.states.generation import GENERATION
from chat.streaming.outcome import Reason

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs" / "lifecycle.md").read_text(encoding="utf-8")


def test_every_reason_and_every_final_state_has_its_case() -> None:
    """A new way to end that nobody has written down is one that nobody has walked."""
    assert [reason for reason in Reason if f"({reason})" not in TEXT] == []
    assert [state for state in GENERATION.finals if f"`{state}" not in TEXT] == []


def test_every_test_that_it_names_exists() -> None:
    there = {
        name
        for path in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"def (test_\w+)", path.read_text(encoding="utf-8"))
    }
    assert sorted(set(re.findall(r"`(test_\w+)`", TEXT)) - there) == []
