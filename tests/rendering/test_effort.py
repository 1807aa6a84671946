"""What a document may cost is counted down, once, and says so when it is used up."""

import re
from pathlib import Path

import pytest

from chat.rendering import effort as module
from chat.rendering.effort import Effort, TooMuch


def test_a_step_in_a_long_text_costs_more() -> None:
    effort = Effort(steps=20)
    effort.take()
    effort.take(length=1_999)
    effort.take(3, length=4_000)
    effort.take(0, length=4_000)
    assert effort.steps == 20 - 1 - 1 - 9


def test_used_up_stays_used_up() -> None:
    effort = Effort(steps=2)
    effort.take(2)
    for _ in range(2):
        with pytest.raises(TooMuch):
            effort.take()


def test_a_look_ahead_takes_nothing() -> None:
    effort = Effort(steps=2)
    effort.check(2)
    with pytest.raises(TooMuch):
        effort.check(3)
    assert effort.steps == 2


def test_more_lines_are_not_read() -> None:
    module.check_lines("a\n" * 30_000 + "b\r" * 30_000)
    with pytest.raises(TooMuch):
        module.check_lines("a\n" * 30_000 + "b\r" * 30_001)


def test_the_clock_runs_only_while_something_is_decorated() -> None:
    now = 0.0
    effort = Effort(decoration_s=1, clock=lambda: now)
    effort.begin_decoration()
    now = 0.75
    assert not effort.is_late()
    effort.end_decoration()
    now = 100.0
    effort.begin_decoration()
    assert not effort.is_late()
    now = 100.25
    assert effort.is_late()


def test_the_browser_counts_with_the_same_numbers() -> None:
    """Otherwise a draft and its answer are cut at different places."""
    source = (Path(module.__file__).parents[1] / "static/chat/js/effort.js").read_text(encoding="utf-8")
    found = {
        name: int(number.replace("_", "")) for name, number in re.findall(r"const (\w+) = ([\d_]+);", source)
    }
    assert found == {
        "STEPS": module.STEPS,
        "CHARS_PER_STEP": module.CHARS_PER_STEP,
        "LINES": module.LINES,
    }
