"""Nothing that a model may write becomes anything but what we mean, stops the server, or gets lost."""

import re
import sys
import time
from collections.abc import Callable
from html import unescape
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from chat.rendering import render
from chat.rendering.effort import Effort


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


def test_escaped_signs_stay_what_they_are() -> None:
    """The sanitiser sees other characters in their place; whoever writes those gets neither a sign nor a tag."""
    written = """[a](/b?c=1&d="e"&lt;) <i> & 'f' "g" \ufdd1script\ufdd2 \ufdd0lt; `&amp; \ufdd3`"""
    assert render(written) == (
        '<p><a href="/b?c=1&amp;d=%22e%22%3C" rel="noopener noreferrer nofollow">a</a> &lt;i&gt; &amp; \'f\' &quot;g&quot; '
        "\ufffdscript\ufffd \ufffdlt; <code>&amp;amp; \ufffd</code></p>\n"
    )
    assert render("[a](jav&#x0A;ascript&colon;b) [c](&amp;#106;avascript:d)") == (
        '<p><a href="jav%0Aascript:b" rel="noopener noreferrer nofollow">a</a> '
        '<a href="&amp;#106;avascript:d" rel="noopener noreferrer nofollow">c</a></p>\n'
    )


# --- What it costs ------------------------------------------------------------------------------------------
MANY = 50_000
WHOLE = 1_900_000  # characters, about as many as an answer may have
HOSTILE = {
    "beginnings of formulas": "\\[a\n" * (MANY // 4),
    "beginnings of formulas, quoted": "> \\[a\n" * (MANY // 6),
    "dollars": "$$a\n" * (MANY // 4),
    "tasks": "- [ ] a\n" * (MANY // 8),
    "brackets": "[" * MANY,
    "images": "![" * (MANY // 2),
    "links": "[a](" * (MANY // 4),
    "brackets with a reference": "[a]: /u\n\n" + "[b][" * (MANY // 4),
    "footnotes": "[^" * (MANY // 2),
    "formulas": "\\(" * (MANY // 2),
    "addresses": "http://a.b/(" * (MANY // 12),
    "addresses without a scheme": "//a.b/(" * (MANY // 7),
    "schemes": "a://" * (MANY // 4),
    "a long word before schemes": "a" * (MANY // 2) + "://" * (MANY // 6),
    "emphasis": "*a **b " * (MANY // 7),
    "quotation that goes on": "> " * 38 + "a\n" + "b\n" * (MANY // 2),
    "table of empty cells": "|a" * 5_000 + "|\n" + "|-" * 5_000 + "|\n" + "|\n" * 5_000,
    "java": "```java\n" + "a " * 10_000 + "\n```",
    "java in lines": "```java\n" + "a<b\n" * 7_000 + "\n```",
    "c": "```c\n" + "\n" * 28_000 + "\n```",
    "perl": "```perl\n" + "s{" * 14_000 + "\n```",
    "perl in lines": "```perl\n" + ("s{" * 400 + "\n") * 30 + "\n```",
    "go": "```go\n" + "/* \n" * 7_000 + "\n```",
    "console": "```console\n" + "a" * 29_000 + "\n```",
    "matlab": "```matlab\n" + " \n" * 14_000 + "\n```",
    "many fences": ("```perl\n" + ("s{" * 400 + "\n") * 10 + "\n```\n\n") * 6,
    "ampersands": "&" * WHOLE,
    "ampersands that are written out": "&amp;" * (WHOLE // 5),
    "characters that are none": "&#1114111;" * (WHOLE // 10),
    "quotation marks": '"' * WHOLE,
    "pointed brackets": "<" * WHOLE,
    "short paragraphs": "a\n\n" * (WHOLE // 3),
    "short paragraphs, as many as are read": "a\n\n" * 30_000,
    "lists in lists": "- - - - - - - - - - a\n" * (WHOLE // 22),
    "lists in lists, as many as are read": "- - - - - - - - - - a\n" * 60_000,
    "short fences": "```python\nx=1\n```\n" * (WHOLE // 18),
    "short fences, as many as are read": "```python\nx=1\n```\n" * 20_000,
    "a wide table": "|" + "a|" * (WHOLE // 4) + "\n|" + "-|" * (WHOLE // 4) + "\n|a|\n",
    "many formulas": ("$$\n" + "x^{2}+" * 320 + "x\n$$\n\n") * 25,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_no_text_stalls_the_server(text: str) -> None:
    """No test of speed: these took from 5 seconds to minutes, while nobody else got a page; now 0.1 to 0.7 of CPU."""
    begun = time.process_time()
    render(text)
    assert time.process_time() - begun < 4


def calls_of(work: Callable[[], object]) -> int:
    """How many functions are called, counted by the interpreter."""
    count = 0

    def see(_frame: FrameType, event: str, _arg: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(see)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


PIECES = [
    "[",
    "]",
    "(",
    ")",
    "!",
    "\\",
    "$",
    "*",
    "_",
    "~",
    "`",
    "<",
    ">",
    "|",
    "-",
    ":",
    "/",
    "\n",
    " ",
    "a",
    "1.",
]
PIECES += [
    "- ",
    "> ",
    "[^",
    "[ ] ",
    "\\[",
    "\\]",
    "\\(",
    "$$",
    "a://",
    "mailto:",
    "[a]: b",
    "|-",
    "~~",
    "```",
    "    ",
]


@hypothesis_settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map("".join))
def test_work_is_bounded_by_steps_and_length(unit: str) -> None:
    """Counted, not timed. A step is an attempt of at most 20 rules; beyond the steps only work that grows with the text."""
    text = unit * (4_000 // len(unit))
    steps = 300
    calls = calls_of(lambda: render(text, effort=Effort(steps=steps, decoration_s=0)))
    assert calls < 100 * steps + 15 * len(text)


WORDS = """# Heading one

Some *stress* and **more**, a [link](https://a.b) and https://c.d/path with $formula$ in it.

> quoted
> - [ ] item
> - [x] another
>   1. nested

| head | second |
|------|-------:|
| cell | last |

```python
code = here
```

\\[
display
\\]

Line after\\
line & <end>.
"""


def test_whatever_the_effort_no_word_is_lost() -> None:
    """Plainer at every stage, never shorter."""
    whole = Effort(decoration_s=0)
    render(WORDS, effort=whole)
    seen = set()
    for steps in range(Effort().steps - whole.steps + 1):
        html = render(WORDS, effort=Effort(steps=steps, decoration_s=0))
        text = unescape(re.sub("<[^>]*>", "", html))
        missing = [word for word in re.findall(r"[A-Za-z]{3,}", WORDS) if word not in text + html]
        assert missing == []
        seen.add(html)
    assert len(seen) > 3
    assert render(WORDS, effort=Effort(steps=0)).startswith("<p># Heading one</p>\n<p>Some *stress*")


def test_the_plainest_form_keeps_lines_and_is_safe() -> None:
    assert render("a\r\n  <b>\n\n \n*c*", effort=Effort(steps=0)) == "<p>a<br>\n&lt;b&gt;</p>\n<p>*c*</p>\n"


def test_an_honest_answer_of_100_kb_needs_a_third_of_its_effort() -> None:
    """The bound is for texts that are made to cost; this one is denser than people and models write."""
    effort = Effort()
    honest = WORDS * (100_000 // len(WORDS))
    assert render(honest, effort=effort).count("<strong>") == 100_000 // len(WORDS)
    assert effort.steps > Effort().steps * 2 // 3
