"""The two pages on which a person writes: a new conversation, and one that goes on.

GET shows, POST sends. Every conversation is fetched through its owner: for a stranger, staff included, it does not exist.
"""

from hashlib import sha256
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.db.models import Max
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from chat import conversations, generations, tree, windows
from chat.conversations import Stretch
from chat.generations import Busy, Rejected
from chat.models import Conversation, Generation
from chat.once import Gone, Result, once
from chat.replies import endings
from chat.replies.reply import render_turns, shown_all
from chat.views.answers import SeeOther, refusal, wants_json
from chat.views.composer import Composer, ask_form, compose, sent_again
from chat.views.signed_out import typed
from chat.windows import ALL, LAST, How, Wanted

EXAMPLES = (
    gettext_lazy("Plan three short workouts for a beginner without equipment"),
    gettext_lazy("Explain progressive overload in plain words"),
    gettext_lazy("What should I eat before a morning run?"),
)
OTHER_EXAMPLES = (
    gettext_lazy("Explain compound interest in plain words"),
    gettext_lazy("Write a friendly note to the neighbours about a noisy evening"),
    gettext_lazy("What should I see in Lisbon in one day?"),
)
"""Where the team's own prompt answers, who is no coach."""


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def home(request: HttpRequest) -> HttpResponse:
    """A new conversation; it comes into being with its first message."""
    if request.method == "POST":
        return _ask(request, None)
    return _home(request, compose(request, None, text=typed(request)))


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def conversation(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """One conversation: the end of its active branch, and the composer. `?before=`, `?after=` and `?at=` a message show
    another stretch of it, `?all` the whole; `X-Fragment` asks for the turns alone, for a page that is open."""
    row = get_object_or_404(
        Conversation.objects.owned_by(request.user).select_related("preset"), pk=conversation_id
    )
    if request.method == "POST":
        return _ask(request, row)
    if "X-Fragment" in request.headers:
        return _stretch(request, row)
    return _conversation(request, row, compose(request, row, text=typed(request)))


def fragment(generation: Generation, owned: Conversation) -> str:
    """The turn of `generation` as HTML: the message and every attempt at its reply; "" where another branch is shown."""
    return fragment_of(generation.parent_id, owned)


def fragment_of(question: UUID | None, owned: Conversation) -> str:
    """The turn of a person's message, in the same way."""
    found = conversations.read(owned, Wanted("only", question))
    return render_turns(found) if found else ""


def started(generation: Generation) -> HttpResponse:
    """The script's answer to a send and to a retry: where it is, and its turn as the page shows it."""
    owned = generation.conversation
    assert owned is not None  # noqa: S101 it was made a moment ago, in this request
    return JsonResponse(
        {
            "conversation": str(owned.pk),
            "url": address(owned),
            "generation": str(generation.pk),
            "handle": generation.number,
            "html": fragment(generation, owned),
        },
        status=201,
    )


def address(owned: Conversation) -> str:
    return reverse("chat:conversation", args=[owned.pk])


def place(owned: Conversation, message: UUID) -> str | None:
    """Where a message of the active branch is found: on the page as it opens, or on the page around it. None for one that is
    on another branch."""
    size = settings.GYMNASIA.page_turns
    found = windows.window(tree.outline(owned), owned.head_id, Wanted("at", message), size=size)
    if found is None:
        return None
    return f"{address(owned)}{'' if found.is_end else f'?at={message}'}#m-{message}"


def busy(request: HttpRequest, error: Busy, owned: Conversation, url: str = "") -> HttpResponse:
    """A reply is being written: said with Stop beside it, and the text is kept, to be sent to `url` again."""
    if wants_json(request):
        return refusal(
            409,
            "busy",
            _("A reply is being written. Stop it first, or wait for its end."),
            generation=str(error.generation.pk),
            handle=error.generation.number,
        )
    context = {
        "running": error.generation,
        "conversation": owned,
        "text": request.POST.get("text", ""),
        "model": request.POST.get("model", ""),
        "after": request.POST.get("after", ""),
        "url": url or address(owned),
    }
    return render(request, "chat/busy.html", context, status=409)


def _ask(request: HttpRequest, owned: Conversation | None) -> HttpResponse:
    form = ask_form(request, owned)
    if not form.is_valid():
        message = " ".join(str(text) for texts in form.errors.values() for text in texts)
        return _refuse(request, owned, message)
    assert isinstance(request.user, AbstractBaseUser)  # noqa: S101 LoginRequiredMiddleware stands before every view
    endpoint, _colon, model = form.cleaned_data["model"].partition(":")
    user, text, files = request.user, form.cleaned_data["text"], form.files_taken

    def act() -> Result:
        row = generations.send(
            user=user,
            text=text,
            conversation=owned,
            endpoint=endpoint,
            model=model,
            session_key=request.session.session_key or "",
            files=files,
            tuned=form.tuning,
            plan=request.POST.get("flow") == "plan",
            after=_seen(request),
        )
        assert row.conversation is not None  # noqa: S101 it was made a moment ago
        return row.conversation, row

    said = (
        "send",
        str(owned.pk) if owned else "",
        text,
        endpoint,
        model,
        str(form.tuning),
        request.POST.get("flow", ""),
    )
    attached = tuple(f"{each.name}:{sha256(each.data or each.text.encode()).hexdigest()}" for each in files)
    try:
        found, generation = once(user, request.POST.get("once", ""), said + attached, act)
    except Busy as error:
        assert owned is not None  # noqa: S101 a new conversation has no other reply
        return busy(request, error, owned)
    except (Rejected, Gone):
        return _refuse(request, owned, _("This message cannot be sent as it is."))
    if wants_json(request) and generation is not None:
        return started(generation)
    return SeeOther(address(found))


def _seen(request: HttpRequest) -> UUID | None:
    """The last message that the page showed, where it says so."""
    try:
        return UUID(request.POST.get("after", ""))
    except ValueError:
        return None


def _refuse(request: HttpRequest, owned: Conversation | None, message: str) -> HttpResponse:
    if wants_json(request):
        return refusal(400, "invalid", message)
    composer = sent_again(request, owned, message)
    if owned is None:
        return _home(request, composer, status=400)
    return _conversation(request, owned, composer, status=400)


def _home(request: HttpRequest, composer: Composer, status: int = 200) -> HttpResponse:
    only_local = None
    if len(composer.groups) == 1 and composer.groups[0].name == "local":
        only_local = composer.groups[0].choices[0]
    context: dict[str, Any] = {
        "home": True,
        "composer": composer,
        "examples": OTHER_EXAMPLES if settings.SYSTEM_PROMPT else EXAMPLES,
        "only_local": only_local,
    }
    return render(request, "chat/home.html", context, status=status)


def _conversation(
    request: HttpRequest, owned: Conversation, composer: Composer, status: int = 200
) -> HttpResponse:
    # On whatever branch: it is one at a time. The newest is asked for first: what comes later, the page is told of.
    newest = owned.generations.aggregate(last=Max("number"))["last"] or 0
    size = settings.GYMNASIA.page_turns
    found = conversations.read(owned, _wanted(request), size=size)
    if found is None or not found.turns:
        found = conversations.read(owned, size=size)
    context: dict[str, Any] = {
        **_shown(owned, found, newest),
        "writing": Generation.objects.unfinished().filter(conversation=owned).first(),
        "composer": composer,
        "page_endings": endings.PAGE_ENDINGS,
    }
    return render(request, "chat/conversation.html", context, status=status)


def _stretch(request: HttpRequest, owned: Conversation) -> HttpResponse:
    """The turns alone, with the links to what is on either side; nothing (204) where the branch has no such place."""
    newest = owned.generations.aggregate(last=Max("number"))["last"] or 0
    found = conversations.read(owned, _wanted(request), size=settings.GYMNASIA.page_turns)
    if found is None:
        return HttpResponse(status=204)
    return render(request, "chat/_stretch.html", _shown(owned, found, newest))


def _shown(owned: Conversation, found: Stretch | None, newest: int) -> dict[str, Any]:
    found = found or Stretch([])
    return {
        "conversation": owned,
        "stretch": found,
        "turns": shown_all(found),
        "newest": newest,
        "socket": f"/ws/conversations/{owned.pk}/",
    }


def _wanted(request: HttpRequest) -> Wanted:
    """Which stretch an address asks for; one that asks for nothing that could be is that of the end."""
    if "all" in request.GET:
        return ALL
    ways: tuple[How, ...] = ("before", "after", "at", "from")
    for how in ways:
        if how in request.GET:
            try:
                return Wanted(how, UUID(request.GET[how]))
            except ValueError:
                return Wanted(how) if how == "from" and not request.GET[how] else LAST
    return LAST
