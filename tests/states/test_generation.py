"""The generation's table is the design's, cell for cell, and its shape keeps the promise."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.states.generation import GENERATION, OUTCOME_TRIGGER, State, Trigger
from chat.streaming.errors import IllegalTransition
from chat.streaming.outcome import Outcome

# The design's table, written down a second time on purpose.
DESIGN = """
state    |opened  |first_delta|ended_whole|checks_passed|committed|ended_short|rejected|error |cancel   |deadline
queued   |received|           |           |             |         |           |failed  |failed|cancelled|expired
received |        |buffered   |assembled  |             |         |incomplete |failed  |failed|cancelled|expired
buffered |        |           |assembled  |             |         |incomplete |failed  |failed|cancelled|expired
assembled|        |           |           |validated    |         |incomplete |failed  |failed|cancelled|expired
validated|        |           |           |             |confirmed|           |        |      |         |
"""
FINALS = frozenset({State.confirmed, State.cancelled, State.incomplete, State.failed, State.expired})


def design() -> dict[State, dict[Trigger, State]]:
    """Read the text above."""
    head, *rows = [[cell.strip() for cell in line.split("|")] for line in DESIGN.strip().split("\n")]
    table: dict[State, dict[Trigger, State]] = {state: {} for state in FINALS}
    for state, *cells in rows:
        pairs = zip(head[1:], cells, strict=True)
        table[State(state)] = {Trigger(trigger): State(cell) for trigger, cell in pairs if cell}
    return table


def test_the_table_is_the_design() -> None:
    """Every cell, and every empty one."""
    assert (GENERATION.table, GENERATION.finals, GENERATION.initial) == (design(), FINALS, State.queued)


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("trigger", Trigger)
def test_every_state_answers_every_trigger(state: State, trigger: Trigger) -> None:
    """It moves, is late, or says that this is a bug."""
    expected = design()[state].get(trigger)
    if expected is None and state not in FINALS:
        with pytest.raises(IllegalTransition, match=f"generation is {state}: .* got {trigger}"):
            GENERATION.next_state(state, trigger)
    else:
        assert GENERATION.next_state(state, trigger) is expected


@settings(deadline=None)
@given(st.lists(st.sampled_from(Trigger), max_size=30))
def test_no_walk_is_confirmed_without_its_checks(triggers: list[Trigger]) -> None:
    """Whatever happens in whatever order: moves only go forward, and the end is the end."""
    state, walked = State.queued, [State.queued]
    fired = []
    for trigger in triggers:
        try:
            following = GENERATION.next_state(state, trigger)
        except IllegalTransition:
            continue
        if following is None:
            assert state in FINALS
            continue
        state = following
        walked.append(state)
        fired.append(trigger)
    assert len(set(walked)) == len(walked)
    if state is State.confirmed:
        assert fired[-3:] == [Trigger.ended_whole, Trigger.checks_passed, Trigger.committed]


def test_what_each_outcome_fires() -> None:
    """The one place, in full; only what is whole can go on to be an answer."""
    assert {
        Outcome.complete: "ended_whole",
        Outcome.tool_requested: "ended_whole",
        Outcome.incomplete: "ended_short",
        Outcome.refused: "rejected",
        Outcome.failed: "error",
        Outcome.open: None,
    } == OUTCOME_TRIGGER
