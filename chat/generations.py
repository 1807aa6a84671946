"""The verbs of a generation: everything that may happen to one, each in a transaction of its own.

They take rows and give rows or answers; they know no network and no browser. What runs a generation registers itself with
`register_engine`; verbs call it after their commit. Synchronous on purpose: transactions have no other form.
"""

import copy
import datetime as dt
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.db import IntegrityError, transaction
from django.db.models import F, Max
from django.utils import timezone

from chat import drafts, flows, journal
from chat.journal import Fired
from chat.models import Checkpoint, Conversation, Generation, Message, MessageKind
from chat.providers.base import Prompt, Turn
from chat.states.generation import OUTCOME_TRIGGER, State, Trigger
from chat.streaming.frames import Snapshot
from chat.streaming.outcome import Reason
from chat.streaming.reading import Reading
from chat.validation import run_checks

TITLE_CHARS = 60


class Busy(Exception):
    """A reply is being written in this conversation: `generation` is its row."""

    def __init__(self, generation: Generation) -> None:
        super().__init__("a reply is being written in this conversation")
        self.generation = generation


class Rejected(ValueError):
    """What was asked cannot be done; the text says what was expected and what came."""


class Engine(Protocol):
    """What runs generations. Called after the commit, from any thread."""

    def launch(self, generation: Generation) -> None:
        """Run it, unless somebody does already."""

    def stop(self, generation: Generation) -> None:
        """It was ended by a person: let go of the provider, and tell the pages."""

    def closed(self, conversation_id: UUID) -> None:
        """The conversation is gone: send its pages away."""


_engines: list[Engine] = []


def register_engine(engine: Engine) -> None:
    """From now on `engine` is told. Without one the reaper of the next process launches what is queued."""
    _engines.append(engine)


def unregister_engine(engine: Engine) -> None:
    _engines.remove(engine)


def tell(verb: str, *args: Any) -> None:
    """Call `verb` of each engine once the transaction is committed."""
    for engine in _engines:
        transaction.on_commit(lambda engine=engine: getattr(engine, verb)(*args))  # type: ignore[misc]


