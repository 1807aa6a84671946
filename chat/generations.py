"""What people and the clock may do to a generation: ask for one, ask again, stop it; end what is lost or overdue.

Verbs take rows and give rows or answers, each in a transaction of its own; they know no network and no browser. What a
runner may do stands in `running.py`. Synchronous on purpose: transactions have no other form.
"""

import datetime as dt
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.crypto import salted_hmac

from chat import attachments, gating, journal, pace, tree, tuning
from chat.journal import Fired
from chat.launching import tell
from chat.models import Conversation, Generation, Message, MessageKind
from chat.planning import wants_plan
from chat.states.generation import State, Trigger
from chat.streaming.outcome import Reason
from chat.streaming.visible import is_visible

TITLE_CHARS = 60


class Busy(Exception):
    """A reply is being written in this conversation: `generation` is its row."""

    def __init__(self, generation: Generation) -> None:
        super().__init__("a reply is being written in this conversation")
        self.generation = generation


class Rejected(ValueError):
    """What was asked cannot be done; the text says what was expected and what came."""


# --- Beginning ------------------------------------------------------------------------------------------------------
def send(
    *,
    user: AbstractBaseUser,
    text: str,
    endpoint: str,
    model: str,
    conversation: Conversation | None = None,
    session_key: str = "",
    files: Sequence[attachments.Upload] = (),
    tuned: tuning.Tuning | None = None,
    plan: bool = False,
    after: UUID | None = None,
) -> Generation:
    """Keep a person's message with its files and queue a generation for its reply; all or nothing.

    `after` is the last message that the person saw: where the conversation has gone to another branch meanwhile, theirs
    goes on, and becomes the active one. Raises `Busy` where a reply is being written, `Rejected` where the text shows
    nothing or is too long, or the branch is gone.
    """
    text = said(text, at_most=settings.GYMNASIA.max_message_chars)
    with transaction.atomic():
        if conversation is None:
            conversation = Conversation.objects.create(
                user_id=user.pk, title=title_of(text), endpoint=endpoint, model=model
            )
            after = None  # the page was of a conversation that is gone
        else:
            conversation = Conversation.objects.select_for_update().get(pk=conversation.pk)
            if conversation.deleted is not None:
                raise Rejected("expected a conversation that stands; it was deleted")
            refuse_if_busy(conversation)
            conversation.endpoint, conversation.model = endpoint, model
        if tuned is not None:
            tuning.tune(conversation, tuned)
        message = Message.objects.create(
            conversation=conversation,
            parent_id=_end_of_branch(conversation, after),
            kind=MessageKind.USER,
            text=text,
        )
        attachments.keep(message, files)
        conversation.save()
        tree.move_head(conversation, message.pk)
        return queue(conversation, message, user=user, session=fingerprint(session_key), plan=plan)


def _end_of_branch(conversation: Conversation, after: UUID | None) -> UUID | None:
    """Where a message goes: to the end of the active branch, or of the one that its person was looking at."""
    if after is None or after == conversation.head_id:
        return conversation.head_id
    outline = tree.outline(conversation)
    if after not in outline.nodes:
        raise Rejected("expected a branch that still exists; it was deleted")
    if any(node.pk == after for node in outline.path(conversation.head_id)):
        return conversation.head_id
    return outline.leaf(after).pk


