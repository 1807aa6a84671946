"""Rows, readings and drafts for tests, made by the product's own verbs wherever there is one.

Takes the few words that a test cares about, gives whole values. Knows no engine and no provider.
"""

import datetime as dt
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractBaseUser, Permission
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from chat import generations, journal, running
from chat.journal import Fired
from chat.models import Conversation, Generation, JournalRow, Message, MessageKind
from chat.running import Job
from chat.states.generation import GENERATION, State, Trigger
from chat.states.machine import Machine, S, T
from chat.streaming.deltas import Usage
from chat.streaming.frames import Snapshot
from chat.streaming.outcome import Outcome, Reason
from chat.streaming.reading import Reading, ToolCall

Value = TypeVar("Value")


def person(name: str = "ana", **more: Any) -> AbstractBaseUser:
    """Somebody who can be signed in, but has no password: hashing one costs a tenth of a second."""
    return get_user_model().objects.create_user(name, **more)


def client_of(name: str, *permissions: str, **more: bool) -> Client:
    """A browser in which somebody with these permissions is signed in."""
    user: Any = person(name, **more)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    client = Client()
    client.force_login(user)
    return client


def sent(user: AbstractBaseUser, text: str = "How long?", **more: Any) -> Generation:
    """The queued generation of a message."""
    return generations.send(user=user, text=text, endpoint="scripted", model="scripted-1", **more)


def claimed(row: Generation, owner: str = "runner-1") -> Job:
    """The job of a runner that has taken the lease."""
    job = running.claim(row.pk, owner=owner)
    assert job is not None
    return job


def opened(row: Generation, owner: str = "runner-1") -> Job:
    """The job of a runner that reads an open stream, whose first text has come."""
    job = claimed(row, owner)
    now = timezone.now()
    assert running.opened(job, wire="openai_chat", requests=1) is Fired.MOVED
    assert running.first_delta(job, first_event_at=now, first_text_at=now) is Fired.MOVED
    return job


def reading(answer: str = "Two minutes.", outcome: Outcome = Outcome.complete, **changes: Any) -> Reading:
    """What a provider's stream amounted to: whole, unless told otherwise."""
    values: dict[str, Any] = {
        "reason": None,
        "provider_reason": "stop",
        "retryable": None,
        "reasoning_parts": ["Think."],
        "refusal": "",
        "tool_calls": [],
        "response_id": "chatcmpl-1",
        "usage": Usage(9, 2, 1, 3),
        "last_event": "5",
    }
    return Reading(outcome=outcome, answer=answer, **(values | changes))


def cut(reason: Reason = Reason.stream_truncated, **changes: Any) -> Reading:
    """A stream that ended short."""
    return reading("Two", Outcome.incomplete, reason=reason, provider_reason=None, usage=None, **changes)


WHOLE_CALL = ToolCall("call_1", "find_gym", '{"near": "home"}', {"near": "home"}, complete=True)


def asking(*calls: ToolCall, **changes: Any) -> Reading:
    """A stream that ended with the model's wish to call these."""
    values: dict[str, Any] = {"provider_reason": "tool_calls", "tool_calls": list(calls or (WHOLE_CALL,))}
    return reading("", Outcome.tool_requested, **(values | changes))


def draft(row: Generation, answer: str = "Two", seq: int = 1) -> Snapshot:
    """What a page had been shown."""
    return Snapshot(row.number, seq, answer, "Think.", "")


def ended(row: Generation, result: Reading) -> Generation:
    """The row after a runner has claimed it, opened it, and ended it with this reading."""
    return running.end(opened(row), result, draft(row, result.answer or "")).generation


def path_to(state: State) -> list[Trigger]:
    """The shortest way of a generation through its table."""
    return way_to(GENERATION, state)


