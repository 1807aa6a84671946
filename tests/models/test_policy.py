"""The database refuses a gate that nobody could make."""

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from chat.flows import Switch
from chat.models import GatePolicy
from chat.streaming.gates import GATES, SIZED, make

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("gate", "chars"),
    [("window", None), ("hold_first", 0), ("window", 100_001), ("sentence", 10), ("open", None), ("", None)],
)
def test_rows_that_the_database_refuses(gate: str, chars: int | None) -> None:
    """Whatever writes them: a form, a shell or a query."""
    with pytest.raises(IntegrityError), transaction.atomic():
        GatePolicy.objects.create(endpoint="openai", gate=gate, chars=chars)


@pytest.mark.parametrize("gate", sorted(GATES))
def test_every_gate_can_be_switched_on_and_made(gate: str) -> None:
    row = GatePolicy(endpoint="openai", gate=gate)
    row.full_clean()
    row.save()
    assert row.switch == Switch(f"{gate} 200" if gate in SIZED else gate, for_health=False, where="openai")
    make(row.spelled)


def test_a_size_where_none_counts_is_told() -> None:
    with pytest.raises(ValidationError, match="Only window and hold_first"):
        GatePolicy(endpoint="openai", gate="whole", chars=5).full_clean()


def test_one_row_for_each_model() -> None:
    GatePolicy.objects.create(endpoint="openai", gate="whole")
    with pytest.raises(IntegrityError), transaction.atomic():
        GatePolicy.objects.create(endpoint="openai", gate="sentence")


def test_who_has_no_row_is_not_switched() -> None:
    GatePolicy.objects.create(endpoint="openai", model="gpt", gate="whole")
    assert GatePolicy.objects.switch_for("openai", "other") is None
    assert str(GatePolicy.objects.get()) == "openai:gpt: whole"
