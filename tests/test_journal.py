"""One door for every state: what the table says happens, with its journal row, and once."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import AbstractBaseUser
from django.db import IntegrityError
from django.forms import model_to_dict
from django.utils import timezone
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from chat import journal
from chat.journal import Fired
from chat.models import Generation, JournalRow, ToolCall
from chat.states.generation import GENERATION, State, Trigger
from chat.states.toolcall import TOOL_CALL
from chat.states.toolcall import State as CallState
from chat.states.toolcall import Trigger as CallTrigger
from chat.streaming.errors import IllegalTransition
from chat.streaming.outcome import Reason
from tests.rows import brought_to, closing, moves, person, sent, times_of, way_to


@pytest.fixture
def user(db: None) -> AbstractBaseUser:
    return person()


def values(row: Generation) -> dict[str, Any]:
    """Every column as it is stored now."""
    return dict(Generation.objects.filter(pk=row.pk).values().get())


@pytest.mark.parametrize("trigger", list(Trigger))
@pytest.mark.parametrize("state", list(State))
def test_every_state_answers_every_trigger_as_the_table_says(
    user: AbstractBaseUser, state: State, trigger: Trigger
) -> None:
    """The whole table, cell by cell: moved with a journal row, late and counted, or a bug that is told."""
    row = brought_to(state, user)
    before, journalled = values(row), moves(row)
    target = GENERATION.table[state].get(trigger)
    changes = times_of(target) if target else {}

    def fire() -> Fired:
        return journal.fire(row, trigger, seen=row.state, actor="test", **changes)

    if target is not None:
        assert fire() is Fired.MOVED
        assert values(row) == before | changes | {"state": str(target), "version": before["version"] + 1}
        assert moves(row) == [*journalled, (len(journalled) + 1, str(state), str(trigger), str(target))]
        assert (row.state, row.version) == (str(target), before["version"] + 1)
    elif state in GENERATION.finals:
        assert fire() is Fired.LATE
        assert values(row) == before | {"late": 1}
        assert moves(row) == journalled
    else:
        with pytest.raises(IllegalTransition):
            fire()
        assert values(row) == before
        assert moves(row) == journalled


def call_in(state: CallState, user: AbstractBaseUser) -> ToolCall:
    """A tool call that stands in `state`, moved there by the journal."""
    row = ToolCall.objects.create(generation=sent(user), position=0, name="find_gym", arguments_chars=0)
    for trigger in way_to(TOOL_CALL, state):
        target = TOOL_CALL.table[CallState(row.state)][trigger]
        assert journal.fire(row, trigger, seen=row.state, actor="test", **end_of(target)) is Fired.MOVED
    return row


def end_of(target: CallState | None) -> dict[str, Any]:
    return {"ended_at": timezone.now()} if target in TOOL_CALL.finals else {}


@pytest.mark.parametrize("trigger", list(CallTrigger))
@pytest.mark.parametrize("state", list(CallState))
def test_a_tool_call_answers_every_trigger_as_its_table_says(
    user: AbstractBaseUser, state: CallState, trigger: CallTrigger
) -> None:
    """The second machine goes through the same door, by its own table and with a journal of its own."""
    row = call_in(state, user)

    def stored() -> dict[str, Any]:
        return dict(ToolCall.objects.filter(pk=row.pk).values().get())

    def journalled() -> list[Any]:
        rows = JournalRow.objects.filter(subject="tool_call", subject_id=row.pk).order_by("sequence")
        return list(rows.values_list("sequence", "from_state", "trigger", "to_state"))

    before, moves_before = stored(), journalled()
    assert (before["state"], before["version"]) == (str(state), len(moves_before))
    target = TOOL_CALL.table[state].get(trigger)
    changes = end_of(target)

    def fire() -> Fired:
        return journal.fire(row, trigger, seen=row.state, actor="test", **changes)

    if target is not None:
        assert fire() is Fired.MOVED
        assert stored() == before | changes | {"state": str(target), "version": before["version"] + 1}
        move = (len(moves_before) + 1, str(state), str(trigger), str(target))
        assert journalled() == [*moves_before, move]
    elif state in TOOL_CALL.finals:
        assert fire() is Fired.LATE
        assert (stored(), journalled()) == (before | {"late": 1}, moves_before)
    else:
        with pytest.raises(IllegalTransition):
            fire()
        assert (stored(), journalled()) == (before, moves_before)


def test_of_two_who_decide_a_call_one_is_late(user: AbstractBaseUser) -> None:
    row = call_in(CallState.proposed, user)
    rival, stale = ToolCall.objects.get(), ToolCall.objects.get()
    end = end_of(CallState.rejected)
    assert journal.fire(row, CallTrigger.denied, seen="proposed", actor="a", **end) is Fired.MOVED
    assert journal.fire(rival, CallTrigger.denied, seen="proposed", actor="b", **end) is Fired.LATE
    ToolCall.objects.all().delete()
    assert journal.fire(stale, CallTrigger.denied, seen="proposed", actor="c", **end) is Fired.GONE


def test_who_saw_an_older_version_of_a_call_has_lost(user: AbstractBaseUser) -> None:
    row = call_in(CallState.proposed, user)
    rival = ToolCall.objects.get()
    assert journal.fire(row, CallTrigger.accepted, seen="proposed", actor="a") is Fired.MOVED
    assert journal.fire(rival, CallTrigger.accepted, seen="proposed", actor="b") is Fired.LOST


def test_a_trigger_of_the_other_machine_is_a_bug(user: AbstractBaseUser) -> None:
    """Also of a row that has ended, where any trigger of its own is only late."""
    for state in (CallState.proposed, CallState.rejected):
        row = call_in(state, person(str(state)))
        with pytest.raises(ValueError, match="opened"):
            journal.fire(row, Trigger.opened, seen=row.state, actor="test")


def test_a_move_is_journalled_with_who_why_and_by_which_fence(user: AbstractBaseUser) -> None:
    row = sent(user)
    fired = journal.fire(
        row,
        Trigger.error,
        seen="queued",
        actor="runner-1",
        reason=Reason.quota,
        detail="no credit",
        fence=0,
        **times_of(State.failed),
    )
    entry = JournalRow.objects.get()
    assert fired is Fired.MOVED
    assert model_to_dict(entry, exclude=["id"]) == {
        "subject": "generation",
        "subject_id": row.pk,
        "sequence": 1,
        "trigger": "error",
        "from_state": "queued",
        "to_state": "failed",
        "actor": "runner-1",
        "reason": "quota",
        "detail": "no credit",
        "fence": 0,
    }
    row.refresh_from_db()
    assert (row.reason, row.detail) == ("quota", "no credit")


def test_what_has_no_reason_is_journalled_without_one(user: AbstractBaseUser) -> None:
    journal.fire(sent(user), Trigger.opened, seen="queued", actor="runner-1")
    entry = JournalRow.objects.get()
    assert (entry.reason, entry.detail, entry.fence) == ("", "", None)


def test_who_saw_another_state_has_lost_whatever_the_version(user: AbstractBaseUser) -> None:
    row = sent(user)
    before = values(row)
    assert journal.fire(row, Trigger.first_delta, seen="received", actor="runner") is Fired.LOST
    assert (values(row), moves(row)) == (before, [])


def test_who_saw_an_older_version_has_lost(user: AbstractBaseUser) -> None:
    """The version decides, even where the state reads the same."""
    row, rival = sent(user), Generation.objects.get()
    journal.fire(row, Trigger.opened, seen="queued", actor="first")
    before = values(row)
    assert journal.fire(rival, Trigger.opened, seen="queued", actor="second") is Fired.LOST
    rival.state = "received"
    assert journal.fire(rival, Trigger.first_delta, seen="received", actor="second") is Fired.LOST
    assert values(row) == before
    assert moves(row) == [(1, "queued", "opened", "received")]


def test_a_stale_fence_has_lost(user: AbstractBaseUser) -> None:
    """A frozen runner wakes up: its fence is not the row's any more."""
    row = sent(user)
    Generation.objects.update(fence=2)
    assert journal.fire(row, Trigger.opened, seen="queued", actor="old", fence=1) is Fired.LOST
    assert journal.fire(row, Trigger.opened, seen="queued", actor="new", fence=2) is Fired.MOVED


