"""The verbs of a generation: each happens whole or not at all, and only confirmed text becomes a message."""

import datetime as dt
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import AbstractBaseUser
from django.db import DatabaseError, transaction
from django.utils import timezone

from chat import conversations, generations, journal
from chat.flows import COACH
from chat.generations import Busy, Ended, Rejected, Swept
from chat.journal import Fired
from chat.models import Checkpoint, Conversation, Generation, JournalRow, Message
from chat.providers.base import Prompt, Turn
from chat.states.generation import State
from chat.streaming.outcome import Outcome, Reason
from tests.rows import (
    brought_to,
    claimed,
    closing,
    cut,
    draft,
    elsewhere,
    ended,
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


def fresh(row: Generation) -> Generation:
    return Generation.objects.select_related("conversation").get(pk=row.pk)


def messages() -> list[tuple[str, str]]:
    return list(Message.objects.order_by("created").values_list("kind", "text"))


def conversation_of(row: Generation) -> Conversation:
    assert row.conversation is not None
    return row.conversation


class Told:
    """An engine that writes down what it is told."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Any]] = []

    def launch(self, generation: Generation) -> None:
        self.calls.append(("launch", generation.pk))

    def stop(self, generation: Generation) -> None:
        self.calls.append(("stop", (generation.pk, generation.state)))

    def closed(self, conversation_id: Any) -> None:
        self.calls.append(("closed", conversation_id))


@pytest.fixture
def told() -> Any:
    engine = Told()
    generations.register_engine(engine)
    yield engine
    generations.unregister_engine(engine)


# --- sending --------------------------------------------------------------------------------------------------------
def test_a_message_and_its_queued_generation_come_together(ana: AbstractBaseUser) -> None:
    """The row holds all that the audit asks for, before any connection exists."""
    row = fresh(sent(ana, "  How\r\nlong?\r\n", session_key="s1"))
    conversation = conversation_of(row)
    assert messages() == [("user", "How\nlong?")]
    assert (conversation.title, conversation.endpoint, conversation.model) == (
        "How",
        "scripted",
        "scripted-1",
    )
    assert (conversation.user_id, conversation.head_id) == (ana.pk, row.parent_id)
    assert (row.state, row.number, row.attempt, row.version, row.fence) == ("queued", 1, 1, 0, 0)
    assert (row.user_id, row.session_key, row.flow) == (ana.pk, "s1", "coach")
    assert (row.endpoint, row.model, row.prompt_version) == ("scripted", "scripted-1", COACH.prompt_version)
    assert (row.owner, row.lease_until, row.retry_of, row.settings) == ("", None, None, {})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "expected a message with text in it; got none"),
        (" \r\n\t ", "expected a message with text in it; got none"),
        ("a\x00b", "got a NUL character"),
        ("x" * 32_001, "expected a message of at most 32000 characters; got 32001"),
    ],
)
def test_what_is_no_message_is_rejected_and_leaves_nothing(
    ana: AbstractBaseUser, text: str, told: str
) -> None:
    with pytest.raises(Rejected, match=told):
        sent(ana, text)
    assert not Conversation.objects.exists()


def test_the_longest_message_is_accepted(ana: AbstractBaseUser) -> None:
    sent(ana, " " + "x" * 32_000 + " ")
    assert len(Message.objects.get().text) == 32_000


def test_one_reply_at_a_time(ana: AbstractBaseUser) -> None:
    """The second send names the reply that is being written, and keeps nothing of its own."""
    row = sent(ana)
    with pytest.raises(Busy) as caught:
        sent(ana, "And now?", conversation=row.conversation)
    assert (caught.value.generation, messages()) == (row, [("user", "How long?")])
    sent(ana, "In another conversation?")


def test_the_databases_own_wall_is_busy_too(ana: AbstractBaseUser, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where two sends look at the same moment, both see nobody; the constraint lets one in."""
    row = sent(ana)
    look = generations.refuse_if_busy
    looks: list[Callable[[Conversation], None]] = [lambda _: None, look]

    def blind_at_first(conversation: Conversation) -> None:
        looks.pop(0)(conversation)

    monkeypatch.setattr(generations, "refuse_if_busy", blind_at_first)
    with pytest.raises(Busy):
        sent(ana, "And now?", conversation=row.conversation)
    assert (looks, messages()) == ([], [("user", "How long?")])


@COMMITTED
def test_of_two_sends_at_once_one_is_busy() -> None:
    ana = person()
    conversation = ended(sent(ana), reading()).conversation
    start = Barrier(4)

    def send(number: int) -> str:
        start.wait(30)
        try:
            sent(ana, f"Question {number}?", conversation=conversation)
        except Busy:
            return "busy"
        return "sent"

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda number: closing(send, number), range(4)))
    assert sorted(answers) == ["busy", "busy", "busy", "sent"]
    assert (Generation.objects.unfinished().count(), Message.objects.filter(kind="user").count()) == (1, 2)


