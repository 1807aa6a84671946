"""What a runner may do to the generation that it holds: claim it, move it, end it, give it back.

Every verb says the fence that came with the lease; one with a stale fence changes nothing. They know no network and no
frames. What an outcome fires is a table of the pure core (`OUTCOME_TRIGGER`).
"""

import copy
import datetime as dt
import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from chat import (
    attachments,
    branches,
    catalogue,
    drafts,
    flows,
    journal,
    plans,
    prices,
    titles,
    toolcalls,
    tree,
    tuning,
)
from chat.generations import queue
from chat.journal import Fired
from chat.models import Checkpoint, Conversation, Generation, Message, MessageKind
from chat.models.generation import FINALS
from chat.providers.base import Prompt, Turn
from chat.states.generation import OUTCOME_TRIGGER, State, Trigger
from chat.streaming.frames import Snapshot
from chat.streaming.outcome import Reason
from chat.streaming.reading import Reading
from chat.validation import of_gates, validate


@dataclass(frozen=True, slots=True)
class Job:
    """What a runner needs: the row as it was claimed, with its fence, and the prompt. `saved` is the last checkpoint of
    a generation that is taken over from a lost runner."""

    generation: Generation
    conversation_id: UUID
    prompt: Prompt
    flow: flows.Flow
    saved: Snapshot | None = None


def claim(generation_id: UUID, *, owner: str) -> Job | None:
    """Take the lease of a generation that nobody runs, and that is queued or goes on at its provider; None where someone
    else did, or it has moved on."""
    now = timezone.now()
    with transaction.atomic():
        free = Generation.objects.runnable().filter(pk=generation_id).leaseless(now)
        taken = free.update(owner=owner, fence=F("fence") + 1, lease_until=lease_end(now))
        if not taken:
            return None
        row = Generation.objects.select_related("conversation__preset", "parent").get(pk=generation_id)
    if row.conversation is None or row.parent is None:
        return None
    flow = tuning.flow_of(row.conversation, plan=row.flow == flows.PLAN.name)
    if (
        row.state == State.queued and flow.prompt_version != row.prompt_version
    ):  # the words were changed while it was queued
        row.prompt_version = flow.prompt_version
        Generation.objects.filter(pk=row.pk, fence=row.fence).update(prompt_version=row.prompt_version)
    turns = history(row.parent, sees=catalogue.sees(row.endpoint, row.model)) + branches.going_on(row)
    prompt = Prompt(system=flow.system_prompt, turns=turns, settings=row.settings)
    saved = drafts.snapshot(row) if row.state != State.queued else None
    return Job(row, row.conversation.pk, prompt, flow, saved)


def history(last: Message, *, sees: bool) -> list[Turn]:
    """The branch that ends in `last`, oldest first: messages only, so nothing that was not confirmed. `sees` is whether
    the model that is asked takes pictures."""
    path = [node.pk for node in tree.outline(last.conversation).path(last.pk)]
    found = Message.objects.filter(pk__in=path).select_related("generation").prefetch_related("attachments")
    rows = found.in_bulk()
    turns: list[Turn] = []
    for at in (rows[pk] for pk in path):
        if at.kind == MessageKind.USER:
            text, images = attachments.as_asked(at.text, at.attachments.all(), sees=sees)
            turns.append(Turn("user", text, images=images))
        else:
            carry = json.loads(at.carry) if at.carry else []
            wire, model = (at.generation.wire, at.generation.model) if at.generation else ("", "")
            turns.append(Turn("assistant", at.text, carry, wire, model))
    return turns


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
    facts = _facts(row, reading)
    said = [check.verdict for check in of_gates(reading)]
    if said:  # before there was a whole text to look at
        facts["checks"] = said
    with transaction.atomic():
        if trigger is Trigger.ended_whole:
            fired = _confirm(row, reading, text, flow=job.flow, facts=facts, at=at)
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
        Generation.objects.filter(pk=row.pk, fence=row.fence).update(**_facts(row, reading))
        drafts.save([drafts.Save(row.pk, row.fence, text)])
        return Ended(Generation.objects.filter(pk=row.pk).first() or row)


def _facts(row: Generation, reading: Reading) -> dict[str, Any]:
    """What was asked, and what the provider told about itself, whatever the end. The last usage wins; it is partial
    where a stream was cut short."""
    usage = reading.usage
    return {
        # Who has taken it over and not heard of it yet knows its name from before.
        "provider_response_id": (reading.response_id or row.provider_response_id)[:200],
        "provider_reason": (reading.provider_reason or "")[:200],
        "last_event": (reading.last_event or "")[:200],
        "wire": row.wire,
        "requests": row.requests,
        "usage_input": usage.input if usage else None,
        "usage_output": usage.output if usage else None,
        "usage_reasoning": usage.reasoning if usage else None,
        "usage_cached_input": usage.cached_input if usage else None,
        "price_usd": prices.price(row.endpoint, row.model, usage),
    }


