"""What a person may do with the versions of a conversation: edit, go on after a limit, go to another branch, take one away.

Takes messages and generations, gives rows, each verb in a transaction of its own. Nothing is overwritten: every verb but
`delete` adds a version beside the others. What is sent for a reply that goes on stands here too, for it is the one case in
which a model is shown a draft: its own, on a person's word, and for that reply alone.
"""

from collections.abc import Sequence
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction

from chat import attachments, generations, tree
from chat.flows import PLAN
from chat.generations import Rejected
from chat.models import Checkpoint, Conversation, Generation, Message, MessageKind
from chat.providers.base import Turn
from chat.states.generation import State
from chat.streaming.outcome import Reason
from chat.streaming.visible import is_visible

# Where the model would have gone on if it had been let: its draft is good as far as it goes.
LIMITS = {Reason.max_tokens, Reason.paused, Reason.continuation}
GO_ON = (
    "Go on exactly where your last message breaks off. Repeat nothing of it, and do not comment on the break."
)
MOST_PARTS = 20  # of one reply that was continued again and again


def edit_question(
    message: Message,
    *,
    user: AbstractBaseUser,
    text: str,
    session_key: str = "",
    endpoint: str = "",
    model: str = "",
) -> Generation:
    """Another version of a person's message, with the same files, and a generation for its reply. The old version stays,
    with everything that followed on it. Raises `Busy` and `Rejected`."""
    text = generations.said(text, at_most=settings.GYMNASIA.max_message_chars)
    with transaction.atomic():
        conversation = _held(message.conversation_id)
        generations.refuse_if_busy(conversation)
        old = _standing(message.pk)
        if old.kind != MessageKind.USER:
            raise Rejected(f"expected a person's message; got one of kind {old.kind}")
        new = Message.objects.create(
            conversation=conversation, parent_id=old.parent_id, kind=MessageKind.USER, text=text
        )
        attachments.copy(old, new)
        if endpoint and model:
            conversation.endpoint, conversation.model = endpoint, model
        conversation.save()
        tree.move_head(conversation, new.pk)
        session = generations.fingerprint(session_key)
        return generations.queue(conversation, new, user=user, session=session)


def edit_reply(text: str, *, message: Message | None = None, generation: Generation | None = None) -> Message:
    """A person's own version of a reply: of an answer or of an earlier version (`message`), or of a draft (`generation`).

    It stands beside the original, which stays as it was; it is never the model's. Raises `Rejected`, also for a draft that
    is still being written."""
    text = generations.said(text, at_most=settings.GYMNASIA.max_answer_chars)
    with transaction.atomic():
        if message is not None:
            conversation = _held(message.conversation_id)
            old = _standing(message.pk)
            if old.kind == MessageKind.USER or old.parent_id is None:
                raise Rejected("expected a reply; got a person's message")
            parent, based_on = old.parent_id, old.based_on_id or old.generation_id
        else:
            row = _row(generation)
            if row.conversation_id is None or row.parent_id is None:
                raise Rejected("expected a reply whose message still exists; it was deleted")
            if not row.is_final:
                raise Rejected("expected a reply that has ended; this one is being written")
            conversation = _held(row.conversation_id)
            parent, based_on = row.parent_id, row.pk
        own = Message.objects.create(
            conversation=conversation,
            parent_id=parent,
            kind=MessageKind.EDITED,
            text=text,
            based_on_id=based_on,
        )
        conversation.save(update_fields=["updated"])
        tree.move_head(conversation, own.pk)
        return own


def go_on(generation: Generation, *, user: AbstractBaseUser, session_key: str = "") -> Generation:
    """A new generation that goes on where this one came to a limit, by the same model. Raises `Busy`, and `Rejected` where
    there is nothing to go on from."""
    with transaction.atomic():
        row = _row(generation)
        if row.conversation_id is None or row.parent is None:
            raise Rejected("expected a reply whose message still exists; it was deleted")
        conversation = _held(row.conversation_id)
        generations.refuse_if_busy(conversation)
        if not can_go_on(row, _draft(row.pk)):
            raise Rejected(
                "expected a reply that came to a limit, with its draft; this one cannot be continued"
            )
        if conversation.head_id != row.parent_id:
            tree.move_head(conversation, row.parent_id)
        return generations.queue(
            conversation,
            row.parent,
            user=user,
            session=generations.fingerprint(session_key),
            continues=row,
            endpoint=row.endpoint,
            model=row.model,
        )


