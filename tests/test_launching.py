"""Engines hear of a move after its commit, from the verbs alone; without one nothing is lost."""

from typing import Any

import pytest
from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction

from chat import generations, launching
from chat.models import Generation
from tests.rows import (
    person,
    sent,
)

COMMITTED = pytest.mark.django_db(transaction=True)  # threads and on-commit calls need real commits


@pytest.fixture
def ana(db: None) -> AbstractBaseUser:
    return person()


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

    def signed_out(self, session_key: str) -> None:
        self.calls.append(("signed_out", session_key))


@pytest.fixture
def told() -> Any:
    engine = Told()
    launching.register_engine(engine)
    yield engine
    launching.unregister_engine(engine)


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
