"""Showing a branch of a conversation to whoever has its link: messages and nothing else, as it was when the link was made.

Takes a person's conversation, gives links and what they show. No draft, no reasoning, no file, no name of anybody.
"""

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.utils import timezone

from chat import exporting
from chat.generations import Rejected
from chat.models import Conversation, Message, MessageKind, Origin, SharedLink
from chat.states.generation import State


def share(conversation: Conversation, *, by: AbstractBaseUser) -> SharedLink:
    """The link to the branch as it is now, up to its last answer: made now, unless there is one that leads to just that; a
    double click makes one. Raises `Rejected` where there is no answer yet."""
    with transaction.atomic():
        # Of two at once the second waits for the first, and finds its link.
        held = Conversation.objects.standing().select_for_update().filter(pk=conversation.pk).first()
        path = exporting.branch(held) if held is not None else []
        while path and path[-1].kind == MessageKind.USER:
            path.pop()  # a question that waits for its answer, or was given up
        if held is None or not path:
            raise Rejected("expected a conversation with an answer; there is none yet")
        state = {"conversation": held, "head": path[-1], "title": held.title}
        there = SharedLink.objects.owned_by(by).open().filter(**state).first()
        return there or SharedLink.objects.create(user_id=by.pk, **state)


def revoke(link: SharedLink) -> None:
    """From now on it leads nowhere."""
    SharedLink.objects.filter(pk=link.pk, revoked=None).update(revoked=timezone.now())


def messages(link: SharedLink) -> list[Message]:
    """What is shown, oldest first: what was said by people, and answers that were confirmed or are marked as imported."""
    return [each for each in exporting.branch(link.conversation, link.head) if _may_be_shown(each)]


def _may_be_shown(message: Message) -> bool:
    if message.kind != MessageKind.ANSWER or message.origin != Origin.HERE:
        return True
    return message.generation is not None and message.generation.state == State.confirmed