def _confirm(
    row: Generation,
    reading: Reading,
    text: Snapshot,
    *,
    flow: flows.Flow,
    facts: dict[str, Any],
    at: dt.datetime,
) -> Fired:
    if row.conversation is None:
        raise ValueError("a claimed generation has a conversation")
    fired = journal.fire(row, Trigger.ended_whole, seen=row.state, actor=row.owner, fence=row.fence, **facts)
    if fired is not Fired.MOVED:
        return fired
    found = validate(
        reading,
        tools_offered=False,
        max_answer_chars=settings.GYMNASIA.max_answer_chars,
        demands=flows.demands_of(flow, row.gate_rule),
    )
    verdicts = [check.verdict for check in [*found.checks, *of_gates(reading)]]
    if (failed := found.failed) is not None:
        said_no = f"check {failed.name} said no" + (f": {failed.detail}" if failed.detail else "")
        toolcalls.refuse(row, reading.tool_calls, actor=row.owner, reason=failed.reason)
        return journal.fire(
            row,
            Trigger.rejected,
            seen=row.state,
            actor=row.owner,
            fence=row.fence,
            reason=failed.reason,
            detail=reading.divergence or said_no,
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
        text=found.text,
        # Of thoughts that broke a rule only what was shown before they did.
        reasoning=text.reasoning if reading.silenced else reading.reasoning,
        carry=json.dumps(reading.carry, ensure_ascii=False) if reading.carry else "",
        generation=row,
    )
    Conversation.objects.filter(pk=message.conversation_id).update(updated=at)
    if found.plan is not None:
        plans.keep(message, found.plan)
    _name(row, message)
    tree.lead_on(message)
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


def _name(row: Generation, answer: Message) -> None:
    """After the first answer the conversation is called by what it is about, unless its person has named it."""
    answers = Message.objects.filter(conversation_id=answer.conversation_id).exclude(kind=MessageKind.USER)
    if row.parent is None or row.parent.parent_id is not None or answers.exclude(pk=answer.pk).exists():
        return
    if title := titles.after(row.parent.text, answer.text):
        Conversation.objects.filter(pk=answer.conversation_id, named=False).update(title=title)


def _follow(row: Generation) -> Generation | None:
    """A new generation by itself, where the fault was the line's or the provider's and came after the opening."""
    transient = (row.state == State.failed and row.retryable) or row.reason == Reason.connection_lost
    if not transient or row.opened_at is None or row.conversation is None or row.parent is None:
        return None
    if row.automatic_retries >= settings.GYMNASIA.automatic_retries:
        return None
    if not Message.objects.filter(pk=row.parent.pk).exists():
        return None
    return queue(
        row.conversation,
        row.parent,
        user=row.user,
        session=row.session,
        retry_of=row,
        continues=row.continues,
        automatic=True,
        endpoint=row.endpoint,
        model=row.model,
    )


def release(job: Job, text: Snapshot) -> None:
    """Give a generation back that is queued, or goes on at its provider: another process, or the next one, runs it."""
    row = job.generation
    with transaction.atomic():
        if row.state != State.queued:
            drafts.save([drafts.Save(row.pk, row.fence, text)])
        Generation.objects.runnable().filter(pk=row.pk, fence=row.fence).update(
            lease_until=None, owner="", fence=F("fence") + 1
        )


def note_response(job: Job, response_id: str) -> None:
    """Keep the provider's id while it is written: with it, another runner can go on, and a stop can reach it."""
    held = Generation.objects.unfinished().filter(pk=job.generation.pk, fence=job.generation.fence)
    held.update(provider_response_id=response_id[:200])


ENDED_HERE = [
    Reason.cancelled,
    Reason.deleted,
    Reason.deadline,
    Reason.stalled,
    Reason.connection_lost,
    Reason.stream_truncated,
    Reason.worker_lost,
    Reason.shutdown,
    Reason.policy,
    Reason.divergent,
    Reason.internal,
    Reason.malformed_stream,
    Reason.event_too_large,
]
"""Ends that are ours or the line's: the provider may not have said its last word."""


def left_open() -> list[Generation]:
    """What ended here a short while ago, runs in the background at its provider, and was never ended there: the process that
    was to ask for it died before. A provider that had ended it all the same says so, and no harm is done."""
    since = timezone.now() - dt.timedelta(seconds=settings.GYMNASIA.resume_window_s)
    rows = Generation.objects.filter(
        state__in=FINALS, reason__in=ENDED_HERE, ended_at__gte=since, provider_cancel=""
    )
    return list(rows.filter(settings__background=True).exclude(provider_response_id=""))


def note_provider_cancel(row: Generation, answer: str) -> None:
    """Keep what the provider answered to a stop, apart from the stop itself."""
    Generation.objects.filter(pk=row.pk).update(provider_cancel=answer[:200])


def held(owner: str) -> set[UUID]:
    """The ids of what `owner` runs and nobody has ended."""
    return set(Generation.objects.unfinished().filter(owner=owner).values_list("pk", flat=True))


def renew(owner: str) -> set[UUID]:
    """Prolong every lease of `owner`, also one that has run out and that nobody took; gives the ids that it holds. Who took
    one moved its fence and its owner with it."""
    Generation.objects.unfinished().filter(owner=owner).update(lease_until=lease_end(timezone.now()))
    return held(owner)
