"""The last wall of a tool call: what the state table forbids, the database refuses."""

from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from chat.models import ToolCall
from chat.models.toolcall import CALL_FINALS, CALL_OPEN
from chat.states.toolcall import State
from tests.rows import person, sent

pytestmark = pytest.mark.django_db


def proposed(**changes: Any) -> ToolCall:
    values = {"generation": sent(person()), "position": 0, "name": "find_gym", "arguments_chars": 0}
    return ToolCall.objects.create(**(values | changes))


def test_choices_and_finals_are_read_off_the_state_table() -> None:
    """A state that is added to the table is known here without a second list."""
    field = ToolCall._meta.get_field("state")
    assert [value for value, _ in field.flatchoices] == [str(state) for state in State]
    assert field.default == "proposed"
    assert sorted([*CALL_FINALS, *CALL_OPEN]) == sorted(str(state) for state in State)
    assert CALL_FINALS == ["compensated", "declined", "expired", "failed", "rejected", "unresolved"]


@pytest.mark.parametrize(
    "changes",
    [
        {"state": "dreaming"},
        {"state": "rejected"},  # an end without its time
        {"ended_at": timezone.now()},  # a time without an end
        {"state": "executed", "ended_at": timezone.now()},  # it may still be compensated
    ],
)
def test_states_and_times_that_do_not_fit_are_refused(changes: dict[str, Any]) -> None:
    row = proposed()
    with pytest.raises(IntegrityError), transaction.atomic():
        ToolCall.objects.filter(pk=row.pk).update(**changes)


def test_a_place_is_given_once_in_a_reply() -> None:
    row = proposed()
    assert str(row) == "call 1 of find_gym (proposed)"
    with pytest.raises(IntegrityError), transaction.atomic():
        ToolCall.objects.create(generation=row.generation, position=0, name="other", arguments_chars=0)
