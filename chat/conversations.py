"""The verbs of a conversation, and how a page reads one."""

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.db.models import F

from chat import generations, launching
from chat.models import Checkpoint, Conversation, Generation, Message, MessageKind
from chat.streaming.outcome import Reason

TITLE_CHARS = 120


@dataclass(frozen=True, slots=True)
class Turn:
    """A person's message and every generation that tried to answer it, oldest first."""

    message: Message
    generations: list[Generation]


def transcript(conversation: Conversation) -> list[Turn]:
    """The active branch, oldest first, in two queries whatever its length."""
    rows = {m.pk: m for m in Message.objects.filter(conversation=conversation)}
    branch: list[Message] = []
    at = rows.get(conversation.head_id) if conversation.head_id else None
    while at is not None:
        if at.kind == MessageKind.USER:
            branch.append(at)
        at = rows.get(at.parent_id) if at.parent_id else None
    tries: dict[Any, list[Generation]] = {m.pk: [] for m in branch}
    related = Generation.objects.filter(conversation=conversation).select_related("message", "checkpoint")
    for generation in related.order_by("number"):
        if generation.parent_id in tries:
            tries[generation.parent_id].append(generation)
    return [Turn(message, tries[message.pk]) for message in reversed(branch)]


def rename(conversation: Conversation, title: str) -> None:
    """Give it a title; raises `Rejected` for an empty or overlong one."""
    title = " ".join(title.split())
    longest = TITLE_CHARS
    if not title or len(title) > longest or "\x00" in title:
        raise generations.Rejected(f"expected a title of 1 to {longest} characters; got {len(title)}")
    Conversation.objects.filter(pk=conversation.pk).update(title=title)


def delete(conversation: Conversation, *, by: AbstractBaseUser) -> None:
    """Delete it with its messages and drafts. An unfinished reply is cancelled in the same transaction; the rows of
    its generations survive, without text, for the audit."""
    with transaction.atomic():
        for running in Generation.objects.unfinished().filter(conversation=conversation):
            generations.cancel(running, by=by, reason=Reason.deleted)
        # A runner that is still winding down must not write a checkpoint of deleted text again.
        Generation.objects.filter(conversation=conversation).update(fence=F("fence") + 1)
        Checkpoint.objects.filter(generation__conversation=conversation).delete()
        launching.tell("closed", conversation.pk)
        conversation.delete()
