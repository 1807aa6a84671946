"""Markdown becomes the HTML that we mean, here as in the browser."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from chat.rendering import render

CASES = [
    ("emphasis", "**b** ~~x~~ `c`", "<p><strong>b</strong> <s>x</s> <code>c</code></p>\n"),
    ("headings start below the page's own", "# A\n\n##### B", "<h3>A</h3>\n<h4>B</h4>\n"),
    ("raw HTML stays text", "<b>x</b>", "<p>&lt;b&gt;x&lt;/b&gt;</p>\n"),
    (
        "alignment is a class, because style attributes are forbidden by the policy",
        "| a | b |\n|:-:|--:|\n| 1 | 2 |",
        '<div class="table" tabindex="0"><table>\n<thead>\n<tr>\n<th class="center">a</th>\n'
        '<th class="right">b</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td class="center">1</td>\n'
        '<td class="right">2</td>\n</tr>\n</tbody>\n</table></div>\n',
    ),
    (
        "task list",
        "- [ ] a\n- [x] b",
        '<ul class="contains-task-list">\n<li class="task-list-item"><label><input class="task-list-item-checkbox"'
        ' disabled="disabled" type="checkbox"> a</label></li>\n<li class="task-list-item"><label><input'
        ' class="task-list-item-checkbox" checked="checked" disabled="disabled" type="checkbox"> b</label></li>\n</ul>\n',
    ),
    (
        "known language",
        "```python\nx = 1\n```",
        '<div class="code"><div class="code-head">python</div><pre tabindex="0"><code class="language-python">'
        '<span class="hl-n">x</span> <span class="hl-o">=</span> <span class="hl-mi">1</span>\n</code></pre></div>\n',
    ),
    (
        "unknown language keeps its label and its text",
        "```zorg\n<x>\n```",
        '<div class="code"><div class="code-head">zorg</div><pre tabindex="0"><code class="language-zorg">'
        "&lt;x&gt;\n</code></pre></div>\n",
    ),
    (
        "a label that is no name is no class",
        '```a"b c\nx\n```',
        '<div class="code"><div class="code-head"></div><pre tabindex="0"><code>x\n</code></pre></div>\n',
    ),
    (
        "links leave the page",
        "[a](https://b.c) https://d.e main.py",
        '<p><a href="https://b.c" target="_blank" rel="noopener noreferrer nofollow">a</a> '
        '<a href="https://d.e" target="_blank" rel="noopener noreferrer nofollow">https://d.e</a> main.py</p>\n',
    ),
    (
        "inline maths",
        "$a_1$ and \\(b\\)",
        '<p><math display="inline"><mrow><msub><mi>a</mi><mn>1</mn></msub></mrow></math> and '
        '<math display="inline"><mrow><mi>b</mi></mrow></math></p>\n',
    ),
    (
        "maths of several lines, one of which looks like a list",
        "\\[\na\n- b\n\\]",
        '<div class="math" tabindex="0"><math display="block"><mrow><mi>a</mi><mo>−</mo><mi>b</mi></mrow></math>'
        "</div>\n",
    ),
    ("prices are not maths", "from $5 to $10", "<p>from $5 to $10</p>\n"),
    ("a formula in code is code", "`$a$`", "<p><code>$a$</code></p>\n"),
    ("maths that cannot be read is shown", "$\\frac{$", '<p><code class="tex">\\frac{</code></p>\n'),
    ("an open formula is text", "$$\na", "<p>$$\na</p>\n"),
]


TWINS = json.loads((Path(__file__).parents[1] / "rendering_cases.json").read_text(encoding="utf-8"))


def spelled(text: str | list[list[Any]]) -> str:
    """A long text stands there in pieces, each with how often it is said."""
    return text if isinstance(text, str) else "".join(piece * times for piece, times in text)


@pytest.mark.parametrize("case", TWINS, ids=[case["name"] for case in TWINS])
def test_same_as_in_the_browser(case: dict[str, Any]) -> None:
    """The draft is rendered by `grammar.js` (tests/js/grammar.test.js reads the same file): nothing may jump."""
    assert render(spelled(case["markdown"])) == spelled(case["html"])


@pytest.mark.parametrize(("markdown", "html"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_grammar(markdown: str, html: str) -> None:
    """The page's styles and the browser's twin of this grammar rely on exactly these elements."""
    assert render(markdown) == html


def test_an_addition_that_begins_a_formula_ends_the_search_for_the_last_ones_end() -> None:
    """Each line that begins a formula was compared with all that follow; now with those up to the next beginning."""
    assert render("\\[a\n\\[\nb\n\\]") == (
        '<p>[a</p>\n<div class="math" tabindex="0"><math display="block"><mrow><mi>b</mi></mrow></math></div>\n'
    )


def test_a_link_ends_where_no_link_is_as_long() -> None:
    """What a link is read from is bounded; what is too long for one is cut in two, and nothing of it is lost."""
    html = render("http://a.b/" + "c" * 3_000)
    assert html.count("<a ") == 1
    assert re.sub("<[^>]*>", "", html) == "http://a.b/" + "c" * 3_000 + "\n"
