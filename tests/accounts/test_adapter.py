"""What we add to allauth's sign-in."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from chat import languages
from gymnasia import words


def test_who_signs_in_reads_in_their_own_language(db: None, client: Client, settings: Settings) -> None:
    """The cookie may be of somebody else who used this browser before."""
    settings.LANGUAGES = words.LANGUAGES
    ana = User.objects.create_user("ana", password="long-enough-93")
    languages.remember(ana, "es")
    client.cookies["django_language"] = "pt-br"
    client.post("/accounts/login/", {"login": "ana", "password": "long-enough-93"})
    assert client.cookies["django_language"].value == "es"
    assert '<html lang="es">' in client.get("/").content.decode()


def test_without_a_choice_nothing_changes(db: None, client: Client) -> None:
    User.objects.create_user("ana", password="long-enough-93")
    answer = client.post("/accounts/login/", {"login": "ana", "password": "long-enough-93"})
    assert "django_language" not in answer.cookies


@pytest.mark.parametrize("following", ["http://[", "//[", "http://evil.invalid/", "javascript:x"])
def test_a_sign_in_leads_to_no_place_that_is_not_ours(db: None, client: Client, following: str) -> None:
    User.objects.create_user("ana", password="long-enough-93")
    assert client.get("/accounts/login/", {"next": following}).status_code == 200
    told = {"login": "ana", "password": "long-enough-93", "next": following}
    assert client.post("/accounts/login/", told).headers["Location"] == "/"
