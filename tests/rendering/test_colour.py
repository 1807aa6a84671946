"""Code gets its colours where that is quick, and is shown whole in any case."""

from itertools import count

import pytest

from chat.rendering.colour import colour
from chat.rendering.effort import Effort

COLOURED = '<span class="hl-n">x</span>\n'


def test_known_languages_are_coloured() -> None:
    assert colour("x\n", "python", Effort()) == COLOURED


@pytest.mark.parametrize("language", ["", "zorg"])
def test_others_are_escaped(language: str) -> None:
    assert colour("<x>", language, Effort()) == "&lt;x&gt;"


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("python", "x\n" * 15_001),
        ("console", "x" * 1_000),
        ("matlab", "x" + "\n" * 200),
        ("html+django", "x\n" * 2_501),
    ],
)
def test_what_lexers_are_not_shown(language: str, code: str) -> None:
    """Some spend seconds in one expression, where no clock can be looked at."""
    assert colour(code, language, Effort()) == code


def test_data_on_one_line_is_coloured() -> None:
    """It is what people are shown most of that has long lines, and its lexer never looks back."""
    assert colour("[" + "1," * 1_000 + "1]", "json", Effort()).count("hl-mi") == 1_001


def test_a_fence_that_comes_too_late_stays_plain_whole() -> None:
    """And so do those after it: the time is the document's. Each look at the clock takes a second here."""
    seconds = count()
    effort = Effort(decoration_s=9, clock=lambda: float(next(seconds)))
    assert [colour(code, "python", effort) for code in ("x\n", "x\n" * 10, "x\n")] == [
        COLOURED,
        "x\n" * 10,
        "x\n",
    ]
