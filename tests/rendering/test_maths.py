"""A formula is set where it can be, and shown as it was written where not."""

import pytest

from chat.rendering import render
from chat.rendering.effort import Effort
from chat.rendering.maths import mathml

SET = '<math xmlns="http://www.w3.org/1998/Math/MathML" display="inline"><mrow><mi>a</mi></mrow></math>'


def test_deep_formula_is_no_crash() -> None:
    """The converter recurses; too deep a formula is shown as its source."""
    assert render("$" + "{" * 1900 + "$") == f'<p><code class="tex">{"{" * 1900}</code></p>\n'


@pytest.mark.parametrize(("tex", "html"), [("a", SET), ("<\\frac{", '<code class="tex">&lt;\\frac{</code>')])
def test_a_formula_is_set_or_shown(tex: str, html: str) -> None:
    assert mathml(tex, Effort(), display=False) == html


def test_formulas_share_their_time_with_the_colours() -> None:
    """Setting one takes up to 20 ms: after so many, the rest is shown as it was written."""
    seconds = iter(range(100))
    effort = Effort(
        decoration_s=5, clock=lambda: float(next(seconds))
    )  # each look takes a second, a formula two
    assert [mathml("a", effort, display=False).startswith("<math") for _ in range(5)] == [
        True,
        True,
        False,
        False,
        False,
    ]


def test_too_long_a_formula_is_shown() -> None:
    tex = "a" * 2_001
    assert mathml(tex, Effort(), display=True) == f'<code class="tex">{tex}</code>'
