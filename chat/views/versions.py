"""What a person may do with the versions of a message or a reply: edit, ask for another answer, go on after a limit, go to
another version, take one away.

Every one is a page with a form or a button of a page, so that none needs a script; ours gets JSON. Every message and
generation is fetched through its owner.
"""

from typing import Any
from uuid import UUID

from django.contrib.auth.models import AbstractBaseUser
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from chat import branches, catalogue, conversations, drafts
from chat.generations import Busy, Rejected
from chat.models import Conversation, Generation, Message, MessageKind
from chat.once import Gone, Result, once
from chat.replies import picker
from chat.views.answers import SeeOther, refusal, wants_json
from chat.views.commands import owned_generation
from chat.views.pages import address, busy, fragment_of, place, started
from chat.views.signed_out import unsent


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest, message_id: UUID) -> HttpResponse:
    """A person's message becomes another version and is asked; a reply becomes their own version of it."""
    message = _owned_message(request, message_id)
    if request.method != "POST":
        text = unsent(request)
        return _edit(
            request, message.conversation, text or message.text, message=message, is_whole=bool(text)
        )
    is_question = message.kind == MessageKind.USER
    assert isinstance(request.user, AbstractBaseUser)  # noqa: S101 LoginRequiredMiddleware stands before every view
    user, text = request.user, request.POST.get("text", "")
    chosen = catalogue.find(request.POST.get("model", ""))

    def act() -> Result:
        if is_question:
            row = branches.edit_question(
                message,
                user=user,
                text=text,
                session_key=request.session.session_key or "",
                endpoint=chosen[0].name if chosen else "",
                model=chosen[1].id if chosen else "",
            )
            return message.conversation, row
        branches.edit_reply(text, message=message)
        return message.conversation, None

    said = ("edit", str(message.pk), text, request.POST.get("model", ""))
    return _edited(request, message.conversation, said, act, message=message)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def edit_draft(request: HttpRequest, generation_id: UUID) -> HttpResponse:
    """What stands of a reply that is no answer becomes the person's own version; the draft stays a draft."""
    generation, conversation = owned_generation(request, generation_id)
    if request.method != "POST":
        text = unsent(request)
        return _edit(
            request,
            conversation,
            text or drafts.snapshot(generation).answer,
            generation=generation,
            is_whole=bool(text),
        )
    text = request.POST.get("text", "")

    def act() -> Result:
        branches.edit_reply(text, generation=generation)
        return conversation, None

    said = ("edit_draft", str(generation.pk), text)
    return _edited(request, conversation, said, act, generation=generation)


@never_cache
@require_GET
def again(request: HttpRequest, generation_id: UUID) -> HttpResponse:
    """Which model shall answer? Without a script this is where a person chooses."""
    generation, conversation = owned_generation(request, generation_id)
    context = {
        "generation": generation,
        "conversation": conversation,
        "groups": picker.groups(),
        "chosen": f"{generation.endpoint}:{generation.model}",
    }
    return render(request, "chat/again.html", context)


@require_POST
def go_on(request: HttpRequest, generation_id: UUID) -> HttpResponse:
    """A new reply that goes on where this one came to its limit."""
    generation, conversation = owned_generation(request, generation_id)
    assert isinstance(request.user, AbstractBaseUser)  # noqa: S101 as in `edit`
    user = request.user

    def act() -> Result:
        key = request.session.session_key or ""
        return conversation, branches.go_on(generation, user=user, session_key=key)

    try:
        _same, row = once(user, request.POST.get("once", ""), ("go_on", str(generation.pk)), act)
    except Busy as error:
        return busy(request, error, conversation)
    except (Rejected, Gone):
        return _no_longer(request, conversation, _("This reply can no longer be continued."))
    return _done(request, conversation, row)


