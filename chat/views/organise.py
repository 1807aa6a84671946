"""Putting conversations in order: names, pins, the archive, deleting and bringing back, and the list of all of them.

Each command is a POST that works as a plain form and answers our script with JSON. A conversation that was deleted is gone
for every other view; here, for a while, it can be brought back.
"""

from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import F
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from chat import conversations, retention
from chat.forms import TitleForm
from chat.generations import Rejected
from chat.models import Conversation
from chat.views.answers import SeeOther, refusal, wants_json

PAGE = 50
MOST_PAGES = 2000


@never_cache
@require_safe
def every(request: HttpRequest) -> HttpResponse:
    """All conversations, what is pinned before the others, or those in the archive; newest first, a page at a time."""
    is_archive = "archived" in request.GET
    number = request.GET.get("page", "1")
    page = int(number) if number.isascii() and number.isdigit() and len(number) < 5 else 1
    page = min(max(page, 1), MOST_PAGES)
    rows = Conversation.objects.owned_by(request.user).filter(archived__isnull=not is_archive)
    if not is_archive:
        rows = rows.order_by(F("pinned").desc(nulls_last=True), "-updated")
    shown = list(rows[(page - 1) * PAGE : page * PAGE + 1])
    context = {
        "pinned": [row for row in shown[:PAGE] if row.pinned],
        "conversations": [row for row in shown[:PAGE] if not row.pinned],
        "is_archive": is_archive,
        "previous": page - 1 if page > 1 else None,
        "following": page + 1 if len(shown) > PAGE else None,
        "lying": list(retention.restorable(request.user.pk)[:PAGE]) if request.user.pk else [],
    }
    return render(request, "chat/conversations.html", context)


@never_cache
@require_safe
def contents(request: HttpRequest) -> HttpResponse:
    """The table of contents alone, for a page whose list has changed."""
    current = request.GET.get("current", "")
    try:
        row = Conversation.objects.owned_by(request.user).filter(pk=UUID(current)).first()
    except ValueError:
        row = None
    return render(request, "chat/_contents_alone.html", {"conversation": row})


@never_cache
@require_safe
def standing(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """Whether a conversation stands, and where: the last message of the branch that is shown. For a page that may show
    another one, or one that is gone. What is not the person's does not stand, like what never was; that is an answer and no
    404, for a page asks this where it has reason to doubt, and its browser would note an error."""
    row = Conversation.objects.owned_by(request.user).filter(pk=conversation_id).first()
    return JsonResponse({"stands": row is not None, "head": str(row.head_id or "") if row else ""})


@require_POST
def mark(request: HttpRequest, conversation_id: UUID, *, what: str, on: bool) -> HttpResponse:
    """Pin it or not; put it into the archive or take it out."""
    row = _owned(request, conversation_id)
    verb = conversations.pin if what == "pinned" else conversations.archive
    verb(row, on=on)
    here = reverse("chat:conversation", args=[row.pk])
    if what == "pinned" or not on:
        return _done(request, _back(request, here))
    if not wants_json(request):
        return SeeOther(_saying(_back(request, here), "put_away", row))
    told = _("“%(title)s” was archived.") % {"title": row.title}
    return _done(request, here, undo=reverse("chat:unarchive", args=[row.pk]), message=told)


@require_http_methods(["GET", "HEAD", "POST"])
def rename(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """Another title."""
    row = _owned(request, conversation_id)
    if request.method != "POST":
        return _rename(request, row, TitleForm(initial={"title": row.title}))
    form = TitleForm(request.POST)
    if form.is_valid():
        try:
            conversations.rename(row, form.cleaned_data["title"])
        except Rejected:
            form.add_error("title", _("A name needs a letter."))
        else:
            return _done(request, reverse("chat:conversation", args=[row.pk]))
    if wants_json(request):
        return refusal(400, "invalid", " ".join(str(text) for text in form.errors.get("title", [])))
    return _rename(request, row, form, status=400)


@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """GET asks, POST deletes; it can be brought back for a while. A reply that is being written is stopped at once."""
    if request.method != "POST":
        return render(request, "chat/delete.html", {"conversation": _owned(request, conversation_id)})
    row = _here_or_lying(request, conversation_id)
    assert isinstance(request.user, AbstractBaseUser)  # noqa: S101 LoginRequiredMiddleware stands before every view
    conversations.discard(row, by=request.user)
    if wants_json(request):
        return JsonResponse(
            {
                "url": reverse("chat:home"),
                "undo": reverse("chat:restore", args=[row.pk]),
                "message": _("“%(title)s” was deleted.") % {"title": row.title},
            }
        )
    return SeeOther(_saying(_back(request, reverse("chat:home"), but=str(row.pk)), "deleted", row))


@require_POST
def restore(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """Bring back what was deleted a moment ago."""
    row = _here_or_lying(request, conversation_id)
    conversations.restore(row)
    return _done(request, reverse("chat:conversation", args=[row.pk]))


def _owned(request: HttpRequest, conversation_id: UUID) -> Conversation:
    return get_object_or_404(Conversation.objects.owned_by(request.user), pk=conversation_id)


def _here_or_lying(request: HttpRequest, conversation_id: UUID) -> Conversation:
    """Also one that was deleted a moment ago: the second click of two finds it done, and that is no fault."""
    assert request.user.pk is not None  # noqa: S101 as in `delete`
    # One question: between two of them it may come back.
    rows = Conversation.objects.owned_by(request.user) | retention.restorable(request.user.pk)
    return get_object_or_404(rows, pk=conversation_id)


def _back(request: HttpRequest, otherwise: str, *, but: str = "") -> str:
    """The page of ours on which the button was, without what an earlier one said; never one of `but`."""
    came_from = request.headers.get("Referer", "")
    is_ours = url_has_allowed_host_and_scheme(
        came_from, {request.get_host()}, require_https=request.is_secure()
    )
    if not is_ours:  # or no address at all
        return otherwise
    parts = urlsplit(came_from)
    if not parts.netloc or (but and but in parts.path):
        return otherwise
    said = ("deleted=", "put_away=")
    kept = "&".join(piece for piece in parts.query.split("&") if piece and not piece.startswith(said))
    return f"{parts.path}?{kept}" if kept else parts.path


def _saying(url: str, what: str, row: Conversation) -> str:
    """The address with what happened to a conversation, for the notice with its way back."""
    return f"{url}{'&' if '?' in url else '?'}{what}={row.pk}"


def _rename(request: HttpRequest, row: Conversation, form: TitleForm, status: int = 200) -> HttpResponse:
    return render(request, "chat/rename.html", {"conversation": row, "form": form}, status=status)


def _done(request: HttpRequest, url: str, **more: Any) -> HttpResponse:
    return JsonResponse({"url": url, **more}) if wants_json(request) else SeeOther(url)
