"""allauth's forms to sign in and up, with what they leave open: a name of any length, and one that somebody else takes
meanwhile.

They take what allauth's own forms take; give a person, or the page again with a sentence.
"""

from typing import Any

from allauth.account.adapter import get_adapter
from allauth.account.forms import LoginForm as TheirLoginForm
from allauth.account.forms import SignupForm as TheirSignupForm
from django.core.validators import MaxLengthValidator
from django.db import IntegrityError, transaction
from django.http import HttpRequest
from django.shortcuts import render
from django.urls import reverse

MOST_LOGIN_CHARS = 320
"""An address of mail is no longer; a database need not look for one that is (SQLite cannot)."""


class LoginForm(TheirLoginForm):  # type: ignore[misc] # allauth has no types
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["login"].validators.append(MaxLengthValidator(MOST_LOGIN_CHARS))


class SignupForm(TheirSignupForm):  # type: ignore[misc] # allauth has no types
    def try_save(self, request: HttpRequest) -> tuple[Any, Any]:
        """Between the look whether a name is free and the row lies the hashing of a password: time for a double click."""
        try:
            with transaction.atomic():
                found: tuple[Any, Any] = super().try_save(request)
                return found
        except IntegrityError:
            self.add_error("username", get_adapter().error_messages["username_taken"])
            context = {"form": self, "login_url": reverse("account_login")}
            return None, render(request, "account/signup.html", context, status=400)