def test_what_was_ended_by_someone_else_is_late(user: AbstractBaseUser) -> None:
    """The loser against an end learns that there is one, and it is counted."""
    row, rival = sent(user), Generation.objects.get()
    journal.fire(row, Trigger.cancel, seen="queued", actor="person", **times_of(State.cancelled))
    assert journal.fire(rival, Trigger.opened, seen="queued", actor="runner") is Fired.LATE
    assert (rival.state, values(row)["late"]) == ("queued", 1)


@pytest.mark.parametrize("seen", ["queued", "confirmed"])
def test_a_row_that_is_missing_is_gone(user: AbstractBaseUser, seen: str) -> None:
    row = sent(user)
    Generation.objects.all().delete()
    assert journal.fire(row, Trigger.cancel, seen=seen, actor="person") is Fired.GONE
    assert not JournalRow.objects.exists()


def test_superseding_takes_the_row_from_its_runner(user: AbstractBaseUser) -> None:
    """After the reaper nothing counts that the runner still writes: its fence, its lease and its name are gone."""
    row = sent(user)
    Generation.objects.update(fence=4, owner="runner-1", lease_until="2030-01-01T00:00:00Z")
    row.refresh_from_db()
    runners = Generation.objects.get()
    times = times_of(State.expired)
    fired = journal.fire(
        row, Trigger.deadline, seen="queued", actor="reaper", fence=4, supersede=True, **times
    )
    assert fired is Fired.MOVED
    row.refresh_from_db()
    assert (row.state, row.fence, row.owner, row.lease_until) == ("expired", 5, "", None)
    assert journal.fire(runners, Trigger.opened, seen="queued", actor="runner-1", fence=4) is Fired.LATE


