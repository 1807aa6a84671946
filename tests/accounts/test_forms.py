"""Signing in under a name that is none, and up while somebody else does under the same one."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from chat.accounts import forms
from tests.visitors import user


def test_a_name_as_long_as_a_book_is_nobodys(client: Client, db: None) -> None:
    """SQLite refuses to look for more than 50,000 characters."""
    answer = client.post("/accounts/login/", {"login": "a" * 60_000, "password": "long-enough-93"})
    assert (answer.status_code, "at most 320 characters" in answer.content.decode()) == (200, True)


def test_a_name_that_goes_while_one_signs_up(
    client: Client, db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A double click fits between the look and the row: a sentence, no broken page, and nobody is signed in."""
    user("ana")
    monkeypatch.setattr(forms.SignupForm, "clean_username", lambda form: form.cleaned_data["username"])
    told = {"username": "ana", "password1": "long-enough-93", "password2": "long-enough-93"}
    answer = client.post("/accounts/signup/", told)
    html = answer.content.decode()
    assert (answer.status_code, "A user with that username already exists." in html) == (400, True)
    assert 'href="/accounts/login/"' in html
    assert (User.objects.count(), "_auth_user_id" in client.session) == (1, False)