def said(text: str, *, at_most: int) -> str:
    """A text as it is kept: one kind of line end, no blank edges. Raises `Rejected` for one that cannot be."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    if not is_visible(text):
        raise Rejected("expected a message with text in it; got none")
    if "\x00" in text:
        raise Rejected("expected a message of printable characters; got a NUL character")
    if len(text) > at_most:
        raise Rejected(f"expected a message of at most {at_most} characters; got {len(text)}")
    return text


def retry(
    generation: Generation,
    *,
    user: AbstractBaseUser,
    session_key: str = "",
    endpoint: str = "",
    model: str = "",
) -> Generation:
    """A new generation for the same message, asked for by a person: a next attempt where the last one did not become an
    answer, another answer beside the one that there is. Its branch becomes the active one, and what followed on the old
    reply stays with that. Raises `Busy`, and `Rejected` where the message is gone."""
    with transaction.atomic():
        old = Generation.objects.select_related("conversation", "parent", "continues").get(pk=generation.pk)
        if old.conversation is None or old.parent is None:
            raise Rejected("expected a reply whose message still exists; it was deleted")
        conversation = Conversation.objects.select_for_update().get(pk=old.conversation.pk)
        if conversation.deleted is not None:
            raise Rejected("expected a conversation that stands; it was deleted")
        refuse_if_busy(conversation)
        if conversation.head_id != old.parent_id:
            tree.move_head(conversation, old.parent_id)
        confirmed = old.state == State.confirmed
        return queue(
            conversation,
            old.parent,
            user=user,
            session=fingerprint(session_key),
            retry_of=None if confirmed else old,
            continues=None if confirmed else old.continues,
            endpoint=endpoint or conversation.endpoint,
            model=model or conversation.model,
        )


def refuse_if_busy(conversation: Conversation) -> None:
    running = Generation.objects.unfinished().filter(conversation=conversation).first()
    if running is not None:
        raise Busy(running)


def fingerprint(session_key: str) -> str:
    """What tells two sessions of a person apart, and opens none."""
    return salted_hmac("chat.generation.session", session_key).hexdigest() if session_key else ""


def title_of(text: str) -> str:
    """The first line that shows anything, shortened at a word."""
    first = next((line for line in text.split("\n") if is_visible(line)), "")
    line = " ".join(first.split())
    if len(line) <= TITLE_CHARS:
        return line
    return line[:TITLE_CHARS].rsplit(" ", 1)[0].rstrip(",;:.") + "…"


def queue(
    conversation: Conversation,
    message: Message,
    *,
    user: AbstractBaseUser | None,
    session: str,
    retry_of: Generation | None = None,
    continues: Generation | None = None,
    automatic: bool = False,
    endpoint: str = "",
    model: str = "",
    plan: bool = False,
) -> Generation:
    """A new queued generation for `message`; the engines are told. Call it in the transaction that makes its reason. Raises
    `pace.TooFast` where the person has asked too often.

    It is for a plan where `plan` says so, where the message asks for one, and where it was asked for one before."""
    if user is not None and not automatic:
        pace.check(user)
    plan = plan or wants_plan(message.text) or Generation.objects.filter(parent=message, flow="plan").exists()
    flow = tuning.flow_of(conversation, plan=plan)
    endpoint, model = endpoint or conversation.endpoint, model or conversation.model
    chosen = gating.choose(flow, message, endpoint, model)
    last = Generation.objects.filter(conversation=conversation).aggregate(last=Max("number"))["last"] or 0
    try:
        with transaction.atomic():
            generation = Generation.objects.create(
                conversation=conversation,
                number=last + 1,
                user_id=user.pk if user else None,
                session=session,
                parent=message,
                settings=tuning.settings_of(conversation, endpoint, model),
                flow=flow.name,
                gate=chosen.gate,
                gate_rule=chosen.rule,
                prompt_version=flow.prompt_version,
                endpoint=endpoint,
                model=model,
                attempt=retry_of.attempt + 1 if retry_of else 1,
                automatic_retries=retry_of.automatic_retries + 1 if retry_of and automatic else 0,
                retry_of=retry_of,
                continues=continues,
            )
    except IntegrityError:  # two sends at once: the database's own wall
        refuse_if_busy(conversation)
        raise
    tell("launch", generation)
    return generation


# --- Ending from outside --------------------------------------------------------------------------------------------
def cancel(generation: Generation, *, by: AbstractBaseUser | None, reason: Reason = Reason.cancelled) -> bool:
    """Stop it: True when it, or the generation that followed it by itself, is `cancelled` now. False: all had ended before,
    and that end stands."""
    at = timezone.now()
    with transaction.atomic():
        row = Generation.objects.select_for_update().filter(pk=generation.pk).first()
        if row is None:
            return False
        fired = journal.fire(
            row,
            Trigger.cancel,
            seen=row.state,
            actor=f"user:{by.pk}" if by else "system",
            reason=reason,
            ended_at=at,
            cancelled_by_id=by.pk if by else None,
            cancel_requested_at=at,
        )
        if fired is Fired.MOVED:
            tell("stop", row)
    if fired is not Fired.LATE:
        return fired is Fired.MOVED
    # Who pressed Stop in the moment of a lost connection wants no second attempt either.
    following = Generation.objects.unfinished().filter(retry_of=row, automatic_retries__gt=0).first()
    return following is not None and cancel(following, by=by, reason=reason)


@dataclass(frozen=True, slots=True)
class Swept:
    """What a sweep found: generations that it ended, and ones that nobody runs and somebody could."""

    ended: list[Generation]
    orphans: list[Generation]


def sweep(*, running_here: Collection[UUID] = ()) -> Swept:
    """End what is overdue, lost its runner or belongs to a person who was deactivated, whoever's browser is open; the fence
    moves, so a woken runner loses.

    What the sweeping process runs itself has not lost its runner, however old its lease is: a database that was locked,
    a machine that slept or a clock that jumped must not cost a reply.
    """
    for row in Generation.objects.unfinished().filter(user__is_active=False):
        cancel(row, by=None)
    now = timezone.now()
    overdue = now - dt.timedelta(seconds=settings.GYMNASIA.deadline_s)
    too_old_to_resume = now - dt.timedelta(seconds=settings.GYMNASIA.resume_window_s)
    late = Generation.objects.unfinished().filter(created__lt=overdue)
    ended = [row for row in late if _end_from_outside(row, Trigger.deadline, Reason.deadline, now)]
    orphans = []
    unled = Generation.objects.unfinished().filter(created__gte=overdue).leaseless(now)
    for row in unled.exclude(pk__in=running_here):
        opened = row.state != State.queued
        if opened and not row.provider_response_id:
            trigger, reason = Trigger.ended_short, Reason.worker_lost
        elif opened and (row.created < too_old_to_resume or row.state == State.assembled):
            trigger, reason = Trigger.deadline, Reason.deadline
        else:
            if row.conversation_id is not None:
                orphans.append(row)
            continue
        if _end_from_outside(row, trigger, reason, now):
            ended.append(row)
    return Swept(ended, orphans)


def _end_from_outside(row: Generation, trigger: Trigger, reason: Reason, now: dt.datetime) -> bool:
    fired = journal.fire(
        row,
        trigger,
        seen=row.state,
        actor="reaper",
        reason=reason,
        fence=row.fence,
        supersede=True,
        ended_at=now,
    )
    return fired is Fired.MOVED
