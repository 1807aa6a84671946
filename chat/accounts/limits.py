"""When somebody may try again whom allauth has sent away for trying too often.

Takes a request and what was tried, gives seconds, read from allauth's own counts; and the page that says so. It counts
nothing itself. Where a count cannot be read (it was another process's, or another key's) the limit's whole time is said:
whoever believes it and comes back is let in.
"""

import math
import time
from collections.abc import Iterable, Iterator

from allauth.core.internal import ratelimit
from django.core.cache import cache
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import ngettext

from chat.views.answers import refusal, wants_json

ACCOUNT, MFA = "allauth.account", "allauth.mfa"
# Which limit stands before which of allauth's addresses.
ACTIONS = {
    "account_login": (ACCOUNT, "login"),
    "account_signup": (ACCOUNT, "signup"),
    "account_reset_password": (ACCOUNT, "reset_password"),
    "account_reset_password_from_key": (ACCOUNT, "reset_password_from_key"),
    "account_change_password": (ACCOUNT, "change_password"),
    "account_set_password": (ACCOUNT, "change_password"),
    "account_email": (ACCOUNT, "manage_email"),
    "account_reauthenticate": (ACCOUNT, "reauthenticate"),
    "mfa_reauthenticate": (ACCOUNT, "reauthenticate"),
    "mfa_reauthenticate_webauthn": (ACCOUNT, "reauthenticate"),
    "mfa_login_webauthn": (MFA, "webauthn_login"),
}
UNKNOWN_S = 300


def wait_s(request: HttpRequest, app: str, action: str, keys: Iterable[str] = ()) -> int:
    """Seconds until none of the action's limits is full for this request; `keys` are what it is counted by beside address
    and person."""
    rates = ratelimit.get_rates(app=app, action=action)
    now = time.time()
    found = [
        counts[rate.amount - 1] + rate.duration - now
        for rate in rates
        for counts in _counts(request, app, action, rate, list(keys))
        if len(counts) >= rate.amount
    ]
    waits = [left for left in found if left > 0] or [rate.duration for rate in rates] or [UNKNOWN_S]
    seconds: int = math.ceil(max(waits))
    return max(1, seconds)


def _counts(
    request: HttpRequest, app: str, action: str, rate: ratelimit.Rate, keys: list[str]
) -> Iterator[list[float]]:
    """When it was tried, newest first, under each name by which that is counted."""
    for key in keys if rate.per == "key" else [None]:
        try:
            name = ratelimit.get_cache_key(request, app=app, action=action, rate=rate, key=key)
        except ImproperlyConfigured:  # counted by person, and nobody is signed in
            continue
        yield cache.get(name, [])


def sentence(seconds: int) -> str:
    """In how many seconds, or minutes where those are many; rounded up."""
    if seconds <= 90:
        return ngettext(
            "That was more often than this server allows. You can try again in %(n)s second.",
            "That was more often than this server allows. You can try again in %(n)s seconds.",
            seconds,
        ) % {"n": seconds}
    minutes = math.ceil(seconds / 60)
    return ngettext(
        "That was more often than this server allows. You can try again in %(n)s minute.",
        "That was more often than this server allows. You can try again in %(n)s minutes.",
        minutes,
    ) % {"n": minutes}


def too_many_tries(request: HttpRequest) -> HttpResponse:
    """429, in the place of allauth's own page."""
    place = request.resolver_match.url_name if request.resolver_match else None
    address = request.POST.get("email", "").strip().lower()
    known = ACTIONS.get(place or "")
    seconds = wait_s(request, *known, keys=[address] if address else []) if known else UNKNOWN_S
    if wants_json(request):
        answer = refusal(429, "too_many_tries", sentence(seconds))
    else:
        answer = render(request, "429.html", {"sentence": sentence(seconds)}, status=429)
    answer["Retry-After"] = str(seconds)
    return answer
