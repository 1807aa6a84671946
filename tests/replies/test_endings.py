"""Every way to end short of an answer has its own sentence, and no answer has one."""

import pytest

from chat.replies import endings
from chat.states.generation import GENERATION, State
from chat.streaming.outcome import Reason


def test_every_reason_has_a_row() -> None:
    """A new reason without a sentence would be shown by its state's general one: say what happened instead."""
    assert sorted(endings.REASONS) == sorted(str(reason) for reason in Reason)


def test_every_final_state_but_one_has_a_row() -> None:
    """For rows whose reason this version does not know."""
    assert sorted(endings.STATES) == sorted(str(state) for state in GENERATION.finals - {State.confirmed})


def test_sentences_are_distinct() -> None:
    """Two ends that read alike cannot be told apart by a person, nor by whom they ask for help."""
    sentences = [str(row.sentence) for row in [*endings.REASONS.values(), *endings.STATES.values()]]
    assert sorted(set(sentences)) == sorted(sentences)


def test_every_kind_has_a_mark() -> None:
    """The mark is the word that distinguishes kinds before colour does."""
    kinds = {row.kind for row in [*endings.REASONS.values(), *endings.STATES.values()]}
    assert kinds == set(endings.MARKS)


@pytest.mark.parametrize("state", [*sorted(set(State) - GENERATION.finals), State.confirmed])
def test_what_is_written_or_ready_has_no_ending(state: State) -> None:
    """A reason that lingers on such a row changes nothing."""
    assert endings.ending(str(state), "stalled") is None


def test_unknown_reason_is_told_by_its_state() -> None:
    """A newer process may have written a word that this one does not know."""
    assert endings.ending("incomplete", "moonlight") == endings.STATES["incomplete"]
    assert endings.ending("failed", "") == endings.STATES["failed"]
    assert endings.ending("failed", "quota") == endings.REASONS["quota"]