def test_numbers_count_inside_a_conversation(ana: AbstractBaseUser) -> None:
    """They are the handles of frames: 1, 2, 3, whatever happens elsewhere."""
    first = ended(sent(ana), reading())
    other = sent(ana, "Elsewhere?")
    second = ended(sent(ana, "And?", conversation=first.conversation), cut())
    third = generations.retry(second, user=ana)
    assert [row.number for row in (first, other, second, third)] == [1, 1, 2, 3]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("How long?", "How long?"),
        ("  How \t long?\nSecond line", "How long?"),
        ("x" * 60, "x" * 60),
        ("x" * 61, "x" * 60 + "…"),
        ("word " * 20, "word " * 11 + "word…"),
        ("a" * 50 + ", " + "b" * 50, "a" * 50 + "…"),
    ],
)
def test_a_title_is_the_first_line_cut_at_a_word(text: str, title: str) -> None:
    assert generations.title_of(text) == title


# --- what an engine is told -----------------------------------------------------------------------------------------
@COMMITTED
def test_engines_are_told_after_the_commit_and_not_without_one(told: Told) -> None:
    """A runner that was called earlier would not find the row; one that was called after a rollback never would."""
    ana = person()
    with transaction.atomic():
        row = sent(ana)
        assert told.calls == []
    assert told.calls == [("launch", row.pk)]
    with transaction.atomic():
        sent(ana)
        transaction.set_rollback(True)
    generations.cancel(row, by=ana)
    generations.cancel(row, by=ana)
    assert told.calls == [("launch", row.pk), ("stop", (row.pk, "cancelled"))]


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
    assert generations.claim(row.pk, owner="runner-2") is None
    Generation.objects.update(lease_until=timezone.now() - dt.timedelta(seconds=1))
    second = claimed(row, "runner-2")
    assert (first.generation.fence, second.generation.fence) == (1, 2)
    assert generations.opened(first, wire="openai_chat", requests=1) is Fired.LOST
    assert generations.opened(second, wire="openai_chat", requests=1) is Fired.MOVED


@pytest.mark.parametrize("state", [state for state in State if state is not State.queued])
def test_what_was_opened_once_is_never_claimed_again(ana: AbstractBaseUser, state: State) -> None:
    """Two connections for one generation would be two answers."""
    assert generations.claim(brought_to(state, ana).pk, owner="runner-2") is None


def test_nothing_is_claimed_where_there_is_nothing(db: None) -> None:
    assert generations.claim(uuid4(), owner="runner-1") is None


def test_a_prompt_holds_messages_only(ana: AbstractBaseUser) -> None:
    """What was cut, refused or stopped is in no prompt: the two messages of the person follow each other."""
    first = ended(sent(ana, "One?"), reading("First."))
    second = ended(sent(ana, "Two?", conversation=first.conversation), cut())
    third = sent(ana, "Three?", conversation=second.conversation)
    assert claimed(third).prompt.turns == [
        Turn("user", "One?"),
        Turn("assistant", "First."),
        Turn("user", "Two?"),
        Turn("user", "Three?"),
    ]


