"""Who asks too often reads when they may go on, and keeps their text."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from chat.views.pacing import when
from tests.rows import ended, reading, sent


@pytest.fixture(autouse=True)
def one_an_hour(settings: Settings, ana: User) -> None:
    settings.GYMNASIA = settings.GYMNASIA.but(messages_per_hour=1)
    ended(sent(ana), reading())


def test_the_page_keeps_the_text_and_says_when(page: Client) -> None:
    answer = page.post("/", {"text": "One <more>"})
    html = answer.content.decode()
    assert (answer.status_code, 3590 < int(answer["Retry-After"]) <= 3600) == (429, True)
    assert "You can ask again in 60 minutes." in html
    assert '<form class="form" method="post" action="/">' in html
    assert "One &lt;more&gt;</textarea>" in html
    assert 'name="once"' in html.partition("<h1>")[2]  # sent again by a double click, it goes once


def test_the_script_gets_the_same_sentence(page: Client) -> None:
    answer = page.post("/", {"text": "One more"}, headers={"Accept": "application/json"})
    assert (answer.status_code, answer.json()["error"]) == (429, "too_fast")
    assert answer.json()["message"].endswith("You can ask again in 60 minutes.")


@pytest.mark.parametrize(("seconds", "minutes"), [(1, "1 minute."), (60, "1 minute."), (61, "2 minutes.")])
def test_minutes_are_rounded_up(seconds: int, minutes: str) -> None:
    """Whoever believes it and comes back must be let in."""
    assert when(seconds).endswith(f"in {minutes}")
