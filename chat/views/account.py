"""A person's own account: one page that leads to everything, their data to take along, and the end of it.

What allauth does stands on allauth's pages; these lead there. Taking the data and ending the account want a fresh sign-in.
"""

import tempfile
from typing import Any

from allauth.account.decorators import reauthentication_required
from allauth.core.exceptions import ReauthenticationRequired
from allauth.mfa.models import Authenticator
from allauth.socialaccount.adapter import get_adapter
from allauth.usersessions.models import UserSession
from django.conf import settings as configuration
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.models import AbstractBaseUser
from django.db.models import Count
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from chat import flows, people, takeout
from chat.models import Conversation, Plan
from chat.views.answers import SeeOther
from chat.views.exports import of_file


@never_cache
@require_GET
def settings(request: HttpRequest) -> HttpResponse:
    """Everything that a person can set, one line each."""
    assert isinstance(request.user, AbstractBaseUser)  # noqa: S101 LoginRequiredMiddleware stands before every view
    kinds = dict(
        Authenticator.objects.filter(user_id=request.user.pk)
        .values_list("type")
        .annotate(count=Count("pk"))
        .order_by("type")
    )
    codes = Authenticator.objects.filter(
        user_id=request.user.pk, type=Authenticator.Type.RECOVERY_CODES
    ).first()
    context: dict[str, Any] = {
        "sends_mail": configuration.SENDS_MAIL,
        "has_languages": len(configuration.LANGUAGES) > 1,
        "passkeys": kinds.get(Authenticator.Type.WEBAUTHN, 0),
        # Of another flow than the coach's there are none, but for those that were made before.
        "has_plans": flows.plans_of(flows.current(configuration.SYSTEM_PROMPT)) is not None
        or Plan.objects.filter(user_id=request.user.pk).exists(),
        "has_app": Authenticator.Type.TOTP in kinds,
        "codes": len(codes.wrap().get_unused_codes()) if codes else None,
        "sessions": UserSession.objects.filter(user_id=request.user.pk).count(),
        "has_providers": bool(get_adapter().list_providers(request)),
    }
    return render(request, "chat/settings.html", context)


@never_cache
@require_GET
@reauthentication_required  # type: ignore[untyped-decorator] # allauth has no types
def download(request: HttpRequest) -> HttpResponse:
    """The page that says that the download has begun, and begins it: a file alone would leave the page before it standing,
    which may be the form with the password."""
    response = render(request, "chat/download.html")
    # By the header, so that it needs no script, and a reader of the screen hears of no page that changes by itself.
    response["Refresh"] = f"1; url={reverse('chat:download_file')}"
    return response


@never_cache
@require_GET
def download_file(request: HttpRequest) -> HttpResponseBase:
    """The file itself; whoever has to say first who they are comes to the page that begins it, and stays on no form."""
    try:
        response: HttpResponseBase = _everything(request)
    except ReauthenticationRequired:
        return SeeOther(reverse("chat:download"))
    return response


@reauthentication_required  # type: ignore[untyped-decorator] # allauth has no types
def _everything(request: HttpRequest) -> StreamingHttpResponse:
    """Everything that is kept of them. It is put together on disk and sent piece by piece: it may be large."""
    assert isinstance(request.user, AbstractBaseUser)  # noqa: S101 as in `settings`
    file = tempfile.TemporaryFile()  # noqa: SIM115 (the response closes it)
    takeout.write(request.user, file)
    response = of_file(file, "application/zip")
    response["Content-Disposition"] = f'attachment; filename="gymnasia-{timezone.localdate():%Y-%m-%d}.zip"'
    return response


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@reauthentication_required  # type: ignore[untyped-decorator] # allauth has no types
def delete(request: HttpRequest) -> HttpResponse:
    """GET says what goes, POST ends it; whoever is signed out meanwhile finds the sign-in page."""
    assert isinstance(request.user, AbstractBaseUser)  # noqa: S101 as in `settings`
    if request.method != "POST":
        mine = Conversation.objects.owned_by(request.user).count()
        return render(request, "chat/delete_account.html", {"count": mine})
    if request.POST.get("name") != request.user.get_username():
        mine = Conversation.objects.owned_by(request.user).count()
        return render(request, "chat/delete_account.html", {"count": mine, "is_wrong": True}, status=400)
    person = request.user
    logout(request)
    people.delete(person)
    messages.success(request, _("Your account and all that was in it are gone."))
    return SeeOther(reverse("account_login"))
