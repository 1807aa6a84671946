"""Icons and the table of contents, as every page has them."""

import datetime as dt

import pytest
from django.contrib.auth.models import AnonymousUser
from django.template import Context, Template
from django.utils import timezone, translation

from chat.models import Conversation
from chat.templatetags.chat_page import by_age, icon, when


def conversation(title: str, *, days: int) -> Conversation:
    now = timezone.now()
    return Conversation(title=title, updated=now - dt.timedelta(days=days))


def test_a_time_is_read_as_with_a_script(monkeypatch: pytest.MonkeyPatch) -> None:
    """Today by the clock, this year by the day, before that with the year; without a time nothing."""
    at = dt.datetime(2026, 11, 14, 9, 5, tzinfo=dt.UTC)
    monkeypatch.setattr(timezone, "now", lambda: at)
    times = (at, at - dt.timedelta(days=1), at.replace(year=2023), None)
    for language, day, full, short in (
        ("en", "Nov 13", "Nov 14, 2023", "Nov 2023"),
        ("pt-br", "13 de nov.", "14 de nov. de 2023", "nov. de 2023"),
        ("es", "13 nov", "14 nov 2023", "nov 2023"),
    ):
        with translation.override(language):
            assert [when(each) for each in times] == ["09:05", day, full, ""]
            assert [when(each, "narrow") for each in times] == ["09:05", day, short, ""]


def test_stretches_of_time() -> None:
    """Newest first, each once, and no empty heading."""
    rows = [conversation(f"{days}", days=days) for days in (0, 0, 1, 2, 6, 7, 400)]
    groups = [
        (str(group.label), [row.title for row in group.conversations])
        for group in by_age(rows, timezone.localdate())
    ]
    assert groups == [
        ("Today", ["0", "0"]),
        ("Yesterday", ["1"]),
        ("This week", ["2", "6"]),
        ("Earlier", ["7", "400"]),
    ]
    assert by_age([], timezone.localdate()) == []
    assert [str(group.label) for group in by_age(rows[2:3], timezone.localdate())] == ["Yesterday"]


def test_a_clock_that_is_behind() -> None:
    """A conversation of tomorrow, by another machine's clock, is one of today."""
    (group,) = by_age([conversation("x", days=-1)], timezone.localdate())
    assert str(group.label) == "Today"


def test_icon() -> None:
    """Words stand beside it, so readers of the screen pass it over."""
    assert icon("stop") == (
        '<svg class="icon" aria-hidden="true"><use href="/static/chat/icons.svg#stop"></use></svg>'
    )


def test_visitor_has_no_contents() -> None:
    """Without a person no query is made and nothing is listed."""
    html = Template("{% load chat_page %}{% contents %}").render(Context({"user": AnonymousUser()}))
    assert "<li>" not in html
    assert "Sign out" not in html
