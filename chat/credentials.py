"""What the audit shows of what people sign in with: that it is there, since when, and never what it is.

allauth registers its own tables with every column in a form: the secret behind a second factor could be read there and
copied into another app, a session's key put into another browser. Here each is shown by the columns that are named, and
no other column can be read, searched or filtered by; a table of nothing but secrets has no page. Nothing is added or
changed. It can be taken away, one by one and logged, which is how somebody who is locked out gets in again.
"""

from typing import Any

from allauth.mfa.admin import AuthenticatorAdmin
from allauth.mfa.models import Authenticator
from allauth.socialaccount.admin import SocialAccountAdmin
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from allauth.usersessions.admin import UserSessionAdmin
from allauth.usersessions.models import UserSession
from django.contrib import admin
from django.http import HttpRequest

from chat.audit import Base, ReadOnly


class Withheld(ReadOnly):
    """Only `fields` are shown. An address may name any column to filter by, and would tell a secret letter by letter."""

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest | None = None) -> bool:
        named = lookup.split("__", maxsplit=1)[0] in {"id", "pk", *(self.fields or ())}
        return named and super().lookup_allowed(lookup, value, request)  # type: ignore[arg-type]

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return Base.has_delete_permission(self, request, obj)


# Importing their pages has registered them, and Django's search for pages will not import them again.
for theirs in (Authenticator, SocialAccount, SocialApp, SocialToken, UserSession):
    admin.site.unregister(theirs)


@admin.register(Authenticator)
class SecondFactorAdmin(Withheld):
    """An app, passkeys, recovery codes: whoever lost all of them is helped by deleting the first two."""

    fields = ("user", "type", "created_at", "last_used_at")
    list_display = AuthenticatorAdmin.list_display
    list_filter = AuthenticatorAdmin.list_filter
    search_fields = ("user__username", "user__email")
    list_select_related = ("user",)


@admin.register(SocialAccount)
class OtherAccountAdmin(Withheld):
    """By which account elsewhere somebody signs in; what that place told of them stays out."""

    fields = ("user", "provider", "uid", "last_login", "date_joined")
    list_display = SocialAccountAdmin.list_display
    list_filter = SocialAccountAdmin.list_filter
    search_fields = ("uid", "user__username", "user__email")
    list_select_related = ("user",)


@admin.register(UserSession)
class SignedInAdmin(Withheld):
    """Where people are signed in. Deleting one signs that browser out."""

    fields = ("user", "created_at", "last_seen_at", "ip", "user_agent")
    list_display = UserSessionAdmin.list_display
    search_fields = ("user__username", "ip")
    list_select_related = ("user",)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Not the one that asks: its answer would have no session to stand in."""
        own = obj is not None and obj.session_key == request.session.session_key
        return not own and super().has_delete_permission(request, obj)

    def delete_model(self, request: HttpRequest, obj: UserSession) -> None:  # noqa: ARG002 (Django passes it)
        obj.end()
