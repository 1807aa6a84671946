"""What allauth asks us while it signs people in.

Takes its requests and people, gives its responses with what this product adds. Knows no template.
"""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core import context
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from chat import languages
from chat.accounts import limits
from chat.views.language import set_cookie

WAYS: dict[str, str | Promise] = {
    "reauthenticate": _("Use your password"),
    "mfa_reauthenticate": _("Use a code"),
    "mfa_reauthenticate:webauthn": _("Use your passkey"),
}


class Adapter(DefaultAccountAdapter):  # type: ignore[misc] # allauth has no types
    def post_login(self, request: HttpRequest, user: AbstractBaseUser, **more: Any) -> HttpResponseBase:
        """From here on they read in the language that they once chose: the cookie may be somebody else's, who used this
        browser before."""
        response: HttpResponseBase = super().post_login(request, user, **more)
        if code := languages.remembered(user):
            set_cookie(response, code)
        return response

    def is_safe_url(self, url: str | None) -> bool:
        """Whether a page may lead there after a sign-in; not where it is no address at all."""
        try:
            return bool(super().is_safe_url(url))
        except ValueError:
            return False

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Who has tried too many passwords is told when to come back."""
        try:
            super().pre_authenticate(request, **credentials)
        except ValidationError as error:
            key = self._get_login_attempts_cache_key(request, **credentials)
            raise self._with_when(error, request, [key]) from None

    def validation_error(self, code: str, *args: Any) -> ValidationError:
        """The same for codes; under whose key they are counted is not known here."""
        error: ValidationError = super().validation_error(code, *args)
        return self._with_when(error, context.request, [])

    def _with_when(self, error: ValidationError, request: HttpRequest, keys: list[str]) -> ValidationError:
        if error.code not in {"too_many_login_attempts", "rate_limited"}:
            return error
        seconds = limits.wait_s(request, limits.ACCOUNT, "login_failed", keys)
        return ValidationError(limits.sentence(seconds), code=error.code)

    def is_reauthentication_required(self, *, app: str, **more: Any) -> bool:
        """Of whoever has something to show: a person who signs in by another service has neither password nor key, and must
        not be locked out of their own account for it."""
        has_way = bool(self.get_reauthentication_methods(context.request.user))
        return has_way and bool(super().is_reauthentication_required(app=app, **more))

    def get_reauthentication_methods(self, user: AbstractBaseUser | AnonymousUser) -> list[dict[str, Any]]:
        """allauth's ways to show that it is you, by our names for them."""
        ways: list[dict[str, Any]] = super().get_reauthentication_methods(user)
        return [way | {"description": WAYS.get(way["id"], way["description"])} for way in ways]
