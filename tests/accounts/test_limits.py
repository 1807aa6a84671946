"""Who is sent away for trying too often is told when to come back, and whoever believes it is let in."""

import datetime as dt

import pytest
import time_machine
from django.contrib.auth.models import AnonymousUser, User
from django.core.cache import cache
from django.test import Client, RequestFactory
from pytest_django import Settings

from chat.accounts import limits

NOON = dt.datetime(2026, 11, 30, 12, tzinfo=dt.UTC)
NEW = {"username": "ana", "password1": "1", "password2": "2"}


@pytest.fixture(autouse=True)
def forgiving(settings: Settings, db: None) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    cache.clear()


def text_of(content: bytes) -> str:
    return " ".join(content.decode().split())


def test_the_page_says_when(client: Client, settings: Settings) -> None:
    """From the oldest try that still counts: the first of the two."""
    settings.ACCOUNT_RATE_LIMITS = {"signup": "2/m/ip"}
    with time_machine.travel(NOON, tick=False) as clock:
        for _ in range(2):
            assert client.post("/accounts/signup/", NEW).status_code == 200
            clock.shift(10)
        answer = client.post("/accounts/signup/", NEW)
        assert (answer.status_code, answer["Retry-After"]) == (429, "40")
        assert "You can try again in 40 seconds." in text_of(answer.content)
        there = client.post("/accounts/signup/", NEW, headers={"Accept-Language": "es"})
        assert "en 40 segundos." in text_of(there.content)
        here = client.post("/accounts/signup/", NEW, headers={"Accept-Language": "pt-br"})
        assert "em 40 segundos." in text_of(here.content)
        script = client.post("/accounts/signup/", NEW, headers={"Accept": "application/json"})
        assert (script.status_code, script.json()["error"]) == (429, "too_many_tries")
        clock.shift(int(answer["Retry-After"]))
        assert client.post("/accounts/signup/", NEW).status_code == 200


def test_long_waits_are_told_in_minutes(client: Client, settings: Settings) -> None:
    settings.ACCOUNT_RATE_LIMITS = {"signup": "1/h/ip"}
    with time_machine.travel(NOON, tick=False):
        client.post("/accounts/signup/", NEW)
        answer = client.post("/accounts/signup/", NEW)
    assert answer["Retry-After"] == "3600"
    assert "You can try again in 60 minutes." in text_of(answer.content)


def test_a_wrong_password_too_often(client: Client) -> None:
    """The form says it: five of one name within five minutes."""
    User.objects.create_user("ana", password="long-enough-93")
    wrong = {"login": "ana", "password": "guessed"}
    with time_machine.travel(NOON, tick=False) as clock:
        for _ in range(5):
            assert "not correct" in text_of(client.post("/accounts/login/", wrong).content)
            clock.shift(20)
        right = {"login": "ana", "password": "long-enough-93"}
        answer = client.post("/accounts/login/", right)
        assert "You can try again in 4 minutes." in text_of(answer.content)
        clock.shift(4 * 60)
        assert client.post("/accounts/login/", right).status_code == 302


def test_an_address_that_was_asked_for_too_often(client: Client, settings: Settings) -> None:
    settings.ACCOUNT_RATE_LIMITS = {"reset_password": "20/m/ip,1/5m/key"}
    with time_machine.travel(NOON, tick=False):
        assert client.post("/accounts/password/reset/", {"email": "a@b.example"}).status_code == 302
        answer = client.post("/accounts/password/reset/", {"email": " A@b.example"})
    assert (answer.status_code, answer["Retry-After"]) == (429, "300")


def test_what_cannot_be_counted_is_the_whole_time() -> None:
    """Nobody is signed in, and there is no such place: never less than it takes."""
    request = RequestFactory().post("/")
    request.user = AnonymousUser()
    assert limits.wait_s(request, limits.ACCOUNT, "change_password") == 60
    assert limits.wait_s(request, limits.ACCOUNT, "no such") == limits.UNKNOWN_S
    request.resolver_match = None
    assert limits.too_many_tries(request)["Retry-After"] == str(limits.UNKNOWN_S)