def test_renewing_prolongs_what_is_held_and_tells_what_that_is(ana: AbstractBaseUser) -> None:
    """A lease that has run out is not renewed: somebody else may have it by now."""
    held, lost, ended_row, others = (sent(ana, f"{n}?") for n in range(4))
    for row in (held, lost, ended_row):
        claimed(row)
    claimed(others, "runner-2")
    generations.cancel(ended_row, by=ana)
    past = timezone.now() - dt.timedelta(milliseconds=1)
    Generation.objects.filter(pk=lost.pk).update(lease_until=past)
    Generation.objects.filter(pk=held.pk).update(lease_until=timezone.now() + dt.timedelta(seconds=1))
    assert generations.renew("runner-1") == {held.pk}
    lease = fresh(held).lease_until
    assert lease is not None
    assert lease > timezone.now() + dt.timedelta(seconds=8)
    assert fresh(lost).lease_until == past


def test_a_queued_one_is_given_back_unharmed(ana: AbstractBaseUser) -> None:
    """The next process runs it; whatever the first still writes counts no more. An opened one stays where it is."""
    row = sent(ana)
    job = claimed(row)
    generations.release(job)
    assert (fresh(row).state, fresh(row).owner, fresh(row).lease_until, moves(row)) == (
        "queued",
        "",
        None,
        [],
    )
    assert generations.opened(job, wire="openai_chat", requests=1) is Fired.LOST
    again = opened(row, "runner-2")
    generations.release(again)
    assert (fresh(row).state, fresh(row).owner) == ("buffered", "runner-2")


# --- opening and ending ---------------------------------------------------------------------------------------------
def test_opening_and_the_first_text_write_their_times(ana: AbstractBaseUser) -> None:
    row = sent(ana)
    job = claimed(row)
    event, text = timezone.now(), timezone.now() + dt.timedelta(milliseconds=3)
    assert generations.opened(job, wire="openai_chat", requests=2) is Fired.MOVED
    assert generations.first_delta(job, first_event_at=event, first_text_at=text) is Fired.MOVED
    row = fresh(row)
    assert (row.state, row.wire, row.requests) == ("buffered", "openai_chat", 2)
    assert (row.first_event_at, row.first_text_at, row.opened_at is not None) == (event, text, True)
    assert moves(row) == [(1, "queued", "opened", "received"), (2, "received", "first_delta", "buffered")]


def test_the_first_text_after_a_stop_is_late(ana: AbstractBaseUser) -> None:
    row = sent(ana)
    job = claimed(row)
    generations.opened(job, wire="openai_chat", requests=1)
    generations.cancel(row, by=ana)
    now = timezone.now()
    assert generations.first_delta(job, first_event_at=now, first_text_at=now) is Fired.LATE


def test_a_whole_reading_is_confirmed_with_its_message(ana: AbstractBaseUser) -> None:
    """One commit brings the message, the head, both moves and what the provider told, and takes the draft away."""
    row = sent(ana)
    job = opened(row)
    Checkpoint.objects.create(generation=row, seq=1, answer="Two")
    result = generations.end(job, reading(), draft(row))
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
    assert [check["passed"] for check in row.checks] == [True] * 5
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
    after = generations.end(opened(row), result, draft(row, "Two")).generation
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
        generations.end(opened(row), reading(outcome=Outcome.open), draft(row))
    assert fresh(row).state == "buffered"


def test_nothing_is_cut_short_that_was_never_opened(ana: AbstractBaseUser) -> None:
    """From `queued` only a failure leads out."""
    row = sent(ana)
    after = generations.end(claimed(row), cut(Reason.stalled), draft(row, "")).generation
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
    generations.end(job, reading(), draft(row))
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
            generations.end(job, reading(), draft(row))
    assert (fresh(row).state, len(moves(row)), messages()) == ("buffered", 2, [("user", "How long?")])
    assert Message.objects.create == create
    assert generations.end(job, reading(), draft(row)).generation.state == "confirmed"


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
                result = generations.end(job, reading(), draft(job.generation))
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


