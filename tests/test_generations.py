"""The verbs of a generation: each happens whole or not at all, and only confirmed text becomes a message."""

import datetime as dt
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractBaseUser
from django.utils import timezone

from chat import conversations, generations, running
from chat.flows import COACH
from chat.generations import Busy, Rejected, Swept
from chat.models import Checkpoint, Conversation, Generation, JournalRow, Message
from chat.states.generation import State
from chat.streaming.outcome import Reason
from tests.rows import (
    brought_to,
    claimed,
    closing,
    conversation_of,
    cut,
    draft,
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
    assert (row.user_id, row.flow) == (ana.pk, "coach")
    # The key of a session opens it: only its fingerprint is kept.
    assert row.session == generations.fingerprint("s1")
    assert "s1" not in row.session
    assert generations.fingerprint("") == ""
    assert (row.endpoint, row.model, row.prompt_version) == ("scripted", "scripted-1", COACH.prompt_version)
    assert (row.owner, row.lease_until, row.retry_of, row.settings) == ("", None, None, {})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "expected a message with text in it; got none"),
        (" \r\n\t ", "expected a message with text in it; got none"),
        ("\u200b\n\ufeff", "expected a message with text in it; got none"),
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
        ("\u200b\nHow long?", "How long?"),
        ("x" * 60, "x" * 60),
        ("x" * 61, "x" * 60 + "…"),
        ("word " * 20, "word " * 11 + "word…"),
        ("a" * 50 + ", " + "b" * 50, "a" * 50 + "…"),
    ],
)
def test_a_title_is_the_first_line_cut_at_a_word(text: str, title: str) -> None:
    assert generations.title_of(text) == title


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
    assert running.end(job, reading(), draft(row)).generation.state == "cancelled"
    assert messages() == [("user", "How long?")]


def test_what_had_ended_keeps_its_end(ana: AbstractBaseUser) -> None:
    row = ended(sent(ana), reading())
    assert generations.cancel(row, by=ana) is False
    assert (fresh(row).state, fresh(row).cancelled_by_id) == ("confirmed", None)
    row.delete()
    assert generations.cancel(row, by=None) is False


def test_a_retry_is_a_new_generation_for_the_same_message(ana: AbstractBaseUser) -> None:
    first = ended(sent(ana), cut())
    second = generations.retry(first, user=ana, session_key="s2", endpoint="other", model="other-1")
    assert (second.retry_of, second.parent_id, second.attempt, second.number) == (
        first,
        first.parent_id,
        2,
        2,
    )
    assert (second.endpoint, second.model) == ("other", "other-1")
    assert second.session == generations.fingerprint("s2") != generations.fingerprint("s1")
    with pytest.raises(Busy):
        generations.retry(first, user=ana)
    assert messages() == [("user", "How long?")]


def test_another_answer_stands_beside_the_first(ana: AbstractBaseUser) -> None:
    """What is confirmed stays; the newer one is no further attempt, for the first did not fail."""
    first = ended(sent(ana), reading())
    ended(sent(ana, "Two?", conversation=first.conversation), cut())
    again = generations.retry(first, user=ana, endpoint="other", model="other-1")
    assert (again.parent_id, again.retry_of, again.attempt) == (first.parent_id, None, 1)
    assert conversation_of(fresh(first)).head_id == first.parent_id
    ended(again, reading("Three minutes."))
    assert messages() == [
        ("user", "How long?"),
        ("answer", "Two minutes."),
        ("user", "Two?"),
        ("answer", "Three minutes."),
    ]
    conversations.delete(conversation_of(fresh(first)), by=ana)
    with pytest.raises(Rejected, match="it was deleted"):
        generations.retry(first, user=ana)


def test_nothing_is_tried_again_in_a_conversation_that_lies_deleted(ana: AbstractBaseUser) -> None:
    """It may come back for a moment; until then nothing is written in it, and after that what was there can be."""
    first = ended(sent(ana), cut())
    owned = conversation_of(first)
    conversations.discard(owned, by=ana)
    with pytest.raises(Rejected, match="expected a conversation that stands; it was deleted"):
        generations.retry(first, user=ana)
    conversations.restore(owned)
    assert generations.retry(first, user=ana).attempt == 2


def test_a_stop_in_the_moment_of_a_lost_connection_stops_the_second_attempt(ana: AbstractBaseUser) -> None:
    """Who pressed Stop wants silence, whichever attempt the page knew of; a retry that a person asked for goes on."""
    first = ended(sent(ana), cut(Reason.connection_lost))
    second = Generation.objects.get(retry_of=first)
    assert generations.cancel(first, by=ana) is True
    assert (fresh(first).state, fresh(second).state, fresh(second).cancelled_by_id) == (
        "incomplete",
        "cancelled",
        ana.pk,
    )
    third = generations.retry(second, user=ana)
    assert generations.cancel(first, by=ana) is False
    assert generations.cancel(second, by=ana) is False
    assert fresh(third).state == "queued"


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


def test_a_lease_of_a_clock_that_was_set_back_is_none(ana: AbstractBaseUser) -> None:
    """A machine that came up an hour ahead, and crashed: nobody waits an hour for what it ran."""
    lost, queued = brought_to(State.buffered, ana), sent(ana, "And?")
    leased(lost, 3600)
    leased(queued, 3600)
    assert generations.sweep(running_here={lost.pk, queued.pk}).ended == []
    swept = generations.sweep()
    assert ([row.pk for row in swept.ended], swept.orphans) == ([lost.pk], [queued])
    assert claimed(queued).generation.fence == 1


def test_what_the_sweeper_runs_itself_has_not_lost_its_runner(ana: AbstractBaseUser) -> None:
    """A database that was locked for longer than a lease, or a clock that jumped, must not cost a whole answer."""
    row = brought_to(State.buffered, ana)
    leased(row, -60)
    assert generations.sweep(running_here={row.pk}) == Swept([], [])
    assert [found.pk for found in generations.sweep(running_here=set()).ended] == [row.pk]


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
    assert running.end(job, cut(Reason.shutdown), draft(row)).generation.state == "expired"
    assert (messages(), Checkpoint.objects.exists()) == ([("user", "How long?")], False)


def test_who_may_not_come_in_any_more_has_nothing_written_for_them(ana: AbstractBaseUser) -> None:
    """An account that was deactivated: what runs and what waits is stopped, in nobody's name; others go on."""
    running_, queued, others = opened(sent(ana)).generation, sent(ana, "And?"), sent(person("bea"))
    get_user_model().objects.filter(pk=ana.pk).update(is_active=False)
    generations.sweep()
    assert [(fresh(row).state, fresh(row).cancelled_by_id) for row in (running_, queued, others)] == [
        ("cancelled", None),
        ("cancelled", None),
        ("queued", None),
    ]
    assert moves(running_)[-1] == (3, "buffered", "cancel", "cancelled")
