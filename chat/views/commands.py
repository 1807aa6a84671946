"""What a person may do to one reply: stop it, try it again, see its turn, take its text.

Every generation and message is fetched through its owner. A draft has no text to take: only messages have.
"""

from uuid import UUID

from django.contrib.auth.models import AbstractBaseUser
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from chat import catalogue, generations
from chat.generations import Busy, Rejected
from chat.models import Conversation, Generation, Message, MessageKind
from chat.views.answers import SeeOther, refusal, wants_json
from chat.views.pages import address, busy, fragment, started


def _owned(request: HttpRequest, generation_id: UUID) -> tuple[Generation, Conversation]:
    rows = Generation.objects.owned_by(request.user).select_related("conversation")
    row = get_object_or_404(rows, pk=generation_id)
    if row.conversation is None:
        raise Http404
    return row, row.conversation


@require_POST
def stop(request: HttpRequest, generation_id: UUID) -> HttpResponse:
    """Stop it; a reply that had ended by itself keeps its end, and that is no error."""
    generation, conversation = _owned(request, generation_id)
    assert isinstance(request.user, AbstractBaseUser)  # noqa: S101 LoginRequiredMiddleware stands before every view
    stopped = generations.cancel(generation, by=request.user)
    if wants_json(request):
        return JsonResponse({"stopped": stopped})
    return SeeOther(address(conversation))


@require_POST
def retry(request: HttpRequest, generation_id: UUID) -> HttpResponse:
    """A new generation for the same message; by another model where one is named and can be asked."""
    generation, conversation = _owned(request, generation_id)
    assert isinstance(request.user, AbstractBaseUser)  # noqa: S101 as in `stop`
    chosen = catalogue.find(request.POST.get("model", ""))
    try:
        new = generations.retry(
            generation,
            user=request.user,
            session_key=request.session.session_key or "",
            endpoint=chosen[0].name if chosen else "",
            model=chosen[1].id if chosen else "",
        )
    except Busy as error:
        return busy(request, error, conversation)
    except Rejected:
        if wants_json(request):
            return refusal(409, "rejected", _("This reply can no longer be tried again."))
        return SeeOther(address(conversation))
    return started(new) if wants_json(request) else SeeOther(address(conversation))


@never_cache
@require_GET
def turn(request: HttpRequest, generation_id: UUID) -> HttpResponse:
    """The turn of a generation as a fragment, for a page that has just learned of it."""
    generation, conversation = _owned(request, generation_id)
    html = fragment(generation, conversation)
    if not html:
        raise Http404
    return HttpResponse(html)


@require_GET
def source(request: HttpRequest, message_id: UUID) -> HttpResponse:
    """An answer's Markdown as plain text: what Copy copies, and what its link opens without a script."""
    rows = Message.objects.filter(conversation__in=Conversation.objects.owned_by(request.user))
    message = get_object_or_404(rows, pk=message_id, kind=MessageKind.ANSWER)
    return HttpResponse(message.text, content_type="text/plain; charset=utf-8")
