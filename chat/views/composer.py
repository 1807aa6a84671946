"""The composer of a page: what it sends where, which model it shows, and the text that it keeps after an error."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse

from chat import flows, tuning
from chat.forms import LENGTHS, TEMPERATURES, AskForm
from chat.models import Conversation, Preset
from chat.replies import picker

LIKES = tuning.Tuning()  # everything is left to the model


@dataclass(frozen=True, slots=True)
class Composer:
    """What `_composer.html` shows."""

    action: str
    groups: list[picker.Group]
    chosen: str
    text: str = ""
    error: str = ""
    tuned: tuning.Tuning = LIKES
    presets: Sequence[Preset] = ()

    @property
    def chosen_label(self) -> str:
        """What people call the model that is chosen."""
        choices = [choice for group in self.groups for choice in group.choices]
        return next((choice.label for choice in choices if choice.value == self.chosen), "")

    @property
    def max_files(self) -> int:
        return int(settings.GYMNASIA.max_files)

    @property
    def makes_plans(self) -> bool:
        """Whether this installation's flow has one for plans, and a model to make them."""
        has_flow = flows.plans_of(flows.current(settings.SYSTEM_PROMPT)) is not None
        # Without any model the button stands there, and is off, like Ask.
        return has_flow and (
            not self.groups or any(choice.plans for group in self.groups for choice in group.choices)
        )

    @property
    def temperatures(self) -> list[tuple[str, Any, bool]]:
        """Each choice: what is sent, what is read, whether it is the one."""
        return _marked(TEMPERATURES, self.tuned.temperature)

    @property
    def lengths(self) -> list[tuple[str, Any, bool]]:
        return _marked(LENGTHS, self.tuned.max_tokens)

    @property
    def is_tuned(self) -> bool:
        return any(each is not None for each in self.tuned)


def _marked(choices: Sequence[tuple[str, Any]], chosen: float | None) -> list[tuple[str, Any, bool]]:
    return [(value, label, (float(value) if value else None) == chosen) for value, label in choices]


def compose(
    request: HttpRequest,
    conversation: Conversation | None,
    *,
    text: str = "",
    model: str = "",
    error: str = "",
) -> Composer:
    """The composer of a conversation, or of a new one; its model is the one last asked, else the default."""
    groups = picker.groups()
    values = [choice.value for group in groups for choice in group.choices]
    last = f"{conversation.endpoint}:{conversation.model}" if conversation else ""
    chosen = next((value for value in (model, last) if value in values), values[0] if values else "")
    action = reverse("chat:conversation", args=[conversation.pk]) if conversation else reverse("chat:home")
    tuned = tuning.of(conversation) if conversation else tuning.Tuning()
    return Composer(action, groups, chosen, text, error, tuned, list(Preset.objects.offered_to(request.user)))


def ask_form(request: HttpRequest, conversation: Conversation | None) -> AskForm:
    """The form that was sent, with the limits and choices of the moment."""
    composer = compose(request, conversation)
    return AskForm(
        request.POST,
        request.FILES.getlist("files"),
        max_chars=settings.GYMNASIA.max_message_chars,
        models=[choice.value for group in composer.groups for choice in group.choices],
        fallback=composer.chosen,
        max_files=settings.GYMNASIA.max_files,
        presets=Preset.objects.offered_to(request.user),
    )


def sent_again(request: HttpRequest, conversation: Conversation | None, error: Any) -> Composer:
    """The composer after an error: the text is still there."""
    return compose(
        request,
        conversation,
        text=request.POST.get("text", "").replace("\x00", ""),
        model=request.POST.get("model", ""),
        error=str(error),
    )
