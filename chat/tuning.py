"""How a conversation's models are asked, beyond what the flow says: its person's words, a preset, temperature and length.

Takes conversations; gives the flow with everything that was added to it, and the settings that a model takes. The words are
read when they are needed and kept nowhere else: a generation keeps their version and its settings.
"""

from typing import Any, NamedTuple

from django.conf import settings

from chat import catalogue, flows
from chat.models import Conversation, Preferences, Preset


class Tuning(NamedTuple):
    """What a person chose in the composer; None where the model may do as it likes."""

    preset: Preset | None = None
    temperature: float | None = None
    max_tokens: int | None = None


def tune(conversation: Conversation, tuning: Tuning) -> None:
    """From here on its models are asked so; the caller saves the row."""
    conversation.preset, conversation.temperature, conversation.max_tokens = tuning


def of(conversation: Conversation) -> Tuning:
    """How its models are asked."""
    return Tuning(conversation.preset, conversation.temperature, conversation.max_tokens)


def flow_of(conversation: Conversation, *, plan: bool = False) -> flows.Flow:
    """The installation's flow, or the one in which it makes plans, with what this conversation and its person add to it."""
    flow = flows.current(settings.SYSTEM_PROMPT, settings.MATERIAL)
    if plan:
        flow = flows.plans_of(flow) or flow
    preset = conversation.preset.text if conversation.preset else ""
    own = Preferences.objects.filter(user_id=conversation.user_id).values_list("instructions", flat=True)
    return flows.told(flow, preset=preset, instructions=own.first() or "")


def settings_of(conversation: Conversation, endpoint: str, model: str) -> dict[str, Any]:
    """The settings that a model is asked with: its endpoint's, then what the person chose and the model takes."""
    chosen = catalogue.defaults(endpoint)
    if conversation.max_tokens is not None:
        chosen["max_tokens"] = conversation.max_tokens
    if conversation.temperature is not None and catalogue.tunable(endpoint, model):
        chosen["temperature"] = conversation.temperature
    return chosen