@require_POST
def switch(request: HttpRequest, message_id: UUID) -> HttpResponse:
    """Show another version, as it was left."""
    message = _owned_message(request, message_id)
    unanswered = request.POST.get("unanswered") == "1"
    try:
        conversation = branches.switch(message, unanswered=unanswered)
    except Rejected:
        raise Http404 from None
    if wants_json(request):
        return JsonResponse({"url": address(conversation)})
    # To the turn in which the person pressed, not to the end of the page.
    question = message.pk if message.kind == MessageKind.USER else message.parent_id
    return SeeOther((question and place(conversation, question)) or address(conversation))


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest, message_id: UUID) -> HttpResponse:
    """GET asks, POST takes a version away with everything that followed on it. The only version of the first message is the
    conversation."""
    message = _owned_message(request, message_id)
    is_only = branches.is_only(message)
    if is_only and message.parent_id is None:
        # Nothing would be left: it goes as a conversation does, with a way back.
        if request.method != "POST":
            return SeeOther(reverse("chat:delete", args=[message.conversation_id]))
        assert isinstance(request.user, AbstractBaseUser)  # noqa: S101 as in `edit`
        conversations.discard(message.conversation, by=request.user)
        url = f"{reverse('chat:home')}?deleted={message.conversation_id}"
        return JsonResponse({"url": url}) if wants_json(request) else SeeOther(url)
    if request.method != "POST":
        context = {
            "message": message,
            "conversation": message.conversation,
            "is_only": is_only,
            "is_question": message.kind == MessageKind.USER,
        }
        return render(request, "chat/delete_version.html", context)
    assert isinstance(request.user, AbstractBaseUser)  # noqa: S101 as in `edit`
    try:
        conversation = branches.delete(message, by=request.user)
    except Rejected:
        raise Http404 from None
    url = address(conversation)
    return JsonResponse({"url": url}) if wants_json(request) else SeeOther(url)


def _owned_message(request: HttpRequest, message_id: UUID) -> Message:
    rows = Message.objects.filter(conversation__in=Conversation.objects.owned_by(request.user))
    return get_object_or_404(rows.select_related("conversation", "generation"), pk=message_id)


def _edited(
    request: HttpRequest, conversation: Conversation, said: tuple[str, ...], act: Any, **what: Any
) -> HttpResponse:
    assert isinstance(request.user, AbstractBaseUser)  # noqa: S101 as in `edit`
    try:
        _same, row = once(request.user, request.POST.get("once", ""), said, act)
    except Busy as error:
        return busy(request, error, conversation, url=request.path)
    except Gone:
        return _no_longer(request, conversation, _("This version was deleted."))
    except Rejected:
        sentence = _("This text cannot be kept: it is empty or too long, or what it belongs to is gone.")
        if wants_json(request):
            return refusal(400, "invalid", sentence)
        text = request.POST.get("text", "").replace("\x00", "")
        return _edit(request, conversation, text, error=sentence, status=400, **what)
    return _done(request, conversation, row, **what)


def _done(
    request: HttpRequest,
    conversation: Conversation,
    row: Generation | None,
    message: Message | None = None,
    generation: Generation | None = None,
) -> HttpResponse:
    if not wants_json(request):
        return SeeOther(address(conversation))
    if row is not None:
        return started(row)
    conversation.refresh_from_db()
    question = message.parent_id if message is not None else generation.parent_id if generation else None
    return JsonResponse({"url": address(conversation), "html": fragment_of(question, conversation)})


def _no_longer(request: HttpRequest, conversation: Conversation, sentence: str) -> HttpResponse:
    if wants_json(request):
        return refusal(409, "rejected", sentence)
    return SeeOther(address(conversation))


def _edit(
    request: HttpRequest,
    conversation: Conversation,
    text: str,
    *,
    message: Message | None = None,
    generation: Generation | None = None,
    error: str = "",
    status: int = 200,
    is_whole: bool = False,
) -> HttpResponse:
    """The page with the text. Of a reply that went on from another one both stand there, to be made one by the person."""
    row = generation or (message.generation if message is not None else None)
    before = branches.so_far(row) if row is not None and not (error or is_whole) else ""
    context = {
        "conversation": conversation,
        "message": message,
        "is_only": message is not None and branches.is_only(message),
        "text": before + text,
        "is_joined": bool(before),
        "is_question": message is not None and message.kind == MessageKind.USER,
        "error": error,
    }
    return render(request, "chat/edit.html", context, status=status)
