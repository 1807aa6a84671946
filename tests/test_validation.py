"""Between a whole stream and a message stand named checks, each with its verdict; any of them blocks."""

from typing import Any

import pytest

from chat.streaming.outcome import Outcome, Reason
from chat.streaming.reading import ToolCall
from chat.validation import Check, Demands, of_gates, validate
from tests.plans import plan, plan_json
from tests.rows import reading

PASSED = [
    Check("terminal_evidence", True, Reason.stream_truncated),
    Check("order_and_integrity", True, Reason.divergent),
    Check("calls_were_offered", True, Reason.unexpected_tool_call),
    Check("not_empty", True, Reason.empty_answer),
    Check("length", True, Reason.event_too_large),
]


def failed(*, tools_offered: bool = False, most: int = 100, **changes: Any) -> list[tuple[str, Reason]]:
    checks = validate(reading(**changes), tools_offered=tools_offered, max_answer_chars=most).checks
    assert [check.name for check in checks] == [check.name for check in PASSED]
    return [(check.name, check.reason) for check in checks if not check.passed]


def test_a_whole_reading_passes_every_check() -> None:
    assert validate(reading(), tools_offered=False, max_answer_chars=100).checks == PASSED


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


def test_an_auditor_is_told_which_tools_were_called_and_not_with_what() -> None:
    calls = [
        ToolCall("c1", "find_gym", '{"near": "home"}', None, complete=False),
        ToolCall("", "", None, None, complete=False),
    ]
    checks = validate(
        reading("", Outcome.tool_requested, tool_calls=calls), tools_offered=False, max_answer_chars=100
    ).checks
    assert checks[2].detail == "called find_gym (16 characters), no name (0 characters)"
    many = reading("", Outcome.tool_requested, tool_calls=calls * 4)
    told = validate(many, tools_offered=False, max_answer_chars=100).checks[2].detail
    assert (told.count("find_gym"), told.endswith(", and 3 more")) == (3, True)


@pytest.mark.parametrize("answer", ["", " ", "\n\t \u00a0", "\u200b\ufeff", "\u00ad\ufe0f", "\ufffd"])
def test_blanks_alone_are_no_answer(answer: str) -> None:
    """Nor is what looks like them."""
    assert failed(answer=answer) == [("not_empty", Reason.empty_answer)]


def test_the_limit_counts_answer_and_reasoning_together() -> None:
    """Exactly the limit passes, one character more does not. A blank line joins the parts: 10 + 4 + 2 + 4."""
    parts: dict[str, Any] = {"answer": "x" * 10, "reasoning_parts": ["y" * 4, "z" * 4]}
    assert failed(**parts, most=20) == []
    assert failed(**parts, most=19) == [("length", Reason.event_too_large)]


# --- what a flow demands --------------------------------------------------------------------------------------------
def told(answer: str, **demands: Any) -> tuple[list[tuple[str, bool, str]], Reason | None]:
    """The verdicts beyond those that every answer gets, and the reason that blocks it."""
    found = validate(
        reading(answer), tools_offered=False, max_answer_chars=10_000, demands=Demands(**demands)
    )
    verdicts = [(check.name, check.passed, check.detail) for check in found.checks[len(PASSED) :]]
    return verdicts, found.failed.reason if found.failed else None


def test_a_ruled_answer_is_held_against_the_rules() -> None:
    assert told("Rest.", ruled=True) == ([("policy", True, "")], None)
    assert told("Rest.", ruled=True, about_health=True) == (
        [("policy", False, "rule points_to_professional")],
        Reason.policy,
    )
    assert told("Take 400 mg of ibuprofen.", ruled=True) == ([("policy", False, "rule dose")], Reason.policy)
    assert told("Take 400 mg of ibuprofen.") == ([], None)


def test_an_answer_that_quotes_is_held_against_its_material() -> None:
    """The verdict names what is missing, and no more than a few of it."""
    assert told("It costs 50 euros.", material="50 € a month") == ([("grounded", True, "")], None)
    assert told("One is 1 €, 2 €, 3 €, 4 €, 5 €, 6 €.", material="50 €") == (
        [("grounded", False, "6 not in the material: 1 €, 2 €, 3 €, 4 €, 5 €")],
        Reason.ungrounded,
    )


def test_a_plan_is_held_against_schema_and_rules_and_then_read_as_text() -> None:
    assert told("no", plan=True) == (
        [("schema", False, "expected one JSON object, got something else")],
        Reason.invalid_plan,
    )
    assert told(plan_json(weeks=0), plan=True) == (
        [("schema", True, ""), ("plan_rules", False, "weeks: expected 1 to 52, got another number")],
        Reason.invalid_plan,
    )
    assert told(plan_json(advice="Take 400 mg of ibuprofen."), plan=True, ruled=True) == (
        [("schema", True, ""), ("plan_rules", True, ""), ("policy", False, "rule dose")],
        Reason.policy,
    )
    good = validate(
        reading(plan_json()), tools_offered=False, max_answer_chars=10_000, demands=Demands(plan=True)
    )
    assert (good.failed, good.plan) == (None, plan())
    assert good.text.startswith("## Strong in four weeks\n")


def test_what_is_not_whole_is_not_looked_at_any_further() -> None:
    """Nobody parses half an object."""
    found = validate(
        reading(plan_json(), Outcome.incomplete),
        tools_offered=False,
        max_answer_chars=10_000,
        demands=Demands(ruled=True, plan=True, material="x"),
    )
    assert ([check.name for check in found.checks], found.plan) == ([check.name for check in PASSED], None)


def test_a_verdict_is_kept_with_what_it_was_about() -> None:
    assert Check("policy", False, Reason.policy, "rule dose").verdict == {
        "check": "policy",
        "passed": False,
        "detail": "rule dose",
    }
    assert PASSED[0].verdict == {"check": "terminal_evidence", "passed": True}


def test_what_the_gates_said_is_a_verdict_too() -> None:
    """A rule that ended it, and thoughts that were shown no further: who audits can tell."""
    assert of_gates(reading()) == []
    assert [check.verdict for check in of_gates(reading(rule="dose", silenced="dismisses_pain"))] == [
        {"check": "policy", "passed": False, "detail": "rule dose"},
        {"check": "reasoning", "passed": True, "detail": "shown no further: rule dismisses_pain"},
    ]
