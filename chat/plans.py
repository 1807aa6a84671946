"""The verbs of training plans: keep one with its message, and find a person's own.

Takes a message that is being confirmed and the object that was validated; gives rows. Knows neither schema nor rules.
"""

from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractBaseUser
from django.db.models import Max

from chat.models import Conversation, Message, Plan
from chat.planning import SCHEMA_VERSION


def keep(message: Message, plan: dict[str, Any]) -> Plan:
    """The next version of its person's plan. Call it in the transaction in which the message is confirmed: there is never
    one without the other."""
    owner = message.conversation.user_id
    # Two conversations may end at once: the person's row is held, so that their versions are numbered one by one.
    get_user_model().objects.select_for_update().get(pk=owner)
    last = Plan.objects.filter(user_id=owner).aggregate(last=Max("version"))["last"] or 0
    return Plan.objects.create(
        user_id=owner,
        message=message,
        generation=message.generation,
        version=last + 1,
        title=plan["title"],
        data=plan,
        schema_version=SCHEMA_VERSION,
    )


def of(user: AbstractBaseUser) -> list[Plan]:
    """A person's plans, the latest first, with the conversations that they stand in."""
    standing = Conversation.objects.owned_by(user)
    rows = Plan.objects.filter(user_id=user.pk, message__conversation__in=standing)
    return list(rows.select_related("message__conversation"))
