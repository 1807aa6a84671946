"""The room of a formula is the same in a draft and in its answer, and enough for what models write."""

import json
from itertools import pairwise
from pathlib import Path

import pytest

from chat.rendering import render
from chat.rendering.height import CHARS_MAX, MOST, height

TWINS = json.loads((Path(__file__).parents[1] / "formula_heights.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("tex", "steps"), TWINS, ids=[tex for tex, _ in TWINS])
def test_the_same_as_in_the_browser(tex: str, steps: int) -> None:
    assert height(tex) == steps


def test_it_grows_while_the_formula_is_written() -> None:
    """By no more than a line does a draft shrink: where a break turns out to begin no row."""
    for tex, _ in TWINS:
        steps = [height(tex[:end]) for end in range(len(tex) + 1)]
        assert all(after >= before - 3 for before, after in pairwise(steps)), tex


@pytest.mark.parametrize(
    "tex", ["{" * 1900, "\\frac" * 300, "^" * 1999, "\\begin" * 300, "\\begin{x}" * 200, "}" * 99]
)
def test_nothing_is_too_odd(tex: str) -> None:
    assert 3 <= height(tex) <= MOST


def test_what_is_not_read_has_the_most() -> None:
    assert height("a" * (CHARS_MAX + 1)) == MOST


def test_the_room_is_said_by_a_class() -> None:
    assert render("$$\na\n$$").startswith('<div class="math" tabindex="0"><math')
    assert render("$$\n\\frac{a}{b}\n$$").startswith('<div class="math tall-5" tabindex="0"><math')
    assert (
        render("$$\n\\frac{\n$$") == '<div class="math" tabindex="0"><code class="tex">\\frac{</code></div>\n'
    )
