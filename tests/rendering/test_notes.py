"""Footnotes say in an answer what they said in its draft: the same marks, the same numbers, no note lost."""

import re

import pytest

from chat.rendering import render

MARK = r'<sup class="footnote-ref"><a[^>]*>(.*?)</a></sup>'


def marks(html: str) -> list[str]:
    return re.findall(MARK, html)


def test_a_mark_that_comes_again_has_the_same_number() -> None:
    html = render("a[^x] b[^y] c[^X]\n\n[^x]: one\n[^y]: two")
    assert marks(html) == ["[1]", "[2]", "[1]"]
    assert html.count('class="footnote-backref"') == 3
    assert len(set(re.findall(r'id="(fnref[^"]*)"', html))) == 3


def test_a_mark_without_a_note_is_a_number_that_leads_nowhere() -> None:
    html = render("a[^gone] b[^x]\n\n[^x]: one")
    assert marks(html) == ["[1]", "[2]"]
    assert 'href="#fn1"' not in html
    assert '<li id="fn2" class="footnote-item" value="2"><p>one' in html
    assert render("a[^gone]") == (
        '<p>a<sup class="footnote-ref"><a rel="noopener noreferrer nofollow">[1]</a></sup></p>\n'
    )


def test_a_note_that_nothing_refers_to_is_not_lost() -> None:
    html = render("a[^x]\n\n[^lone]: unasked\n[^x]: one")
    assert re.findall(r'<li id="(.*?)" class="footnote-item"><p>(\w+)', html) == [
        ("fn1", "one"),
        ("fn2", "unasked"),
    ]
    assert html.count("footnote-backref") == 1
    assert "unasked" in render("[^lone]: unasked")


def test_numbers_keep_their_places_over_a_gap() -> None:
    html = render("a[^1] b[^2] c[^3] d[^4]\n\n[^2]: two\n[^4]: four")
    assert re.findall(r'<li id="(\w+)" class="footnote-item"( value="\d")?>', html) == [
        ("fn2", ' value="2"'),
        ("fn4", ' value="4"'),
    ]


@pytest.mark.parametrize("text", ["`[^1]`", "[^ a]", "[^]", "[^" + "a" * 61 + "]", "- [^1]"])
def test_what_is_none_stays_what_it_is(text: str) -> None:
    html = render(text)
    assert marks(html) == (["[1]"] if text == "- [^1]" else [])