def can_go_on(row: Generation, draft: str) -> bool:
    """It came to a limit, and its draft is still kept. Two halves of an object are no object, so a plan is begun anew."""
    at_limit = row.state == State.incomplete and row.reason in LIMITS and row.flow != PLAN.name
    return at_limit and is_visible(draft)


def parts(row: Generation) -> list[Generation]:
    """The replies that this one goes on from, the first one first."""
    found: list[Generation] = []
    at = row.continues
    while at is not None and len(found) < MOST_PARTS and at not in found:
        found.append(at)
        at = at.continues
    return found[::-1]


def going_on(row: Generation) -> list[Turn]:
    """What is sent after the branch for a reply that goes on: the drafts so far as the model's own turn, then the request
    to go on. Nothing for every other reply."""
    text = so_far(row)
    return [Turn("assistant", text), Turn("user", GO_ON)] if is_visible(text) else []


def so_far(row: Generation) -> str:
    """The drafts that a reply goes on from, as one text."""
    return "".join(_draft(part.pk) for part in parts(row))


def _draft(generation_id: UUID) -> str:
    return Checkpoint.objects.filter(pk=generation_id).values_list("answer", flat=True).first() or ""


def switch(message: Message, *, unanswered: bool = False) -> Conversation:
    """Make the branch through this message the active one, as it was left. `unanswered` goes to a question as it stands
    without an answer. A reply that is being written goes on meanwhile, and lands where it belongs."""
    with transaction.atomic():
        conversation = _held(message.conversation_id)
        outline = tree.outline(conversation)
        if message.pk not in outline.nodes:
            raise Rejected("expected a branch that still exists; it was deleted")
        leaf = outline.leaf(message.pk, unanswered=unanswered)
        if leaf.pk != conversation.head_id:
            tree.move_head(conversation, leaf.pk)
        return conversation


def delete(message: Message, *, by: AbstractBaseUser) -> Conversation:
    """Take a version away with everything that follows on it; a reply that is being written for any of it is cancelled in
    the same transaction, in the name of `by`. The nearest other version becomes active, else what stands before."""
    with transaction.atomic():
        # Its generations first, as the runner does that ends one: whoever locks in another order may wait for ever.
        going = set(tree.outline(message.conversation).below(message.pk))
        for running in Generation.objects.unfinished().filter(parent_id__in=going):
            generations.cancel(running, by=by, reason=Reason.deleted)
        conversation = _held(message.conversation_id)
        outline = tree.outline(conversation)
        node = outline.nodes.get(message.pk)
        if node is None:
            raise Rejected("expected a version that still exists; it was deleted")
        gone = set(outline.below(message.pk))
        if conversation.head_id in gone:
            beside = outline.questions(node.parent) if node.is_question else outline.replies(node.parent)  # type: ignore[arg-type]
            tree.move_head(conversation, _nearest(outline, beside, node))
        Message.objects.get(pk=message.pk).delete()
        return conversation


def is_only(message: Message) -> bool:
    """Whether there is no other version of it."""
    beside = Message.objects.filter(conversation_id=message.conversation_id, parent_id=message.parent_id)
    same = (
        beside.filter(kind=MessageKind.USER)
        if message.kind == MessageKind.USER
        else beside.exclude(kind=MessageKind.USER)
    )
    return not same.exclude(pk=message.pk).exists()


def _nearest(outline: tree.Outline, beside: Sequence[tree.Node], node: tree.Node) -> UUID | None:
    others = [each for each in beside if each.pk != node.pk]
    if not others:
        return node.parent
    place = min(beside.index(node), len(others) - 1)
    return outline.leaf(others[place].pk).pk


def _held(conversation_id: UUID) -> Conversation:
    """The conversation's row, for this transaction alone."""
    row = Conversation.objects.standing().select_for_update().filter(pk=conversation_id).first()
    if row is None:
        raise Rejected("expected a conversation that still exists; it was deleted")
    return row


def _standing(message_id: UUID) -> Message:
    row = Message.objects.filter(pk=message_id).first()
    if row is None:
        raise Rejected("expected a message that still exists; it was deleted")
    return row


def _row(generation: Generation | None) -> Generation:
    if generation is None:
        raise Rejected("expected a message or a generation; got neither")
    row = Generation.objects.select_related("parent", "continues").filter(pk=generation.pk).first()
    if row is None:
        raise Rejected("expected a reply that still exists; it was deleted")
    return row
