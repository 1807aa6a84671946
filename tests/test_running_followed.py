"""What follows by itself on a lost line or a passing fault, twice at most, and never where it may have been meant."""

from typing import Any

import pytest
from django.contrib.auth.models import AbstractBaseUser

from chat import generations, running
from chat.models import Generation
from chat.streaming.outcome import Outcome, Reason
from tests.rows import claimed, cut, draft, opened, person, reading, sent

LOST = cut(Reason.connection_lost)
BROKEN = reading("", Outcome.failed, reason=Reason.provider_error, retryable=True)


@pytest.fixture
def ana(db: None) -> AbstractBaseUser:
    return person()


@pytest.mark.parametrize("result", [LOST, BROKEN])
def test_a_fault_of_the_line_or_a_passing_one_is_followed_by_a_new_generation(
    ana: AbstractBaseUser, result: Any
) -> None:
    row = sent(ana, session_key="s1")
    following = running.end(opened(row), result, draft(row)).successor
    assert following is not None
    assert (following.state, following.number, following.attempt, following.automatic_retries) == (
        "queued",
        2,
        2,
        1,
    )
    assert (following.retry_of, following.parent_id, following.session) == (row, row.parent_id, row.session)
    assert (following.endpoint, following.model, following.user_id) == ("scripted", "scripted-1", ana.pk)


def test_by_itself_it_is_tried_twice(ana: AbstractBaseUser) -> None:
    """Then the person is asked; a person's own retry has two new ones again."""
    rows = [sent(ana)]
    while following := running.end(opened(rows[-1]), LOST, draft(rows[-1])).successor:
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
    assert running.end(opened(row), result, draft(row)).successor is None
    assert not Generation.objects.unfinished().exists()


def test_what_was_never_opened_has_no_successor(ana: AbstractBaseUser) -> None:
    """Its requests were repeated while it was queued; a new generation would only repeat them again."""
    row = sent(ana)
    assert running.end(claimed(row), BROKEN, draft(row, "")).successor is None