# --- what follows by itself -----------------------------------------------------------------------------------------
LOST = cut(Reason.connection_lost)
BROKEN = reading("", Outcome.failed, reason=Reason.provider_error, retryable=True)


@pytest.mark.parametrize("result", [LOST, BROKEN])
def test_a_fault_of_the_line_or_a_passing_one_is_followed_by_a_new_generation(
    ana: AbstractBaseUser, result: Any
) -> None:
    row = sent(ana, session_key="s1")
    following = generations.end(opened(row), result, draft(row)).successor
    assert following is not None
    assert (following.state, following.number, following.attempt, following.automatic_retries) == (
        "queued",
        2,
        2,
        1,
    )
    assert (following.retry_of, following.parent_id, following.session_key) == (row, row.parent_id, "s1")
    assert (following.endpoint, following.model, following.user_id) == ("scripted", "scripted-1", ana.pk)


def test_by_itself_it_is_tried_twice(ana: AbstractBaseUser) -> None:
    """Then the person is asked; a person's own retry has two new ones again."""
    rows = [sent(ana)]
    while following := generations.end(opened(rows[-1]), LOST, draft(rows[-1])).successor:
        rows.append(following)
    assert [row.attempt for row in rows] == [1, 2, 3]
    again = generations.retry(rows[-1], user=ana)
    assert (again.attempt, again.automatic_retries) == (4, 0)


@pytest.mark.parametrize(
    "result",
    [
        cut(),
        cut(Reason.stalled),
        cut(Reason.shutdown),
        reading("", Outcome.failed, reason=Reason.provider_error, retryable=False),
        reading(outcome=Outcome.refused, reason=Reason.refusal),
    ],
)
def test_what_may_have_been_meant_is_never_tried_again_by_itself(ana: AbstractBaseUser, result: Any) -> None:
    row = sent(ana)
    assert generations.end(opened(row), result, draft(row)).successor is None
    assert not Generation.objects.unfinished().exists()


def test_what_was_never_opened_has_no_successor(ana: AbstractBaseUser) -> None:
    """Its requests were repeated while it was queued; a new generation would only repeat them again."""
    row = sent(ana)
    assert generations.end(claimed(row), BROKEN, draft(row, "")).successor is None


# --- stopping, retrying, winding down -------------------------------------------------------------------------------
def test_a_stop_says_who_and_when(ana: AbstractBaseUser) -> None:
    row = sent(ana)
    job = opened(row)
    assert generations.cancel(row, by=ana) is True
    assert generations.cancel(row, by=ana) is False
    after = fresh(row)
    assert (after.state, after.reason, after.cancelled_by_id, after.late) == (
        "cancelled",
        "cancelled",
        ana.pk,
        1,
    )
    assert after.cancel_requested_at == after.ended_at is not None
    assert JournalRow.objects.get(trigger="cancel").actor == f"user:{ana.pk}"
    assert generations.end(job, reading(), draft(row)).generation.state == "cancelled"
    assert messages() == [("user", "How long?")]


def test_what_had_ended_keeps_its_end(ana: AbstractBaseUser) -> None:
    row = ended(sent(ana), reading())
    assert generations.cancel(row, by=ana) is False
    assert (fresh(row).state, fresh(row).cancelled_by_id) == ("confirmed", None)
    row.delete()
    assert generations.cancel(row, by=None) is False


def test_after_a_stop_the_runner_hands_in_what_it_knows_and_no_more(ana: AbstractBaseUser) -> None:
    """The draft as it was shown and the partial usage; the state is not its to write."""
    row = sent(ana)
    job = opened(row)
    generations.cancel(row, by=ana)
    after = generations.wind_down(job, reading("Two"), draft(row, "Two", seq=4)).generation
    assert (after.state, after.provider_response_id, after.usage_output) == ("cancelled", "chatcmpl-1", 2)
    assert Checkpoint.objects.values_list("seq", "answer").get() == (4, "Two")


