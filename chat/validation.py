"""What must hold before a whole stream becomes a message: named checks, each with a recorded verdict.

Takes a `Reading` that claims to be whole, and what its flow demands beside the limits; gives the verdicts in order. A check
that a flow does not ask for has no verdict. Knows no database and no provider.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from chat import planning
from chat.grounded import ungrounded
from chat.policy.advice import broken_by_whole
from chat.streaming.outcome import Outcome, Reason
from chat.streaming.reading import Reading, ToolCall
from chat.streaming.visible import is_visible

NAMED = 5  # how many ungrounded figures, or calls, a verdict names


class Check(NamedTuple):
    """One verdict: the check's name, whether it passed, the reason that a failure gives, and what it was about (a rule, a
    place; never a text)."""

    name: str
    passed: bool
    reason: Reason
    detail: str = ""

    @property
    def verdict(self) -> dict[str, Any]:
        """What is kept of it with the generation."""
        kept: dict[str, Any] = {"check": self.name, "passed": self.passed}
        return kept | ({"detail": self.detail} if self.detail else {})


class Demands(NamedTuple):
    """What a flow asks of an answer beyond what every answer must be."""

    ruled: bool = False
    about_health: bool = False
    plan: bool = False
    material: str = ""


class Validated(NamedTuple):
    """The verdicts, and what is kept: the text, and the plan that it came from."""

    checks: list[Check]
    text: str
    plan: dict[str, Any] | None = None

    @property
    def failed(self) -> Check | None:
        return next((check for check in self.checks if not check.passed), None)


def of_gates(reading: Reading) -> list[Check]:
    """What the gates said while it was written: the rule that ended it, and the one from which on its thoughts were shown no
    further, which costs no answer."""
    checks = []
    if reading.rule:
        checks.append(Check("policy", passed=False, reason=Reason.policy, detail=f"rule {reading.rule}"))
    if reading.silenced:
        told = f"shown no further: rule {reading.silenced}"
        checks.append(Check("reasoning", passed=True, reason=Reason.policy, detail=told))
    return checks


def _told_of(calls: Sequence[ToolCall]) -> str:
    """Which tools were called, and how long their arguments are: those may hold what is nobody else's to read."""
    told = [f"{call.name[:80] or 'no name'} ({len(call.arguments_text or '')} characters)" for call in calls]
    more = f", and {len(told) - NAMED} more" if len(told) > NAMED else ""
    return f"called {', '.join(told[:NAMED])}{more}" if told else ""


def validate(
    reading: Reading, *, tools_offered: bool, max_answer_chars: int, demands: Demands | None = None
) -> Validated:
    """Every check, in order; the first that failed names the reason. What is blocked is blocked by any of them."""
    wanted = demands or Demands()
    whole = reading.outcome in (Outcome.complete, Outcome.tool_requested)
    called = reading.outcome is Outcome.tool_requested
    length = len(reading.answer) + len(reading.reasoning)
    checks = [
        Check("terminal_evidence", whole, Reason.stream_truncated),
        Check("order_and_integrity", reading.divergence is None, Reason.divergent),
        Check(
            "calls_were_offered",
            not (called and not tools_offered),
            Reason.unexpected_tool_call,
            _told_of(reading.tool_calls),
        ),
        Check("not_empty", is_visible(reading.answer) or called, Reason.empty_answer),
        Check("length", length <= max_answer_chars, Reason.event_too_large),
    ]
    if not all(check.passed for check in checks) or called:
        return Validated(checks, reading.answer)
    text, plan = reading.answer, None
    if wanted.plan:
        judged = planning.judge(reading.answer)
        plan = judged.plan
        checks.append(Check("schema", not judged.schema_fault, Reason.invalid_plan, judged.schema_fault))
        if not judged.schema_fault:
            checks.append(
                Check("plan_rules", not judged.rules_fault, Reason.invalid_plan, judged.rules_fault)
            )
        # What a person would read is what the rules below look at; of no plan there is nothing to read.
        text = planning.as_text(plan) if plan is not None else ""
        if plan is None:
            return Validated(checks, text)
    if wanted.ruled:
        rule = broken_by_whole(text, about_health=wanted.about_health)
        checks.append(Check("policy", rule is None, Reason.policy, f"rule {rule}" if rule else ""))
    if wanted.material:
        missing = ungrounded(text, wanted.material)
        told = f"{len(missing)} not in the material: {', '.join(missing[:NAMED])}" if missing else ""
        checks.append(Check("grounded", not missing, Reason.ungrounded, told))
    return Validated(checks, text, plan)
