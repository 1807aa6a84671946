"""Renaming and deleting a conversation: each a page with a form, so that neither needs a script."""

from uuid import UUID

from django.contrib.auth.models import AbstractBaseUser
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from chat import conversations
from chat.forms import TitleForm
from chat.generations import Rejected
from chat.models import Conversation
from chat.views.answers import SeeOther, refusal, wants_json


@require_http_methods(["GET", "HEAD", "POST"])
def rename(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """Another title."""
    row = get_object_or_404(Conversation.objects.owned_by(request.user), pk=conversation_id)
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
    """GET asks, POST deletes; a reply that is being written is stopped by the same verb."""
    row = get_object_or_404(Conversation.objects.owned_by(request.user), pk=conversation_id)
    if request.method != "POST":
        return render(request, "chat/delete.html", {"conversation": row})
    assert isinstance(request.user, AbstractBaseUser)  # noqa: S101 LoginRequiredMiddleware stands before every view
    conversations.delete(row, by=request.user)
    return _done(request, reverse("chat:home"))


def _rename(request: HttpRequest, row: Conversation, form: TitleForm, status: int = 200) -> HttpResponse:
    return render(request, "chat/rename.html", {"conversation": row, "form": form}, status=status)


def _done(request: HttpRequest, url: str) -> HttpResponse:
    return JsonResponse({"url": url}) if wants_json(request) else SeeOther(url)
