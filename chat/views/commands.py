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
from chat.once import Gone, Result, once
from chat.views.answers import SeeOther, refusal, wants_json
from chat.views.pages import address, busy, fragment, started


def owned_generation(request: HttpRequest, generation_id: UUID) -> tuple[Generation, Conversation]:
    """The person's own, with its conversation; 404 for everything else."""
    rows = Generation.objects.owned_by(request.user).select_related("conversation")
    row = get_object_or_404(rows, pk=generation_id)
    if row.conversation is None:
        raise Http404
    return row, row.conversation


@require_POST
def stop(request: HttpRequest, generation_id: UUID) -> HttpResponse:
    """Stop it; a reply that had ended by itself keeps its end, and that is no error."""
    generation, conversation = owned_generation(request, generation_id)
    assert isinstance(request.user, AbstractBaseUser)  # noqa: S101 LoginRequiredMiddleware stands before every view
    stopped = generations.cancel(generation, by=request.user)
    if wants_json(request):
        return JsonResponse({"stopped": stopped})
    return SeeOther(address(conversation))


@require_POST
def retry(request: HttpRequest, generation_id: UUID) -> HttpResponse:
    """A new generation for the same message; by another model where one is named and can be asked."""
    generation, conversation = owned_generation(request, generation_id)
    assert isinstance(request.user, AbstractBaseUser)  # noqa: S101 as in `stop`
    user, model = request.user, request.POST.get("model", "")
    chosen = catalogue.find(model)

    def act() -> Result:
        row = generations.retry(
            generation,
            user=user,
            session_key=request.session.session_key or "",
            endpoint=chosen[0].name if chosen else "",
            model=chosen[1].id if chosen else "",
        )
        return conversation, row

    try:
        _same, new = once(user, request.POST.get("once", ""), ("retry", str(generation.pk), model), act)
    except Busy as error:
        return busy(request, error, conversation)
    except (Rejected, Gone):
        if wants_json(request):
            return refusal(409, "rejected", _("This reply can no longer be tried again."))
        return SeeOther(address(conversation))
    if new is None or not wants_json(request):
        return SeeOther(address(conversation))
    return started(new)


@never_cache
@require_GET
def turn(request: HttpRequest, generation_id: UUID) -> HttpResponse:
    """The turn of a generation as a fragment, for a page that has just learned of it."""
    generation, conversation = owned_generation(request, generation_id)
    if generation.parent_id is None:
        raise Http404
    html = fragment(generation, conversation)
    # Another branch is shown; the reply is there all the same.
    return HttpResponse(html, status=200 if html else 204)


@require_GET
def source(request: HttpRequest, message_id: UUID) -> HttpResponse:
    """A reply's Markdown as plain text, an answer's or a person's own version of one: what Copy copies, and what its link
    opens without a script."""
    rows = Message.objects.filter(conversation__in=Conversation.objects.owned_by(request.user))
    message = get_object_or_404(rows, pk=message_id, kind__in=(MessageKind.ANSWER, MessageKind.EDITED))
    return HttpResponse(message.text, content_type="text/plain; charset=utf-8")
