"""The words are those of the contract, and each body's ending has its reason."""

from __future__ import annotations

from chat.streaming.outcome import ENDING_REASONS, Outcome, Reason, Verdict
from tests.recordings.corpus import contract_cases

FOLDERS = ("openai_chat", "openai_compat", "openai_responses", "anthropic", "gemini", "gemini_interactions")


def test_every_word_of_the_contract_exists() -> None:
    """A wire of a later day must find its outcome and its reason here."""
    told = [case.expected for case in contract_cases(*FOLDERS)]
    assert {case["outcome"] for case in told} == set(Outcome)
    assert {case["reason"] for case in told} - {None} <= set(Reason)


def test_every_ending_has_its_reason() -> None:
    """A stream without its terminal signal is never whole, and says how it ended."""
    assert ENDING_REASONS == {"eof": "stream_truncated", "cut": "connection_lost", "stalled": "stalled"}


def test_a_verdict_needs_only_its_outcome() -> None:
    """Nothing is retryable, or has a reason, unless somebody says so."""
    verdict = Verdict(Outcome.complete)
    assert (verdict.reason, verdict.provider_reason, verdict.retryable, verdict.detail) == (
        None,
        None,
        None,
        "",
    )
