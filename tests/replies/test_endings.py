"""Every way to end short of an answer has its own sentence, and no answer has one."""

import pytest
from django.utils import translation

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
    rows = [*endings.REASONS.values(), *endings.STATES.values(), endings.PROVIDER_BROKE]
    rows += [each.ending for each in endings.PAGE_ENDINGS if each.name == "signedOut"]
    sentences = [str(row.sentence) for row in rows]
    assert sorted(set(sentences)) == sorted(sentences)


@pytest.mark.parametrize("language", ["pt-br", "es"])
def test_every_sentence_and_mark_is_in_each_language(language: str) -> None:
    """A person reads why there is no answer in their own language, or does not know what to do."""
    rows = [*endings.REASONS.values(), *endings.STATES.values(), endings.PROVIDER_BROKE]
    rows += [each.ending for each in endings.PAGE_ENDINGS]

    def said() -> list[str]:
        waits = endings.ending("failed", "rate_limited", "HTTP 429; asked to wait 600 s")
        assert waits is not None
        return [str(waits.sentence), *(str(row.sentence) for row in rows), *map(str, endings.MARKS.values())]

    with translation.override("en"):
        english = said()
    with translation.override(language):
        theirs = said()
    assert [one for one, other in zip(theirs, english, strict=True) if one == other] == []


def test_every_kind_has_a_mark() -> None:
    """The mark is the word that distinguishes kinds before colour does."""
    rows = [*endings.REASONS.values(), *endings.STATES.values()]
    assert {row.kind for row in rows} == set(endings.MARKS)
    assert [row.mark for row in rows] == [endings.MARKS[row.kind] for row in rows]


def test_what_no_person_stopped_is_not_said_to_be_yours() -> None:
    """The reaper stops what is written for somebody who was deactivated."""
    assert endings.ending("cancelled", "cancelled") == endings.REASONS["cancelled"]
    assert endings.ending("cancelled", "cancelled", by_person=False) == endings.STATES["cancelled"]
    assert endings.ending("cancelled", "deleted", by_person=False) == endings.REASONS["deleted"]


@pytest.mark.parametrize(
    ("detail", "broke"),
    [
        ("HTTP 500: Something broke.", True),
        ("HTTP 503", True),
        ("HTTP 529: Overloaded", True),
        ("HTTP 400: no such field", False),
        ("HTTP 5000", False),
        ("they said HTTP 500", False),
        ("", False),
    ],
)
def test_who_broke_did_not_refuse(detail: str, broke: bool) -> None:  # noqa: FBT001
    """An HTTP error of the 5xx kind is the provider's fault; nobody's request was turned down."""
    expected = endings.PROVIDER_BROKE if broke else endings.REASONS["http_error"]
    assert endings.ending("failed", "http_error", detail) == expected
    assert endings.ending("failed", "rate_limited", detail) == endings.REASONS["rate_limited"]


@pytest.mark.parametrize(
    ("detail", "sentence"),
    [
        ("HTTP 429: Slow down.; asked to wait 5 s", "It can be asked again in 1 minute."),
        ("HTTP 429; asked to wait 61 s", "It can be asked again in 2 minutes."),
        ("HTTP 429; asked to wait 7200 s", "It can be asked again in 120 minutes."),
        ("asked to wait 5 s, they said", "Give it a minute, then try again."),
        ("HTTP 429; asked to wait 99999999 s", "Give it a minute, then try again."),
    ],
)
def test_a_provider_that_wants_to_be_left_alone_is_told_with_how_long(detail: str, sentence: str) -> None:
    told = endings.ending("failed", "rate_limited", detail)
    assert told is not None
    assert str(told.sentence).endswith(sentence)
    assert told.retry


def test_only_a_full_conversation_is_begun_anew() -> None:
    assert [word for word, each in endings.REASONS.items() if each.anew] == ["context_window"]


def test_a_page_ends_as_the_reply_did_and_otherwise_says_that_it_looks_away() -> None:
    """What a page is told nothing more of stands there in a state that is over."""
    assert [(each.name, each.state, each.reason) for each in endings.PAGE_ENDINGS] == [
        ("gone", "cancelled", "deleted"),
        ("signedOut", "incomplete", "signed_out"),
    ]
    assert {each.state for each in endings.PAGE_ENDINGS} <= {str(state) for state in GENERATION.finals}
    assert endings.PAGE_ENDINGS[0].ending == endings.REASONS["deleted"]
    assert not any(each.ending.retry for each in endings.PAGE_ENDINGS)


@pytest.mark.parametrize("state", [*sorted(set(State) - GENERATION.finals), State.confirmed])
def test_what_is_written_or_ready_has_no_ending(state: State) -> None:
    """A reason that lingers on such a row changes nothing."""
    assert endings.ending(str(state), "stalled") is None


def test_unknown_reason_is_told_by_its_state() -> None:
    """A newer process may have written a word that this one does not know."""
    assert endings.ending("incomplete", "moonlight") == endings.STATES["incomplete"]
    assert endings.ending("failed", "") == endings.STATES["failed"]
    assert endings.ending("failed", "quota") == endings.REASONS["quota"]
