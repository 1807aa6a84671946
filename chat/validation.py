"""What must hold before a whole stream becomes a message: named checks, each with a recorded verdict.

Takes a `Reading` that claims to be whole and the limits, gives the verdicts in order. Knows no database and no provider.
"""

from typing import NamedTuple

from chat.streaming.outcome import Outcome, Reason
from chat.streaming.reading import Reading
from chat.streaming.visible import is_visible


class Check(NamedTuple):
    """One verdict: the check's name, whether it passed, and the reason that a failure gives."""

    name: str
    passed: bool
    reason: Reason


def run_checks(reading: Reading, *, tools_offered: bool, max_answer_chars: int) -> list[Check]:
    """Every check, in order; the first that failed names the reason."""
    whole = reading.outcome in (Outcome.complete, Outcome.tool_requested)
    unasked = reading.outcome is Outcome.tool_requested and not tools_offered
    has_text = is_visible(reading.answer) or reading.outcome is Outcome.tool_requested
    length = len(reading.answer) + len(reading.reasoning)
    return [
        Check("terminal_evidence", whole, Reason.stream_truncated),
        Check("order_and_integrity", reading.divergence is None, Reason.divergent),
        Check("calls_were_offered", not unasked, Reason.unexpected_tool_call),
        Check("not_empty", has_text, Reason.empty_answer),
        Check("length", length <= max_answer_chars, Reason.event_too_large),
    ]
