"""What a runner may do: every end has its state, a message exists if and only if it is confirmed, a fence is a wall."""

import datetime as dt
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import AbstractBaseUser
from django.db import DatabaseError
from django.utils import timezone

from chat import conversations, generations, journal, running
from chat.flows import COACH
from chat.journal import Fired
from chat.models import Checkpoint, Generation, JournalRow, Message
from chat.providers.base import Prompt, Turn
from chat.running import Ended
from chat.states.generation import State
from chat.streaming.outcome import Outcome, Reason
from tests.rows import (
    brought_to,
    claimed,
    closing,
    conversation_of,
    cut,
    draft,
    elsewhere,
    ended,
    fresh,
    messages,
    moves,
    opened,
    person,
    reading,
    sent,
)

COMMITTED = pytest.mark.django_db(transaction=True)  # threads and on-commit calls need real commits


@pytest.fixture
def ana(db: None) -> AbstractBaseUser:
    return person()


# --- claiming and leases --------------------------------------------------------------------------------------------
def test_a_claim_takes_the_lease_and_gives_the_prompt(ana: AbstractBaseUser) -> None:
    row = sent(ana)
    before = timezone.now()
    job = claimed(row, "runner-1")
    assert (job.generation.owner, job.generation.fence, job.conversation_id) == (
        "runner-1",
        1,
        row.conversation_id,
    )
    assert job.generation.lease_until is not None
    assert dt.timedelta(seconds=9) < job.generation.lease_until - before < dt.timedelta(seconds=11)
    assert job.prompt == Prompt(COACH.system_prompt, [Turn("user", "How long?")], {})
    assert job.flow == COACH


def test_a_lease_is_held_by_one(ana: AbstractBaseUser) -> None:
    """The second asks in vain until it has run out; then its fence is higher, and the first one's counts no more."""
    row = sent(ana)
    first = claimed(row)
    assert running.claim(row.pk, owner="runner-2") is None
    Generation.objects.update(lease_until=timezone.now() - dt.timedelta(seconds=1))
    second = claimed(row, "runner-2")
    assert (first.generation.fence, second.generation.fence) == (1, 2)
    assert running.opened(first, wire="openai_chat", requests=1) is Fired.LOST
    assert running.opened(second, wire="openai_chat", requests=1) is Fired.MOVED


@pytest.mark.parametrize("state", [state for state in State if state is not State.queued])
def test_what_was_opened_once_is_never_claimed_again(ana: AbstractBaseUser, state: State) -> None:
    """Two connections for one generation would be two answers."""
    assert running.claim(brought_to(state, ana).pk, owner="runner-2") is None


def test_nothing_is_claimed_where_there_is_nothing(db: None) -> None:
    assert running.claim(uuid4(), owner="runner-1") is None


def test_a_prompt_holds_messages_only(ana: AbstractBaseUser) -> None:
    """What was cut, refused or stopped is in no prompt: the two messages of the person follow each other."""
    first = ended(sent(ana, "One?"), reading("First.", carry=[{"signature": "s"}]))
    second = ended(sent(ana, "Two?", conversation=first.conversation), cut())
    third = sent(ana, "Three?", conversation=second.conversation)
    assert claimed(third).prompt.turns == [
        Turn("user", "One?"),
        Turn("assistant", "First.", [{"signature": "s"}], "openai_chat", "scripted-1"),
        Turn("user", "Two?"),
        Turn("user", "Three?"),
    ]


