"""Which language a person reads, and the one that they have chosen.

A choice stands in a cookie, and with the person once they are signed in; without one the browser's own wishes count. Takes
people, requests and scopes of sockets, gives codes of LANGUAGES. Knows no page.
"""

from typing import Any

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.http import HttpRequest
from django.utils import translation

from chat.models import Preferences


def is_offered(code: str) -> bool:
    return code in dict(settings.LANGUAGES)


def remember(user: AbstractBaseUser | AnonymousUser, code: str) -> None:
    """Keep a person's choice; of nobody nothing is kept."""
    if user.pk is not None:
        Preferences.objects.update_or_create(user_id=user.pk, defaults={"language": code})


def remembered(user: AbstractBaseUser | AnonymousUser) -> str:
    """What the person has chosen, if it is offered still; "" for no choice."""
    if user.pk is None:
        return ""
    row = Preferences.objects.filter(user_id=user.pk).values_list("language", flat=True).first()
    return row if row and is_offered(row) else ""


def of_scope(scope: dict[str, Any]) -> str:
    """The language of a socket: told by the same cookie and header as the page that opened it."""
    request = HttpRequest()
    request.COOKIES = scope.get("cookies", {})
    wishes = dict(scope.get("headers", [])).get(b"accept-language", b"")
    request.META["HTTP_ACCEPT_LANGUAGE"] = wishes.decode("latin-1")
    return translation.get_language_from_request(request)