# --- Beginning ------------------------------------------------------------------------------------------------------
def send(
    *,
    user: AbstractBaseUser,
    text: str,
    endpoint: str,
    model: str,
    conversation: Conversation | None = None,
    session_key: str = "",
) -> Generation:
    """Keep a person's message and queue a generation for its reply; both or neither.

    Raises `Busy` where a reply is being written, `Rejected` where the text is empty or too long.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    longest = settings.GYMNASIA.max_message_chars
    if not text or "\x00" in text:
        raise Rejected("expected a message with text in it; got none" if not text else "got a NUL character")
    if len(text) > longest:
        raise Rejected(f"expected a message of at most {longest} characters; got {len(text)}")
    with transaction.atomic():
        if conversation is None:
            conversation = Conversation.objects.create(
                user_id=user.pk, title=title_of(text), endpoint=endpoint, model=model
            )
        else:
            conversation = Conversation.objects.select_for_update().get(pk=conversation.pk)
            refuse_if_busy(conversation)
            conversation.endpoint, conversation.model = endpoint, model
        message = Message.objects.create(
            conversation=conversation, parent=conversation.head, kind=MessageKind.USER, text=text
        )
        conversation.head = message
        conversation.save()
        return _queue(conversation, message, user=user, session_key=session_key)


def retry(
    generation: Generation,
    *,
    user: AbstractBaseUser,
    session_key: str = "",
    endpoint: str = "",
    model: str = "",
) -> Generation:
    """A new generation for the same message, asked for by a person. Raises `Busy` and `Rejected` as `send` does."""
    with transaction.atomic():
        old = Generation.objects.select_related("conversation", "parent").get(pk=generation.pk)
        if old.conversation is None or old.parent is None:
            raise Rejected("expected a reply whose message still exists; it was deleted")
        conversation = Conversation.objects.select_for_update().get(pk=old.conversation.pk)
        refuse_if_busy(conversation)
        if old.state == State.confirmed:
            raise Rejected("expected a reply that did not end well; this one is confirmed")
        if conversation.head_id != old.parent_id:
            raise Rejected("expected the last message of the conversation; it has gone on since")
        return _queue(
            conversation,
            old.parent,
            user=user,
            session_key=session_key,
            retry_of=old,
            endpoint=endpoint or conversation.endpoint,
            model=model or conversation.model,
        )


def refuse_if_busy(conversation: Conversation) -> None:
    running = Generation.objects.unfinished().filter(conversation=conversation).first()
    if running is not None:
        raise Busy(running)


def title_of(text: str) -> str:
    """The first line, shortened at a word."""
    line = " ".join(text.split("\n", 1)[0].split())
    if len(line) <= TITLE_CHARS:
        return line
    return line[:TITLE_CHARS].rsplit(" ", 1)[0].rstrip(",;:.") + "…"


def _queue(
    conversation: Conversation,
    message: Message,
    *,
    user: AbstractBaseUser | None,
    session_key: str,
    retry_of: Generation | None = None,
    automatic: bool = False,
    endpoint: str = "",
    model: str = "",
) -> Generation:
    flow = flows.current(settings.SYSTEM_PROMPT)
    last = Generation.objects.filter(conversation=conversation).aggregate(last=Max("number"))["last"] or 0
    try:
        with transaction.atomic():
            generation = Generation.objects.create(
                conversation=conversation,
                number=last + 1,
                user_id=user.pk if user else None,
                session_key=session_key,
                parent=message,
                flow=flow.name,
                prompt_version=flow.prompt_version,
                endpoint=endpoint or conversation.endpoint,
                model=model or conversation.model,
                attempt=retry_of.attempt + 1 if retry_of else 1,
                automatic_retries=retry_of.automatic_retries + 1 if retry_of and automatic else 0,
                retry_of=retry_of,
            )
    except IntegrityError:  # two sends at once: the database's own wall
        refuse_if_busy(conversation)
        raise
    tell("launch", generation)
    return generation


# --- Running --------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Job:
    """What a runner needs: the row as it was claimed, with its fence, and the prompt. Holds no draft."""

    generation: Generation
    conversation_id: UUID
    prompt: Prompt
    flow: flows.Flow


def claim(generation_id: UUID, *, owner: str) -> Job | None:
    """Take the lease of a queued generation that nobody runs; None where someone else did, or it has moved on."""
    now = timezone.now()
    with transaction.atomic():
        free = Generation.objects.filter(pk=generation_id, state=str(State.queued)).leaseless(now)
        taken = free.update(owner=owner, fence=F("fence") + 1, lease_until=lease_end(now))
        if not taken:
            return None
        row = Generation.objects.select_related("conversation", "parent").get(pk=generation_id)
    if row.conversation is None or row.parent is None:
        return None
    flow = flows.current(settings.SYSTEM_PROMPT)
    prompt = Prompt(system=flow.system_prompt, turns=history(row.parent), settings=row.settings)
    return Job(row, row.conversation.pk, prompt, flow)


def history(last: Message) -> list[Turn]:
    """The branch that ends in `last`, oldest first: messages only, so nothing that was not confirmed."""
    rows = {m.pk: m for m in Message.objects.filter(conversation_id=last.conversation_id)}
    turns: list[Turn] = []
    at: Message | None = last
    while at is not None:
        turns.append(Turn(role="user" if at.kind == MessageKind.USER else "assistant", text=at.text))
        at = rows.get(at.parent_id) if at.parent_id else None
    return turns[::-1]


def lease_end(now: dt.datetime) -> dt.datetime:
    return now + dt.timedelta(seconds=settings.GYMNASIA.lease_s)


def opened(job: Job, *, wire: str, requests: int) -> Fired:
    """The provider answered 2xx: from here on the request is never sent again."""
    row = job.generation
    return journal.fire(
        row,
        Trigger.opened,
        seen=str(State.queued),
        actor=row.owner,
        fence=row.fence,
        opened_at=timezone.now(),
        wire=wire,
        requests=requests,
    )


def first_delta(job: Job, *, first_event_at: dt.datetime, first_text_at: dt.datetime) -> Fired:
    """The first delta of any part came."""
    row = job.generation
    return journal.fire(
        row,
        Trigger.first_delta,
        seen=row.state,
        actor=row.owner,
        fence=row.fence,
        first_event_at=first_event_at,
        first_text_at=first_text_at,
    )


@dataclass(frozen=True, slots=True)
class Ended:
    """How a generation stands after its end: its row, and the generation that follows by itself, if any."""

    generation: Generation
    successor: Generation | None = None


def end(job: Job, reading: Reading, text: Snapshot) -> Ended:
    """Map the reading's outcome to a trigger and fire it; a whole one is validated and confirmed with its message.

    One transaction: nobody ever sees `validated` alone, and a message exists if and only if its generation is confirmed.
    Where someone else ended the row first, that end stands.
    """
    # A copy: where this transaction is rolled back, the job's own row must still say what is stored, or the runner's
    # next attempt would not fit it.
    row, at = copy.copy(job.generation), timezone.now()
    trigger = OUTCOME_TRIGGER[reading.outcome]
    if trigger is None:
        raise ValueError("an open reading ends nothing: the lease is kept")
    if row.state == State.queued and trigger is Trigger.ended_short:
        trigger = Trigger.error  # nothing was opened: there is no stream that could have been cut short
    facts = _facts(reading)
    with transaction.atomic():
        if trigger is Trigger.ended_whole:
            fired = _confirm(row, reading, facts, at)
        else:
            fired = journal.fire(
                row,
                trigger,
                seen=row.state,
                actor=row.owner,
                fence=row.fence,
                reason=reading.reason,
                detail=reading.detail,
                ended_at=at,
                retryable=reading.retryable,
                **facts,
            )
        confirmed = fired is Fired.MOVED and row.state == State.confirmed
        if not confirmed:
            drafts.save([drafts.Save(row.pk, row.fence, text)])
        successor = None
        if fired is Fired.MOVED:
            successor = _follow(row)
        current = Generation.objects.filter(pk=row.pk).first() or row
    return Ended(current, successor)


def wind_down(job: Job, reading: Reading, text: Snapshot) -> Ended:
    """Hand in what a runner still knows of a generation that someone else has ended: what was shown, and what the
    provider told. With a stale fence it hands in nothing."""
    row = job.generation
    with transaction.atomic():
        Generation.objects.filter(pk=row.pk, fence=row.fence).update(**_facts(reading))
        drafts.save([drafts.Save(row.pk, row.fence, text)])
        return Ended(Generation.objects.filter(pk=row.pk).first() or row)


def _facts(reading: Reading) -> dict[str, Any]:
    """What the provider told about itself, whatever the end. The last usage wins; it is partial where cut short."""
    usage = reading.usage
    return {
        "provider_response_id": (reading.response_id or "")[:200],
        "provider_reason": (reading.provider_reason or "")[:200],
        "last_event": (reading.last_event or "")[:200],
        "usage_input": usage.input if usage else None,
        "usage_output": usage.output if usage else None,
        "usage_reasoning": usage.reasoning if usage else None,
        "usage_cached_input": usage.cached_input if usage else None,
    }


def _confirm(row: Generation, reading: Reading, facts: dict[str, Any], at: dt.datetime) -> Fired:
    if row.conversation is None:
        raise ValueError("a claimed generation has a conversation")
    fired = journal.fire(row, Trigger.ended_whole, seen=row.state, actor=row.owner, fence=row.fence, **facts)
    if fired is not Fired.MOVED:
        return fired
    checks = run_checks(reading, tools_offered=False, max_answer_chars=settings.GYMNASIA.max_answer_chars)
    verdicts = [{"check": check.name, "passed": check.passed} for check in checks]
    failed = next((check for check in checks if not check.passed), None)
    if failed is not None:
        return journal.fire(
            row,
            Trigger.rejected,
            seen=row.state,
            actor=row.owner,
            fence=row.fence,
            reason=failed.reason,
            detail=reading.divergence or f"check {failed.name} said no",
            ended_at=at,
            checks=verdicts,
        )
    journal.fire(
        row,
        Trigger.checks_passed,
        seen=row.state,
        actor=row.owner,
        fence=row.fence,
        validated_at=at,
        checks=verdicts,
    )
    message = Message.objects.create(
        conversation=row.conversation,
        parent=row.parent,
        kind=MessageKind.ANSWER,
        text=reading.answer,
        reasoning=reading.reasoning,
        generation=row,
    )
    Conversation.objects.filter(pk=message.conversation_id).update(head=message, updated=at)
    Checkpoint.objects.filter(pk=row.pk).delete()
    return journal.fire(
        row,
        Trigger.committed,
        seen=row.state,
        actor=row.owner,
        fence=row.fence,
        ended_at=at,
        confirmed_at=at,
    )


def _follow(row: Generation) -> Generation | None:
    """A new generation by itself, where the fault was the line's or the provider's and came after the opening."""
    transient = (row.state == State.failed and row.retryable) or row.reason == Reason.connection_lost
    if not transient or row.opened_at is None or row.conversation is None or row.parent is None:
        return None
    if row.automatic_retries >= settings.GYMNASIA.automatic_retries:
        return None
    if not Conversation.objects.filter(pk=row.conversation.pk, head=row.parent).exists():
        return None
    return _queue(
        row.conversation,
        row.parent,
        user=row.user,
        session_key=row.session_key,
        retry_of=row,
        automatic=True,
        endpoint=row.endpoint,
        model=row.model,
    )


# --- Ending from outside --------------------------------------------------------------------------------------------
def cancel(generation: Generation, *, by: AbstractBaseUser | None, reason: Reason = Reason.cancelled) -> bool:
    """Stop it: the state is `cancelled` when this returns True. False: it had ended before, and that end stands."""
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
    return fired is Fired.MOVED


def release(job: Job) -> None:
    """Give a queued generation back, unharmed: another process, or the next one, runs it."""
    row = job.generation
    Generation.objects.filter(pk=row.pk, state=str(State.queued), fence=row.fence).update(
        lease_until=None, owner="", fence=F("fence") + 1
    )


def renew(owner: str) -> set[UUID]:
    """Prolong every lease of `owner` that has not run out; gives the ids that it still holds."""
    now = timezone.now()
    held = Generation.objects.unfinished().filter(owner=owner, lease_until__gte=now)
    held.update(lease_until=lease_end(now))
    return set(held.values_list("pk", flat=True))


@dataclass(frozen=True, slots=True)
class Swept:
    """What a sweep found: generations that it ended, and queued ones that nobody runs."""

    ended: list[Generation]
    orphans: list[Generation]


def sweep() -> Swept:
    """End what is overdue or lost its runner, whoever's browser is open; the fence moves, so a woken runner loses."""
    now = timezone.now()
    overdue = now - dt.timedelta(seconds=settings.GYMNASIA.deadline_s)
    late = Generation.objects.unfinished().filter(created__lt=overdue)
    lost = Generation.objects.unfinished().leaseless(now).exclude(state=str(State.queued))
    ended = [row for row in late if _end_from_outside(row, Trigger.deadline, Reason.deadline, now)]
    ended += [
        row
        for row in lost.filter(created__gte=overdue)
        if _end_from_outside(row, Trigger.ended_short, Reason.worker_lost, now)
    ]
    orphans = Generation.objects.filter(state=str(State.queued), created__gte=overdue).leaseless(now)
    return Swept(ended, list(orphans.exclude(conversation=None)))


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
