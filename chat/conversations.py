"""The verbs of a conversation, and how a page reads one."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from chat import generations, launching, search, toolcalls, tree, windows
from chat.models import Checkpoint, Conversation, Generation, Message, MessageKind
from chat.models.generation import GenerationQuerySet
from chat.states.generation import State
from chat.streaming.outcome import Reason
from chat.streaming.visible import is_visible
from chat.windows import ALL, LAST, Wanted

TITLE_CHARS = 120
MOST_READS = 5  # of a conversation that goes on faster than it can be read


@dataclass(frozen=True, slots=True)
class Versions:
    """The versions of a message, or of its reply, in the order in which they came, and which of them is shown. None among
    the replies is the message without an answer: as it is while one is being written, or when none came about."""

    all: tuple[UUID | None, ...]
    shown: UUID | None


@dataclass(frozen=True, slots=True)
class Turn:
    """A person's message and every generation that tried to answer it, oldest first. `reply` is the answer that is on the
    active branch, or what its person made of it; None while there is none. `again` is set where nothing is left of any try:
    it can be asked once more."""

    message: Message
    generations: list[Generation]
    reply: Message | None = None
    questions: Versions | None = None
    replies: Versions | None = None
    again: Generation | None = None

    @property
    def open_generations(self) -> list[Generation]:
        """Those that did not become an answer, or not yet."""
        return [each for each in self.generations if each.state != State.confirmed]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Turns of the active branch, oldest first: those that a page shows. `follows` is the message of the turn before the
    first one, `earlier` and `later` are where the branch goes on on either side, if it does."""

    turns: list[Turn]
    follows: UUID | None = None
    earlier: UUID | None = None
    later: UUID | None = None
    is_end: bool = True


def transcript(conversation: Conversation) -> list[Turn]:
    """The whole active branch, oldest first."""
    found = read(conversation, ALL)
    return found.turns if found else []


def read(conversation: Conversation, wanted: Wanted = LAST, *, size: int = 0) -> Stretch | None:
    """A stretch of the active branch of at most `size` turns, in five queries whatever its length and that of the branch;
    None where what is wanted is not on it.

    A reply that is confirmed between two of them would be neither open any more nor on the branch yet, and stand nowhere.
    The head moves in the transaction that confirms: where it has moved meanwhile, all is read again."""
    found = None
    for _ in range(MOST_READS):
        found = _read(conversation, wanted, size)
        heads = Conversation.objects.filter(pk=conversation.pk).values_list("head_id", flat=True)
        head = heads.first()
        if head == conversation.head_id:
            break
        conversation.head_id = head
    return found


def _read(conversation: Conversation, wanted: Wanted, size: int) -> Stretch | None:
    outline = tree.outline(conversation)
    window = windows.window(outline, conversation.head_id, wanted, size=size)
    if window is None:
        return None
    messages = tree.messages(window.nodes)
    said = [message for message in messages if message.kind == MessageKind.USER]
    replies = {message.parent_id: message for message in messages if message.kind != MessageKind.USER}
    tries: dict[Any, dict[UUID, Generation]] = {m.pk: {} for m in said}
    related = Generation.objects.filter(conversation=conversation).select_related("checkpoint")
    if wanted.how != "all":
        related = related.filter(parent_id__in=list(tries))
    for generation in related.order_by("number"):
        if generation.parent_id in tries:
            tries[generation.parent_id][generation.pk] = generation
    turns = []
    for message in said:
        reply, found = replies.get(message.pk), tries[message.pk]
        for generation in found.values():
            if generation.continues_id in found:
                generation.continues = found[generation.continues_id]
        if reply is not None and reply.generation_id in found:
            reply.generation = found[reply.generation_id]  # and so the generation has its message at hand
        turns.append(_turn(outline, message, list(found.values()), reply))
    return Stretch(turns, window.follows, window.earlier, window.later, window.is_end)


def _turn(
    outline: tree.Outline, message: Message, generations: list[Generation], reply: Message | None
) -> Turn:
    versions = Versions(tuple(node.pk for node in outline.questions(message.parent_id)), message.pk)
    nodes = outline.replies(message.pk)
    # An answer that was taken away leaves its generation behind, for the audit.
    kept = {node.generation for node in nodes}
    standing = [row for row in generations if row.state != State.confirmed or row.pk in kept]
    shown = Versions(_replies(outline, message, standing, reply), reply.pk if reply else None)
    again = generations[-1] if generations and not standing and reply is None else None
    return Turn(message, standing, reply, versions, shown, again)


def _replies(
    outline: tree.Outline, message: Message, standing: list[Generation], reply: Message | None
) -> tuple[UUID | None, ...]:
    """Without an answer is a version of its own where that is how it stands now, where it is the newest try, or where the
    person went on from there."""
    nodes = outline.replies(message.pk)
    newest = standing[-1] if standing else None
    is_open = newest is not None and newest.state != State.confirmed
    if reply is not None and not is_open and not outline.questions(message.pk):
        return tuple(node.pk for node in nodes)
    since = newest.created if newest is not None and is_open else message.created
    before = [node.pk for node in nodes if node.created <= since]
    after = [node.pk for node in nodes if node.created > since]
    return (*before, None, *after)


def rename(conversation: Conversation, title: str) -> None:
    """Give it a title; raises `Rejected` for one that shows nothing or too much."""
    title = " ".join(title.split())
    longest = TITLE_CHARS
    if not is_visible(title) or len(title) > longest or "\x00" in title:
        raise generations.Rejected(f"expected a title of 1 to {longest} characters; got {len(title)}")
    Conversation.objects.filter(pk=conversation.pk).update(title=title, named=True)


def pin(conversation: Conversation, *, on: bool) -> None:
    """Keep it at the top of the list, out of the archive; or no longer."""
    changes = {"pinned": timezone.now(), "archived": None} if on else {"pinned": None}
    Conversation.objects.filter(pk=conversation.pk).update(**changes)


def archive(conversation: Conversation, *, on: bool) -> None:
    """Put it out of the way, into a list of its own; it is found as before. Or take it back."""
    changes = {"archived": timezone.now(), "pinned": None} if on else {"archived": None}
    Conversation.objects.filter(pk=conversation.pk).update(**changes)


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
    toolcalls.forget(rows)


def _cancel(rows: GenerationQuerySet, *, by: AbstractBaseUser | None) -> None:
    for running in rows.unfinished():
        generations.cancel(running, by=by, reason=Reason.deleted)