def test_renewing_prolongs_what_is_held_and_tells_what_that_is(ana: AbstractBaseUser) -> None:
    """A lease that has run out is still held while nobody took it; who takes it moves the owner, and it is lost."""
    held, late, taken, ended_row, others = (sent(ana, f"{n}?") for n in range(5))
    for row in (held, late, ended_row):
        claimed(row)
    opened(taken)
    claimed(others, "runner-2")
    generations.cancel(ended_row, by=ana)
    past = timezone.now() - dt.timedelta(milliseconds=1)
    Generation.objects.filter(pk=taken.pk).update(lease_until=past)
    assert [row.pk for row in generations.sweep().ended] == [taken.pk]
    Generation.objects.filter(pk=late.pk).update(lease_until=past)
    Generation.objects.filter(pk=held.pk).update(lease_until=timezone.now() + dt.timedelta(seconds=1))
    assert running.held("runner-1") == running.renew("runner-1") == {held.pk, late.pk}
    for row in (held, late):
        lease = fresh(row).lease_until
        assert lease is not None
        assert lease > timezone.now() + dt.timedelta(seconds=8)


def test_a_queued_one_is_given_back_unharmed(ana: AbstractBaseUser) -> None:
    """The next process runs it; whatever the first still writes counts no more. An opened one stays where it is."""
    row = sent(ana)
    job = claimed(row)
    running.release(job, draft(row))
    assert (fresh(row).state, fresh(row).owner, fresh(row).lease_until, moves(row)) == (
        "queued",
        "",
        None,
        [],
    )
    assert running.opened(job, wire="openai_chat", requests=1) is Fired.LOST
    again = opened(row, "runner-2")
    running.release(again, draft(row))
    assert (fresh(row).state, fresh(row).owner) == ("buffered", "runner-2")


# --- opening and ending ---------------------------------------------------------------------------------------------
def test_opening_and_the_first_text_write_their_times(ana: AbstractBaseUser) -> None:
    row = sent(ana)
    job = claimed(row)
    event, text = timezone.now(), timezone.now() + dt.timedelta(milliseconds=3)
    assert running.opened(job, wire="openai_chat", requests=2) is Fired.MOVED
    assert running.first_delta(job, first_event_at=event, first_text_at=text) is Fired.MOVED
    row = fresh(row)
    assert (row.state, row.wire, row.requests) == ("buffered", "openai_chat", 2)
    assert (row.first_event_at, row.first_text_at, row.opened_at is not None) == (event, text, True)
    assert moves(row) == [(1, "queued", "opened", "received"), (2, "received", "first_delta", "buffered")]


def test_the_first_text_after_a_stop_is_late(ana: AbstractBaseUser) -> None:
    row = sent(ana)
    job = claimed(row)
    running.opened(job, wire="openai_chat", requests=1)
    generations.cancel(row, by=ana)
    now = timezone.now()
    assert running.first_delta(job, first_event_at=now, first_text_at=now) is Fired.LATE


def test_a_whole_reading_is_confirmed_with_its_message(ana: AbstractBaseUser) -> None:
    """One commit brings the message, the head, both moves and what the provider told, and takes the draft away."""
    row = sent(ana)
    job = opened(row)
    Checkpoint.objects.create(generation=row, seq=1, answer="Two")
    result = running.end(job, reading(), draft(row))
    row = fresh(row)
    answer = Message.objects.get(kind="answer")
    assert result == Ended(row, None)
    assert [move[2:] for move in moves(row)[2:]] == [
        ("ended_whole", "assembled"),
        ("checks_passed", "validated"),
        ("committed", "confirmed"),
    ]
    assert (answer.text, answer.reasoning, answer.parent_id) == ("Two minutes.", "Think.", row.parent_id)
    assert (answer.generation, conversation_of(row).head_id) == (row, answer.pk)
    assert (row.reason, row.provider_reason, row.provider_response_id, row.last_event) == (
        "",
        "stop",
        "chatcmpl-1",
        "5",
    )
    assert (row.usage_input, row.usage_output, row.usage_reasoning, row.usage_cached_input) == (9, 2, 1, 3)
    assert row.validated_at == row.ended_at == row.confirmed_at is not None
    assert [check["passed"] for check in row.checks] == [True] * 6
    assert not Checkpoint.objects.exists()


