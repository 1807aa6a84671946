"""Markdown becomes the HTML that we mean, and nothing that a model may write becomes anything else."""

import json
import time
from pathlib import Path

import pytest

from chat.rendering import render

CASES = [
    ("emphasis", "**b** ~~x~~ `c`", "<p><strong>b</strong> <s>x</s> <code>c</code></p>\n"),
    ("headings start below the page's own", "# A\n\n##### B", "<h3>A</h3>\n<h6>B</h6>\n"),
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


TWINS = json.loads((Path(__file__).parent / "rendering_cases.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", TWINS, ids=[case["name"] for case in TWINS])
def test_same_as_in_the_browser(case: dict[str, str]) -> None:
    """The draft is rendered by `grammar.js` (tests/js/grammar.test.js reads the same file): nothing may jump."""
    assert render(case["markdown"]) == case["html"]


@pytest.mark.parametrize(("markdown", "html"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_grammar(markdown: str, html: str) -> None:
    """The page's styles and the browser's twin of this grammar rely on exactly these elements."""
    assert render(markdown) == html


def test_footnotes_of_two_answers_do_not_meet() -> None:
    """Two answers on one page both have a note 1; each reference must lead to its own."""
    assert render("x[^a]\n\n[^a]: note", anchor="g7") == (
        '<p>x<sup class="footnote-ref"><a href="#fn-g7-1" id="fnref-g7-1" rel="noopener noreferrer nofollow">[1]</a>'
        '</sup></p>\n<hr class="footnotes-sep">\n<section class="footnotes">\n<ol class="footnotes-list">\n'
        '<li id="fn-g7-1" class="footnote-item"><p>note <a href="#fnref-g7-1" class="footnote-backref"'
        ' rel="noopener noreferrer nofollow">↩︎</a></p>\n</li>\n</ol>\n</section>\n'
    )


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("<script>alert(1)</script>", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>\n"),
        ("[x](javascript:alert(1))", "<p>[x](javascript:alert(1))</p>\n"),
        ("[x](JaVaScRiPt&#58;alert(1))", "<p>[x](JaVaScRiPt:alert(1))</p>\n"),
        ("[x](data:text/html,hi)", "<p>[x](data:text/html,hi)</p>\n"),
        (
            "[x](data:image/png;base64,AAAA)",
            '<p><a rel="noopener noreferrer nofollow">x</a></p>\n',
        ),
        (
            '[x](https://a.b "&quot; onmouseover=&quot;alert(1)")',
            '<p><a href="https://a.b" title="&quot; onmouseover=&quot;alert(1)" target="_blank"'
            ' rel="noopener noreferrer nofollow">x</a></p>\n',
        ),
        (
            "![spy](https://a.b/x.png)",
            '<p><a href="https://a.b/x.png" target="_blank" rel="noopener noreferrer nofollow">spy</a></p>\n',
        ),
        (
            "![spy](//a.b/x.png)",
            '<p><a href="//a.b/x.png" target="_blank" rel="noopener noreferrer nofollow">spy</a></p>\n',
        ),
        ("![own](data:image/png;base64,AAAA)", '<p><img src="data:image/png;base64,AAAA" alt="own"></p>\n'),
        ("![own](/static/x.png)", '<p><img src="/static/x.png" alt="own"></p>\n'),
        ("![x](data:image/svg+xml,y)", "<p>![x](data:image/svg+xml,y)</p>\n"),
        (
            "$\\text{<img src=x onerror=alert(1)>}$",
            '<p><math display="inline"><mrow><mtext>&lt;img&nbsp;src=x&nbsp;onerror=alert(1)&gt;</mtext></mrow>'
            "</math></p>\n",
        ),
        (
            "$\\href{javascript:alert(1)}{x}$",
            '<p><math display="inline"><mrow><mrow><mrow><mi>x</mi></mrow></mrow></mrow></math></p>\n',
        ),
    ],
)
def test_hostile_text(markdown: str, html: str) -> None:
    """What a model writes may have been put into its mouth by a page that it read."""
    assert render(markdown) == html


@pytest.mark.parametrize(
    "unit", ["[", "*a", "$", "\\(", ">", "$a ", "![[", "<", "- ", "$$\n", "|a\n|-\n", "```\n", "[^1]", "_*"]
)
def test_cost_stays_bounded(unit: str) -> None:
    """A text made to be slow must not stop the server for everybody: 9 KB in far less than a second of CPU."""
    start = time.process_time()
    render(unit * (9000 // len(unit)))
    assert time.process_time() - start < 1.5


def test_deep_formula_is_no_crash() -> None:
    """The converter recurses; too deep a formula is shown as its source."""
    assert render("$" + "{" * 1900 + "$") == f'<p><code class="tex">{"{" * 1900}</code></p>\n'
