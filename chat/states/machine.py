"""One state machine as a table, and the one question that is asked of it.

Takes a state and a trigger; gives the next state. Knows no database, no actor and no time.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Generic, TypeVar

from chat.streaming.errors import IllegalTransition

S = TypeVar("S", bound=StrEnum)
T = TypeVar("T", bound=StrEnum)


class Machine(Generic[S, T]):
    """States, triggers and the table between them; a state with an empty row is final."""

    def __init__(
        self,
        name: str,
        *,
        states: type[S],
        triggers: type[T],
        initial: S,
        table: Mapping[S, Mapping[T, S]],
    ) -> None:
        if set(table) != set(states):
            raise ValueError(f"expected one row for each state of {name}, got {', '.join(table)}")
        self.name = name
        self.states = states
        self.triggers = triggers
        self.initial = initial
        self.table = {state: dict(row) for state, row in table.items()}
        self.finals = frozenset(state for state, row in table.items() if not row)

    def next_state(self, state: S, trigger: T) -> S | None:
        """Return the state that follows; None when the state is final and the trigger therefore late.

        Raises `IllegalTransition` when a state that is not final has no cell for this trigger.
        """
        if state in self.finals:
            return None
        following = self.table[state].get(trigger)
        if following is None:
            allowed = ", ".join(self.table[state])
            raise IllegalTransition(f"{self.name} is {state}: expected one of {allowed}, got {trigger}")
        return following

    def is_final(self, state: S) -> bool:
        """Say whether nothing can follow this state."""
        return state in self.finals
