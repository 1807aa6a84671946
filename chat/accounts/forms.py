"""allauth's form to sign up, which knows that somebody else may take the name while it is being read.

Takes what allauth's own form takes; gives a person, or the page again with a sentence.
"""

from typing import Any

from allauth.account.adapter import get_adapter
from allauth.account.forms import SignupForm as TheirSignupForm
from django.db import IntegrityError, transaction
from django.http import HttpRequest
from django.shortcuts import render
from django.urls import reverse


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