@pytest.mark.parametrize(
    ("result", "state", "reason"),
    [
        (cut(), "incomplete", "stream_truncated"),
        (cut(Reason.max_tokens), "incomplete", "max_tokens"),
        (reading(outcome=Outcome.refused, reason=Reason.model_refusal), "failed", "model_refusal"),
        (
            reading(outcome=Outcome.failed, reason=Reason.provider_error, retryable=False),
            "failed",
            "provider_error",
        ),
        (reading(""), "failed", "empty_answer"),
        (reading(divergence="expected 3 characters, got 4"), "failed", "divergent"),
        (reading(outcome=Outcome.tool_requested), "failed", "unexpected_tool_call"),
        (reading("x" * 2_000_001), "failed", "event_too_large"),
    ],
)
def test_everything_else_ends_in_a_named_state_and_is_no_message(
    ana: AbstractBaseUser, result: Any, state: str, reason: str
) -> None:
    """Its draft is kept, labelled, as it was shown; the head of the conversation stays with the person's message."""
    row = sent(ana)
    after = running.end(opened(row), result, draft(row, "Two")).generation
    assert (after.state, after.reason, after.is_final) == (state, reason, True)
    assert messages() == [("user", "How long?")]
    assert conversation_of(fresh(row)).head_id == row.parent_id
    assert Checkpoint.objects.values_list("answer", "reasoning", "seq").get() == ("Two", "Think.", 1)
    assert (after.confirmed_at, after.validated_at) == (None, None)


def test_a_check_that_says_no_is_kept_with_the_others(ana: AbstractBaseUser) -> None:
    row = ended(sent(ana), reading(" "))
    assert [check for check in row.checks if not check["passed"]] == [{"check": "not_empty", "passed": False}]
    assert JournalRow.objects.get(trigger="rejected").detail == "check not_empty said no"


def test_an_open_reading_ends_nothing(ana: AbstractBaseUser) -> None:
    row = sent(ana)
    with pytest.raises(ValueError, match="lease is kept"):
        running.end(opened(row), reading(outcome=Outcome.open), draft(row))
    assert fresh(row).state == "buffered"


def test_nothing_is_cut_short_that_was_never_opened(ana: AbstractBaseUser) -> None:
    """From `queued` only a failure leads out."""
    row = sent(ana)
    after = running.end(claimed(row), cut(Reason.stalled), draft(row, "")).generation
    assert (after.state, after.reason, moves(row)) == (
        "failed",
        "stalled",
        [(1, "queued", "error", "failed")],
    )


@COMMITTED
def test_nobody_ever_sees_validated_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """At each move of the ending another connection looks: until the commit it sees the state from before."""
    row = sent(person())
    job = opened(row)
    seen: list[tuple[str, str, int]] = []
    fire = journal.fire

    def look() -> tuple[str, int]:
        return Generation.objects.values_list("state", flat=True).get(), Message.objects.filter(
            kind="answer"
        ).count()

    def watched(subject: Generation, trigger: Any, **more: Any) -> Fired:
        fired = fire(subject, trigger, **more)
        seen.append((subject.state, *elsewhere(look)))
        return fired

    monkeypatch.setattr(journal, "fire", watched)
    running.end(job, reading(), draft(row))
    assert seen == [("assembled", "buffered", 0), ("validated", "buffered", 0), ("confirmed", "buffered", 0)]
    assert elsewhere(look) == ("confirmed", 1)


@COMMITTED
def test_an_end_that_breaks_half_way_leaves_everything_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """The runner writes it again: the job in hand must still fit the row, or the second writing would be refused."""
    row = sent(person())
    job = opened(row)
    create = Message.objects.create

    def broken(**_: Any) -> Message:
        raise DatabaseError("disk full")

    with monkeypatch.context() as patch:
        patch.setattr(Message.objects, "create", broken)
        with pytest.raises(DatabaseError):
            running.end(job, reading(), draft(row))
    assert (fresh(row).state, len(moves(row)), messages()) == ("buffered", 2, [("user", "How long?")])
    assert Message.objects.create == create
    assert running.end(job, reading(), draft(row)).generation.state == "confirmed"


