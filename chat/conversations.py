"""The verbs of a conversation, and how a page reads one."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.db.models import F, Prefetch
from django.utils import timezone

from chat import generations, launching, search
from chat.models import Attachment, Checkpoint, Conversation, Generation, Message, MessageKind
from chat.models.generation import GenerationQuerySet
from chat.streaming.outcome import Reason
from chat.streaming.visible import is_visible

TITLE_CHARS = 120


@dataclass(frozen=True, slots=True)
class Turn:
    """A person's message and every generation that tried to answer it, oldest first."""

    message: Message
    generations: list[Generation]


def transcript(conversation: Conversation) -> list[Turn]:
    """The active branch, oldest first, in two queries whatever its length."""
    attached = Prefetch("attachments", Attachment.objects.defer("text", "data"))
    found = Message.objects.filter(conversation=conversation).prefetch_related(attached)
    rows = {m.pk: m for m in found}
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
    """Give it a title; raises `Rejected` for one that shows nothing or too much."""
    title = " ".join(title.split())
    longest = TITLE_CHARS
    if not is_visible(title) or len(title) > longest or "\x00" in title:
        raise generations.Rejected(f"expected a title of 1 to {longest} characters; got {len(title)}")
    Conversation.objects.filter(pk=conversation.pk).update(title=title)


def discard(conversation: Conversation, *, by: AbstractBaseUser) -> None:
    """Delete it so that `restore` can bring it back for a while: an unfinished reply is cancelled, nothing of it is found,
    shown or sent any more, all at once. `chat/retention.py` takes the rest away."""
    with transaction.atomic():
        gone = Conversation.objects.standing().filter(pk=conversation.pk).update(deleted=timezone.now())
        if gone:
            _cancel(Generation.objects.filter(conversation=conversation), by=by)
            search.remove(conversation_id=conversation.pk)
            launching.tell("closed", conversation.pk)


def restore(conversation: Conversation) -> bool:
    """Bring a discarded one back as it was, and let it be found; False where it stands, or is gone for good."""
    with transaction.atomic():
        lying = Conversation.objects.filter(pk=conversation.pk).exclude(deleted=None)
        if not lying.update(deleted=None):
            return False
        search.put_all(search.searchable().filter(conversation=conversation).select_related("conversation"))
    return True


def delete(conversation: Conversation, *, by: AbstractBaseUser | None) -> None:
    """Delete it for good, with its messages and drafts. An unfinished reply is cancelled in the same transaction, in the
    name of `by`; the rest is done by `let_go`, however a conversation comes to be deleted."""
    with transaction.atomic():
        _cancel(Generation.objects.filter(conversation=conversation), by=by)
        conversation.delete()


def let_go(conversation_id: UUID) -> None:
    """What goes with a conversation that is being deleted: by `delete`, with its person, by a query, in the admin or in a
    shell. The application calls it for each, in the transaction that deletes. The rows of its generations survive, without
    text, for the audit."""
    _let_go(Generation.objects.filter(conversation_id=conversation_id))
    # The reply that is being written may have been confirmed after the deletion had gathered its rows, and before it began:
    # nobody else would take that message along. There is at most one, and it is the newest.
    answers = Message.objects.filter(conversation_id=conversation_id, kind=MessageKind.ANSWER)
    Message.objects.filter(
        pk__in=list(answers.order_by("-created").values_list("pk", flat=True)[:1])
    ).delete()
    search.remove(conversation_id=conversation_id)
    launching.tell("closed", conversation_id)


def let_go_of_message(message_id: UUID) -> None:
    """The same for a message that is deleted out of a conversation that stays: nobody answers it any more."""
    _let_go(Generation.objects.filter(parent_id=message_id))
    search.remove(message_id=message_id)


def _let_go(rows: GenerationQuerySet) -> None:
    _cancel(rows, by=None)
    # A runner that is still winding down, here or in another process, must not write a checkpoint of deleted text again.
    rows.update(fence=F("fence") + 1)
    Checkpoint.objects.filter(generation__in=rows).delete()


def _cancel(rows: GenerationQuerySet, *, by: AbstractBaseUser | None) -> None:
    for running in rows.unfinished():
        generations.cancel(running, by=by, reason=Reason.deleted)
