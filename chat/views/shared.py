"""Shared links: making and revoking one's own, and the page that everybody sees who has one.

That page wants no sign-in and knows no reader: it sets and reads no cookie, is kept by no cache and no search engine, and
tells no other site where its reader came from.
"""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import AbstractBaseUser
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from chat import sharing
from chat.generations import Rejected
from chat.models import Conversation, Message, MessageKind, SharedLink
from chat.replies import picker
from chat.replies.reply import said
from chat.views.answers import SeeOther, refusal, wants_json

PAGE_MESSAGES = 100


@dataclass(frozen=True, slots=True)
class Line:
    """A message as the page shows it: a question, or an answer with its HTML and the model that it names."""

    message: Message
    html: SafeString | None = None
    model: str = ""


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def share(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """GET says what a link shows, and which there are; POST makes one."""
    row = get_object_or_404(Conversation.objects.owned_by(request.user), pk=conversation_id)
    error = ""
    if request.method == "POST":
        assert isinstance(request.user, AbstractBaseUser)  # noqa: S101 LoginRequiredMiddleware stands before every view
        try:
            link = sharing.share(row, by=request.user)
        except Rejected:
            error = _("There is no answer yet that could be shared.")
            if wants_json(request):
                return refusal(409, "rejected", error)
        else:
            if wants_json(request):
                return JsonResponse({"url": address(request, link)}, status=201)
            return SeeOther(reverse("chat:share", args=[row.pk]))
    links = SharedLink.objects.owned_by(request.user).open().filter(conversation=row)
    context: dict[str, Any] = {"conversation": row, "links": _told(request, links), "error": error}
    return render(request, "chat/share.html", context, status=409 if error else 200)


@never_cache
@require_safe
def links(request: HttpRequest) -> HttpResponse:
    """All links of a person that lead somewhere."""
    rows = SharedLink.objects.owned_by(request.user).open()
    return render(request, "chat/shared_links.html", {"links": _told(request, rows)})


@require_POST
def revoke(request: HttpRequest, link_id: int) -> HttpResponse:
    """It leads nowhere from now on."""
    link = get_object_or_404(SharedLink.objects.owned_by(request.user), pk=link_id)
    sharing.revoke(link)
    if wants_json(request):
        return JsonResponse({"revoked": True})
    return SeeOther(reverse("chat:shared_links"))


@login_not_required
@require_safe
def shared(request: HttpRequest, token: str) -> HttpResponse:
    """What everybody sees; for its owner it looks the same. A long one comes by pages, from its beginning."""
    link = get_object_or_404(
        SharedLink.objects.open().select_related("conversation", "head"), token=token[:100]
    )
    part = Paginator(sharing.messages(link), PAGE_MESSAGES).get_page(request.GET.get("page"))
    lines = [_line(each) for each in part]
    response = render(request, "chat/shared.html", {"link": link, "lines": lines, "part": part})
    response["Cache-Control"] = "private, no-store"
    response["X-Robots-Tag"] = "noindex, nofollow, noarchive"
    response["Referrer-Policy"] = "no-referrer"
    return response


def address(request: HttpRequest, link: SharedLink) -> str:
    return request.build_absolute_uri(reverse("chat:shared", args=[link.token]))


def _told(request: HttpRequest, rows: Any) -> list[tuple[SharedLink, str]]:
    return [(link, address(request, link)) for link in rows]


def _line(message: Message) -> Line:
    if message.kind == MessageKind.USER:
        return Line(message)
    row = message.generation
    model = picker.label(row.endpoint, row.model) if row is not None else message.origin_model
    return Line(message, said(message), model)
