"""A run that proves nothing does not pass: what the exit code needs beside a clean judgement."""

from collections import Counter
from pathlib import Path

import pytest

from tests.chaos.__main__ import shortcomings
from tests.chaos.checker import Report
from tests.chaos.plan import KINDS


def report(**changes: object) -> Report:
    """A hundred runs, all kinds, a fifth confirmed; unless told otherwise."""
    values = {"runs": 100, "confirmed": 20, "faults": Counter(KINDS)} | changes
    return Report(**values)  # type: ignore[arg-type]


def test_enough_is_enough() -> None:
    assert shortcomings(report(), runs=100, peak=20) == []


@pytest.mark.parametrize(
    ("changes", "peak", "sentence"),
    [
        ({"runs": 99}, 20, "expected 100 runs that were accepted, got 99"),
        ({"confirmed": 19}, 20, "expected at least a fifth confirmed, got 19 of 100"),
        ({"faults": Counter(KINDS[1:])}, 20, "expected every kind of fault, got none of healthy"),
        ({}, 19, "expected 20 runs in flight, got 19"),
    ],
)
def test_what_is_missing_is_told(changes: dict[str, object], peak: int, sentence: str) -> None:
    assert shortcomings(report(**changes), runs=100, peak=peak) == [sentence]


def test_the_judge_and_the_walk_import_nothing_of_the_product() -> None:
    """Only the two processes that they start do."""
    folder = Path(__file__).parent
    for name in ("checker", "plan", "provider", "scripts", "walk", "__main__"):
        source = (folder / f"{name}.py").read_text()
        assert "from chat" not in source, name
        assert "import chat" not in source, name