def test_with_a_stale_fence_nothing_is_handed_in(ana: AbstractBaseUser) -> None:
    row = sent(ana)
    job = opened(row)
    Generation.objects.update(lease_until=timezone.now() - dt.timedelta(seconds=1))
    generations.sweep()
    after = generations.wind_down(job, reading("Two"), draft(row)).generation
    assert (after.reason, after.provider_response_id, after.usage_output) == ("worker_lost", "", None)
    assert not Checkpoint.objects.exists()


def test_a_retry_is_a_new_generation_for_the_same_message(ana: AbstractBaseUser) -> None:
    first = ended(sent(ana), cut())
    second = generations.retry(first, user=ana, session_key="s2", endpoint="other", model="other-1")
    assert (second.retry_of, second.parent_id, second.attempt, second.number) == (
        first,
        first.parent_id,
        2,
        2,
    )
    assert (second.endpoint, second.model, second.session_key) == ("other", "other-1", "s2")
    with pytest.raises(Busy):
        generations.retry(first, user=ana)
    assert messages() == [("user", "How long?")]


def test_a_retry_of_what_needs_none_is_rejected(ana: AbstractBaseUser) -> None:
    answered = ended(sent(ana), reading())
    with pytest.raises(Rejected, match="this one is confirmed"):
        generations.retry(answered, user=ana)
    old = ended(sent(ana, "Two?", conversation=answered.conversation), cut())
    ended(sent(ana, "Three?", conversation=answered.conversation), cut())
    with pytest.raises(Rejected, match="it has gone on since"):
        generations.retry(old, user=ana)
    conversations.delete(conversation_of(fresh(old)), by=ana)
    with pytest.raises(Rejected, match="it was deleted"):
        generations.retry(old, user=ana)


# --- the sweep ------------------------------------------------------------------------------------------------------
def leased(row: Generation, seconds: float) -> None:
    until = timezone.now() + dt.timedelta(seconds=seconds)
    Generation.objects.filter(pk=row.pk).update(lease_until=until)


@pytest.mark.parametrize("state", [State.received, State.buffered, State.assembled])
def test_what_was_opened_and_lost_its_runner_is_incomplete(ana: AbstractBaseUser, state: State) -> None:
    row = brought_to(state, ana)
    leased(row, -1)
    swept = generations.sweep()
    after = fresh(row)
    assert (swept, generations.sweep()) == (Swept([after], []), Swept([], []))
    assert (after.state, after.reason, after.owner, after.lease_until) == (
        "incomplete",
        "worker_lost",
        "",
        None,
    )
    assert after.fence == row.fence + 1
    assert JournalRow.objects.get(to_state="incomplete").actor == "reaper"


def test_what_is_queued_and_nobody_runs_is_an_orphan_unharmed(ana: AbstractBaseUser) -> None:
    never, over, held = (sent(ana, f"{n}?") for n in range(3))
    leased(over, -1)
    leased(held, 5)
    swept = generations.sweep()
    assert (swept.ended, set(swept.orphans)) == ([], {never, over})
    assert set(Generation.objects.values_list("state", flat=True)) == {"queued"}


def test_a_runner_that_holds_its_lease_is_left_alone(ana: AbstractBaseUser) -> None:
    row = sent(ana)
    opened(row)
    assert generations.sweep() == Swept([], [])
    assert fresh(row).state == "buffered"


@pytest.mark.parametrize("state", [State.queued, State.buffered])
def test_past_the_deadline_everything_expires_held_or_not(ana: AbstractBaseUser, state: State) -> None:
    """The fence moves: a runner that still writes has lost."""
    row = sent(ana)
    job = opened(row) if state is State.buffered else claimed(row)
    Generation.objects.update(created=timezone.now() - dt.timedelta(seconds=1801))
    swept = generations.sweep()
    after = fresh(row)
    assert swept == Swept([after], [])
    assert (after.state, after.reason, after.fence) == ("expired", "deadline", 2)
    assert generations.end(job, cut(Reason.shutdown), draft(row)).generation.state == "expired"
    assert (messages(), Checkpoint.objects.exists()) == ([("user", "How long?")], False)
