"""The last wall: what the state table forbids, the database refuses."""

import datetime as dt
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import IntegrityError, transaction
from django.utils import timezone

from chat import conversations
from chat.models import Checkpoint, Generation, JournalRow
from chat.models.generation import FINALS, UNFINISHED
from chat.states.generation import State
from tests.rows import brought_to, ended, person, reading, sent

pytestmark = pytest.mark.django_db


def test_choices_and_finals_are_read_off_the_state_table() -> None:
    """A state that is added to the table is known here without a second list."""
    field = Generation._meta.get_field("state")
    assert [value for value, _ in field.flatchoices] == [str(state) for state in State]
    assert field.default == "queued"
    assert sorted([*FINALS, *UNFINISHED]) == sorted(str(state) for state in State)
    assert FINALS == ["cancelled", "confirmed", "expired", "failed", "incomplete"]


@pytest.mark.parametrize("state", list(State))
def test_final_rows_know_that_they_are(state: State) -> None:
    row = brought_to(state, person())
    assert row.is_final == (str(state) in FINALS)
    assert Generation.objects.unfinished().exists() == (not row.is_final)


@pytest.mark.parametrize(
    "changes",
    [
        {"state": "dreaming"},
        {"state": "failed"},  # an end without its time
        {"ended_at": timezone.now()},  # a time without an end
        {"state": "confirmed", "ended_at": timezone.now()},
        {"confirmed_at": timezone.now()},
        {"state": "cancelled", "ended_at": timezone.now(), "confirmed_at": timezone.now()},
    ],
)
def test_states_and_times_that_do_not_fit_are_refused(changes: dict[str, Any]) -> None:
    row = sent(person())
    with pytest.raises(IntegrityError), transaction.atomic():
        Generation.objects.filter(pk=row.pk).update(**changes)


def another(row: Generation, **changes: Any) -> Generation:
    values = {"conversation": row.conversation, "number": row.number + 1, "endpoint": "x", "model": "y"}
    return Generation.objects.create(**(values | changes))


def test_one_unfinished_generation_per_conversation() -> None:
    """Two replies at once would write on each other; a finished one is in nobody's way."""
    row = sent(person())
    with pytest.raises(IntegrityError), transaction.atomic():
        another(row)
    ended(row, reading())
    assert another(row).number == 2


def test_a_number_is_given_once_in_a_conversation() -> None:
    """The number is the short name in every frame."""
    row = ended(sent(person()), reading())
    with pytest.raises(IntegrityError), transaction.atomic():
        another(row, number=1)


def test_rows_whose_conversation_is_gone_do_not_meet() -> None:
    """The audit keeps any number of them."""
    ana = person()
    for _ in range(2):
        conversation = sent(ana).conversation
        assert conversation is not None
        conversations.delete(conversation, by=ana)
    assert Generation.objects.filter(conversation=None, number=1).count() == 2


def test_a_generation_belongs_to_its_person_as_long_as_its_conversation_is_there() -> None:
    ana, eva = person(), person("eva", is_superuser=True)
    row = sent(ana)
    owned = Generation.objects.owned_by
    assert (list(owned(ana)), list(owned(eva)), list(owned(AnonymousUser()))) == ([row], [], [])
    assert row.conversation is not None
    conversations.delete(row.conversation, by=ana)
    assert list(owned(ana)) == []


def test_leaseless_is_what_nobody_runs() -> None:
    now = timezone.now()
    rows = [sent(person(name)) for name in ("never", "over", "held")]
    leases = (None, now - dt.timedelta(seconds=1), now + dt.timedelta(seconds=1))
    for row, until in zip(rows, leases, strict=True):
        Generation.objects.filter(pk=row.pk).update(lease_until=until)
    assert set(Generation.objects.leaseless(now)) == set(rows[:2])


def test_a_journal_has_each_number_once() -> None:
    subject = uuid4()
    values = {"subject": "generation", "subject_id": subject, "sequence": 1}
    row = JournalRow.objects.create(**values, trigger="opened", from_state="queued", to_state="received")
    assert str(row) == "1: queued -opened-> received"
    with pytest.raises(IntegrityError), transaction.atomic():
        JournalRow.objects.create(**values)


def test_a_checkpoint_goes_with_its_generation() -> None:
    row = sent(person())
    saved = Checkpoint.objects.create(generation=row, seq=3, answer="Two")
    assert str(saved) == f"checkpoint of {row.pk} at 3"
    row.delete()
    assert not Checkpoint.objects.exists()
