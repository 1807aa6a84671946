"""The composer of a page: what it sends where, which model it shows, and the text that it keeps after an error."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse

from chat.forms import AskForm
from chat.models import Conversation
from chat.replies import picker


@dataclass(frozen=True, slots=True)
class Composer:
    """What `_composer.html` shows."""

    action: str
    groups: list[picker.Group]
    chosen: str
    text: str = ""
    error: str = ""

    @property
    def max_files(self) -> int:
        return int(settings.GYMNASIA.max_files)


def compose(
    conversation: Conversation | None, *, text: str = "", model: str = "", error: str = ""
) -> Composer:
    """The composer of a conversation, or of a new one; its model is the one last asked, else the default."""
    groups = picker.groups()
    values = [choice.value for group in groups for choice in group.choices]
    last = f"{conversation.endpoint}:{conversation.model}" if conversation else ""
    chosen = next((value for value in (model, last) if value in values), values[0] if values else "")
    action = reverse("chat:conversation", args=[conversation.pk]) if conversation else reverse("chat:home")
    return Composer(action, groups, chosen, text, error)


def ask_form(request: HttpRequest, conversation: Conversation | None) -> AskForm:
    """The form that was sent, with the limits and choices of the moment."""
    composer = compose(conversation)
    return AskForm(
        request.POST,
        request.FILES.getlist("files"),
        max_chars=settings.GYMNASIA.max_message_chars,
        models=[choice.value for group in composer.groups for choice in group.choices],
        fallback=composer.chosen,
        max_files=settings.GYMNASIA.max_files,
    )


def sent_again(request: HttpRequest, conversation: Conversation | None, error: Any) -> Composer:
    """The composer after an error: the text is still there."""
    return compose(
        conversation,
        text=request.POST.get("text", "").replace("\x00", ""),
        model=request.POST.get("model", ""),
        error=str(error),
    )
