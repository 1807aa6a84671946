"""The tool call's table is the design's, cell for cell, and no effect happens without approval and claim."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.states.toolcall import TOOL_CALL, State, Trigger
from chat.streaming.errors import IllegalTransition

# The design's table, a second time on purpose: state, then trigger>next. Its `result` column is two triggers.
DESIGN = """
proposed: accepted>validated denied>rejected
validated: denied>rejected needs_person>awaiting_confirmation approved>approved declined>declined deadline>expired
awaiting_confirmation: denied>rejected approved>approved declined>declined deadline>expired
approved: denied>rejected declined>declined deadline>expired claimed>executing
executing: succeeded>executed errored>failed outcome_lost>unknown
unknown: found>executed not_found>approved given_up>unresolved
executed: compensated>compensated
rejected:
declined:
expired:
failed:
unresolved:
compensated:
"""


def design() -> dict[State, dict[Trigger, State]]:
    """Read the text above."""
    table = {}
    for line in DESIGN.strip().split("\n"):
        state, _, cells = line.partition(":")
        pairs = [cell.split(">") for cell in cells.split()]
        table[State(state)] = {Trigger(trigger): State(following) for trigger, following in pairs}
    return table


def test_the_table_is_the_design() -> None:
    """Every cell, and every empty one."""
    assert (TOOL_CALL.table, TOOL_CALL.initial) == (design(), State.proposed)
    assert TOOL_CALL.finals == {state for state, row in design().items() if not row}


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("trigger", Trigger)
def test_every_state_answers_every_trigger(state: State, trigger: Trigger) -> None:
    """It moves, is late, or says that this is a bug."""
    expected = design()[state].get(trigger)
    if expected is None and design()[state]:
        with pytest.raises(IllegalTransition, match=f"tool call is {state}: .* got {trigger}"):
            TOOL_CALL.next_state(state, trigger)
    else:
        assert TOOL_CALL.next_state(state, trigger) is expected


@settings(deadline=None)
@given(st.lists(st.sampled_from(Trigger), max_size=40))
def test_nothing_is_executed_unapproved(triggers: list[Trigger]) -> None:
    """Whatever happens in whatever order."""
    state, fired = State.proposed, set()
    for trigger in triggers:
        try:
            following = TOOL_CALL.next_state(state, trigger)
        except IllegalTransition:
            continue
        state = following or state
        fired |= {trigger} if following else set()
        if state is State.executing:
            assert {Trigger.accepted, Trigger.approved, Trigger.claimed} <= fired
