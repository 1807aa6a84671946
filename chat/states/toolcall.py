"""The life of one tool call, from the model's request to its effect.

Takes nothing; gives the table. Knows no database: `journal.py` moves the rows.
"""

from __future__ import annotations

from enum import StrEnum

from chat.states.machine import Machine


class State(StrEnum):
    """Where a tool call stands."""

    proposed = "proposed"
    validated = "validated"
    awaiting_confirmation = "awaiting_confirmation"
    approved = "approved"
    executing = "executing"
    unknown = "unknown"
    executed = "executed"
    rejected = "rejected"
    declined = "declined"
    expired = "expired"
    failed = "failed"
    unresolved = "unresolved"
    compensated = "compensated"


class Trigger(StrEnum):
    """What moves a tool call. The effect's result is two triggers, since a table has one state per cell."""

    accepted = "accepted"
    denied = "denied"
    needs_person = "needs_person"
    approved = "approved"
    declined = "declined"
    deadline = "deadline"
    claimed = "claimed"
    succeeded = "succeeded"
    errored = "errored"
    outcome_lost = "outcome_lost"
    found = "found"
    not_found = "not_found"
    given_up = "given_up"
    compensated = "compensated"


TOOL_CALL = Machine(
    "tool call",
    states=State,
    triggers=Trigger,
    initial=State.proposed,
    table={
        State.proposed: {Trigger.accepted: State.validated, Trigger.denied: State.rejected},
        State.validated: {
            Trigger.denied: State.rejected,
            Trigger.needs_person: State.awaiting_confirmation,
            Trigger.approved: State.approved,
            Trigger.declined: State.declined,
            Trigger.deadline: State.expired,
        },
        State.awaiting_confirmation: {
            Trigger.denied: State.rejected,
            Trigger.approved: State.approved,
            Trigger.declined: State.declined,
            Trigger.deadline: State.expired,
        },
        State.approved: {
            Trigger.denied: State.rejected,
            Trigger.declined: State.declined,
            Trigger.deadline: State.expired,
            Trigger.claimed: State.executing,
        },
        State.executing: {
            Trigger.succeeded: State.executed,
            Trigger.errored: State.failed,
            Trigger.outcome_lost: State.unknown,
        },
        State.unknown: {
            Trigger.found: State.executed,
            # The effect did not happen: the same idempotency key may be used once more.
            Trigger.not_found: State.approved,
            Trigger.given_up: State.unresolved,
        },
        State.executed: {Trigger.compensated: State.compensated},
        State.rejected: {},
        State.declined: {},
        State.expired: {},
        State.failed: {},
        State.unresolved: {},
        State.compensated: {},
    },
)