def test_a_move_without_its_journal_row_does_not_happen(user: AbstractBaseUser) -> None:
    """Both or neither: here the row's number is taken."""
    row = sent(user)
    JournalRow.objects.create(subject="generation", subject_id=row.pk, sequence=1, actor="forger")
    with pytest.raises(IntegrityError):
        journal.fire(row, Trigger.opened, seen="queued", actor="runner")
    assert (values(row)["state"], row.state, row.version) == ("queued", "queued", 0)


def test_the_same_number_may_stand_in_the_journals_of_two_subjects(db: None) -> None:
    for subject in (uuid4(), uuid4()):
        JournalRow.objects.create(subject="generation", subject_id=subject, sequence=1)
    assert JournalRow.objects.count() == 2


@given(triggers=st.lists(st.sampled_from(Trigger), max_size=10))
@hypothesis_settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_whatever_comes_the_journal_replays_to_the_row(
    user: AbstractBaseUser, triggers: list[Trigger]
) -> None:
    """Any sequence of triggers: the journal has one unbroken chain, and its last link is the row's state."""
    row, late = sent(user), 0
    for trigger in triggers:
        target = GENERATION.table[State(row.state)].get(trigger)
        try:
            fired = journal.fire(
                row, trigger, seen=row.state, actor="test", **(times_of(target) if target else {})
            )
        except IllegalTransition:
            continue
        late += fired is Fired.LATE
    at = str(GENERATION.initial)
    for number, (sequence, from_state, trigger_name, to_state) in enumerate(moves(row), start=1):
        assert (sequence, from_state) == (number, at)
        assert to_state == GENERATION.next_state(State(from_state), Trigger(trigger_name))
        at = to_state
    stored = values(row)
    assert (stored["state"], stored["version"], stored["late"]) == (at, len(moves(row)), late)


@pytest.mark.django_db(transaction=True)
def test_of_rival_ends_exactly_one_wins() -> None:
    """Eight threads on a real file, a person's stop against the stream's end, twenty times: one winner each time."""
    user, threads, rounds = person(), 8, 20
    rows = [brought_to(State.buffered, user, text=f"Question {number}?") for number in range(rounds)]
    start = Barrier(threads)
    rivals = (
        (Trigger.cancel, State.cancelled),
        (Trigger.ended_short, State.incomplete),
        (Trigger.error, State.failed),
        (Trigger.deadline, State.expired),
    )

    def race(thread: int) -> list[Fired]:
        trigger, target = rivals[thread % len(rivals)]
        answers = []
        for row in rows:
            mine = Generation.objects.get(pk=row.pk)
            start.wait(30)
            answers.append(
                journal.fire(mine, trigger, seen="buffered", actor=f"rival {thread}", **times_of(target))
            )
            start.wait(30)
        return answers

    with ThreadPoolExecutor(threads) as pool:
        runs = [pool.submit(closing, race, number) for number in range(threads)]
        answers = list(zip(*(run.result(60) for run in runs), strict=True))
    assert [sorted(answer) for answer in answers] == [[Fired.LATE] * (threads - 1) + [Fired.MOVED]] * rounds
    for row, answer in zip(rows, answers, strict=True):
        winner = answer.index(Fired.MOVED)
        trigger, target = rivals[winner % len(rivals)]
        assert moves(row)[2:] == [(3, "buffered", str(trigger), str(target))]
        stored = values(row)
        assert (stored["state"], stored["version"], stored["late"]) == (str(target), 3, threads - 1)