def way_to(machine: Machine[S, T], state: S) -> list[T]:
    """The shortest way through a table."""
    ways: deque[tuple[S, list[T]]] = deque([(machine.initial, [])])
    seen = {machine.initial}
    while ways:
        at, way = ways.popleft()
        if at is state:
            return way
        for trigger, target in machine.table[at].items():
            if target not in seen:
                seen.add(target)
                ways.append((target, [*way, trigger]))
    raise AssertionError(f"no way leads to {state}")


def times_of(target: State) -> dict[str, Any]:
    """The times that the database wants beside a state."""
    now = timezone.now()
    values = {"ended_at": now} if target in GENERATION.finals else {}
    return values | ({"confirmed_at": now} if target is State.confirmed else {})


def brought_to(state: State, user: AbstractBaseUser, **more: Any) -> Generation:
    """A generation that stands in `state`, moved there by the journal."""
    row = sent(user, **more)
    for trigger in path_to(state):
        target = GENERATION.next_state(State(row.state), trigger)
        assert target is not None
        fired = journal.fire(row, trigger, seen=row.state, actor="test", **times_of(target))
        assert fired is Fired.MOVED
    return Generation.objects.get(pk=row.pk)


def moves(row: Generation) -> list[tuple[int, str, str, str]]:
    """The row's journal: (sequence, from, trigger, to)."""
    rows = JournalRow.objects.filter(subject="generation", subject_id=row.pk).order_by("sequence")
    return list(rows.values_list("sequence", "from_state", "trigger", "to_state"))


def elsewhere(call: Any, *args: Any) -> Any:
    """Call it on a thread, and so on a database connection, of its own."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(closing, call, *args).result(30)


def closing(call: Any, *args: Any) -> Any:
    """Call it and close this thread's connection: the next test must not find it open."""
    try:
        return call(*args)
    finally:
        connection.close()


def fresh(row: Generation) -> Generation:
    """The row as it is stored now."""
    return Generation.objects.select_related("conversation").get(pk=row.pk)


def messages() -> list[tuple[str, str]]:
    """Kind and text of every message, oldest first."""
    return list(Message.objects.order_by("created").values_list("kind", "text"))


def conversation_of(row: Generation) -> Conversation:
    """The conversation that a generation still has."""
    assert row.conversation is not None
    return row.conversation


def long_conversation(user: AbstractBaseUser, turns: int, answer: str = "Answer {}.") -> Conversation:
    """A conversation of so many turns, "Question 1?" with "Answer 1." and so on; the rows alone, for they are many."""
    conversation = Conversation.objects.create(
        user_id=user.pk, title="A long one", endpoint="scripted", model="scripted-1"
    )
    begun = timezone.now() - dt.timedelta(seconds=2 * turns)
    messages: list[Message] = []
    replies: list[Generation] = []
    for number in range(1, turns + 1):
        asked, answered = (begun + dt.timedelta(seconds=2 * number - back) for back in (1, 0))
        parent = messages[-1] if messages else None
        question = Message(
            conversation=conversation,
            parent=parent,
            kind=MessageKind.USER,
            text=f"Question {number}?",
            created=asked,
        )
        reply = Generation(
            conversation=conversation,
            user_id=user.pk,
            number=number,
            parent=question,
            endpoint="scripted",
            model="scripted-1",
            state=str(State.confirmed),
            confirmed_at=answered,
            ended_at=answered,
        )
        text = answer.format(number)
        messages += [
            question,
            Message(
                conversation=conversation,
                parent=question,
                kind=MessageKind.ANSWER,
                text=text,
                generation=reply,
                created=answered,
            ),
        ]
        replies.append(reply)
    # Rows of one batch name each other: whole at the end of the transaction.
    with transaction.atomic():
        Message.objects.bulk_create([each for each in messages if each.kind == MessageKind.USER])
        Generation.objects.bulk_create(replies)
        Message.objects.bulk_create([each for each in messages if each.kind == MessageKind.ANSWER])
    conversation.head = messages[-1]
    conversation.save()
    return conversation