def test_an_end_that_is_written_twice_leaves_one_message_and_no_draft(ana: AbstractBaseUser) -> None:
    """A database that stored the end and broke before it said so: the runner tries again with the job that it has."""
    row = sent(ana)
    job = opened(row)
    for _ in range(2):
        now = running.end(job, reading(), draft(row)).generation
        assert (now.state, len(moves(row)), Checkpoint.objects.count()) == ("confirmed", 5, 0)
    assert running.end(job, cut(), draft(row)).generation.state == "confirmed"
    assert running.wind_down(job, cut(), draft(row)).generation.state == "confirmed"
    assert (Checkpoint.objects.count(), messages()) == (
        0,
        [("user", "How long?"), ("answer", "Two minutes.")],
    )


@COMMITTED
def test_a_stop_against_the_end_has_one_winner_and_a_message_only_where_the_end_won() -> None:
    """Ten rounds, four persons' stops against the runner's end: a message exists if and only if it is confirmed."""
    ana, rounds, stops = person(), 10, 3
    jobs = [opened(sent(ana, f"{number}?")) for number in range(rounds)]
    start = Barrier(stops + 1)

    def race(thread: int) -> list[bool]:
        won = []
        for job in jobs:
            start.wait(30)
            if thread:
                won.append(generations.cancel(job.generation, by=ana))
            else:
                result = running.end(job, reading(), draft(job.generation))
                won.append(result.generation.state == "confirmed")
        return won

    with ThreadPoolExecutor(stops + 1) as pool:
        runs = list(pool.map(lambda number: closing(race, number), range(stops + 1)))
    assert [sum(won) for won in zip(*runs, strict=True)] == [1] * rounds
    for job, confirmed in zip(jobs, runs[0], strict=True):
        row = fresh(job.generation)
        assert row.state == ("confirmed" if confirmed else "cancelled")
        assert Message.objects.filter(generation=row).exists() == confirmed
        assert moves(row)[-1][3] == row.state


# --- winding down ---------------------------------------------------------------------------------------------------
def test_after_a_stop_the_runner_hands_in_what_it_knows_and_no_more(ana: AbstractBaseUser) -> None:
    """The draft as it was shown and the partial usage; the state is not its to write."""
    row = sent(ana)
    job = opened(row)
    generations.cancel(row, by=ana)
    after = running.wind_down(job, reading("Two"), draft(row, "Two", seq=4)).generation
    assert (after.state, after.provider_response_id, after.usage_output) == ("cancelled", "chatcmpl-1", 2)
    assert Checkpoint.objects.values_list("seq", "answer").get() == (4, "Two")


def test_with_a_stale_fence_nothing_is_handed_in(ana: AbstractBaseUser) -> None:
    row = sent(ana)
    job = opened(row)
    Generation.objects.update(lease_until=timezone.now() - dt.timedelta(seconds=1))
    generations.sweep()
    after = running.wind_down(job, reading("Two"), draft(row)).generation
    assert (after.reason, after.provider_response_id, after.usage_output) == ("worker_lost", "", None)
    assert not Checkpoint.objects.exists()


@pytest.mark.django_db
def test_the_first_answer_names_the_conversation_unless_its_person_did() -> None:
    """Not a later one, and never over a name that was given."""
    ana = person()
    row = ended(sent(ana, "Hello, how long should I rest?"), reading("Two minutes."))
    assert conversation_of(fresh(row)).title == "How long should I rest?"
    row = ended(sent(ana, "And then?", conversation=row.conversation), reading("# Afterwards\nRest."))
    assert conversation_of(fresh(row)).title == "How long should I rest?"
    named = sent(ana, "Hello, how long should I rest?")
    conversations.rename(conversation_of(named), "Mine")
    ended(named, reading("# Rests\nTwo."))
    assert conversation_of(fresh(named)).title == "Mine"
