"""Between a whole stream and a message stand five checks, each with its verdict."""

from typing import Any

import pytest

from chat.streaming.outcome import Outcome, Reason
from chat.validation import Check, run_checks
from tests.rows import reading

PASSED = [
    Check("terminal_evidence", True, Reason.stream_truncated),
    Check("order_and_integrity", True, Reason.divergent),
    Check("calls_were_offered", True, Reason.unexpected_tool_call),
    Check("not_empty", True, Reason.empty_answer),
    Check("length", True, Reason.event_too_large),
]


def failed(*, tools_offered: bool = False, most: int = 100, **changes: Any) -> list[tuple[str, Reason]]:
    checks = run_checks(reading(**changes), tools_offered=tools_offered, max_answer_chars=most)
    assert [check.name for check in checks] == [check.name for check in PASSED]
    return [(check.name, check.reason) for check in checks if not check.passed]


def test_a_whole_reading_passes_every_check() -> None:
    assert run_checks(reading(), tools_offered=False, max_answer_chars=100) == PASSED


@pytest.mark.parametrize(
    "outcome", [outcome for outcome in Outcome if outcome not in {Outcome.complete, Outcome.tool_requested}]
)
def test_without_the_providers_own_end_nothing_passes(outcome: Outcome) -> None:
    """Text alone proves nothing, however whole it reads."""
    assert failed(outcome=outcome) == [("terminal_evidence", Reason.stream_truncated)]


def test_a_final_text_that_differs_from_what_was_sent_is_divergent() -> None:
    assert failed(divergence="expected 5 characters, got 6") == [("order_and_integrity", Reason.divergent)]


def test_a_call_that_nobody_offered_fails_and_one_that_was_needs_no_text() -> None:
    call: dict[str, Any] = {"outcome": Outcome.tool_requested, "answer": ""}
    assert failed(**call) == [("calls_were_offered", Reason.unexpected_tool_call)]
    assert failed(**call, tools_offered=True) == []


@pytest.mark.parametrize("answer", ["", " ", "\n\t \u00a0", "\u200b\ufeff", "\u00ad\ufe0f", "\ufffd"])
def test_blanks_alone_are_no_answer(answer: str) -> None:
    """Nor is what looks like them."""
    assert failed(answer=answer) == [("not_empty", Reason.empty_answer)]


def test_the_limit_counts_answer_and_reasoning_together() -> None:
    """Exactly the limit passes, one character more does not. A blank line joins the parts: 10 + 4 + 2 + 4."""
    parts: dict[str, Any] = {"answer": "x" * 10, "reasoning_parts": ["y" * 4, "z" * 4]}
    assert failed(**parts, most=20) == []
    assert failed(**parts, most=19) == [("length", Reason.event_too_large)]
