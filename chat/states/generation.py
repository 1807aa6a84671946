"""The life of one generation, from the click to its end.

Takes nothing; gives the table, and what each outcome fires. Knows no database: `journal.py` moves the rows.
"""

from __future__ import annotations

from enum import StrEnum

from chat.states.machine import Machine
from chat.streaming.outcome import Outcome


class State(StrEnum):
    """Where a generation stands."""

    queued = "queued"
    received = "received"
    buffered = "buffered"
    assembled = "assembled"
    validated = "validated"
    confirmed = "confirmed"
    cancelled = "cancelled"
    incomplete = "incomplete"
    failed = "failed"
    expired = "expired"


class Trigger(StrEnum):
    """What moves a generation."""

    opened = "opened"
    first_delta = "first_delta"
    ended_whole = "ended_whole"
    checks_passed = "checks_passed"
    committed = "committed"
    ended_short = "ended_short"
    rejected = "rejected"
    error = "error"
    cancel = "cancel"
    deadline = "deadline"


# What may happen at any time until the text has passed its checks.
_ALWAYS = {
    Trigger.rejected: State.failed,
    Trigger.error: State.failed,
    Trigger.cancel: State.cancelled,
    Trigger.deadline: State.expired,
}
_ONCE_OPEN = {Trigger.ended_short: State.incomplete, **_ALWAYS}

GENERATION = Machine(
    "generation",
    states=State,
    triggers=Trigger,
    initial=State.queued,
    table={
        State.queued: {Trigger.opened: State.received, **_ALWAYS},
        State.received: {
            Trigger.first_delta: State.buffered,
            Trigger.ended_whole: State.assembled,
            **_ONCE_OPEN,
        },
        State.buffered: {Trigger.ended_whole: State.assembled, **_ONCE_OPEN},
        State.assembled: {Trigger.checks_passed: State.validated, **_ONCE_OPEN},
        # Fires in the transaction of `checks_passed`: nobody ever sees `validated` alone, so nothing else can
        # come.
        State.validated: {Trigger.committed: State.confirmed},
        State.confirmed: {},
        State.cancelled: {},
        State.incomplete: {},
        State.failed: {},
        State.expired: {},
    },
)

OUTCOME_TRIGGER: dict[Outcome, Trigger | None] = {
    Outcome.complete: Trigger.ended_whole,
    Outcome.tool_requested: Trigger.ended_whole,
    Outcome.incomplete: Trigger.ended_short,
    Outcome.refused: Trigger.rejected,
    Outcome.failed: Trigger.error,
    # The provider may still be writing: the lease is kept, nothing moves.
    Outcome.open: None,
}
"""What the outcome of a stream fires. The one place."""
