"""A table answers every question that can be asked of it."""

from __future__ import annotations

from enum import StrEnum

import pytest

from chat.states.machine import Machine
from chat.streaming.errors import IllegalTransition


class Light(StrEnum):
    """States of a lamp."""

    off = "off"
    on = "on"
    broken = "broken"


class Act(StrEnum):
    """What happens to a lamp."""

    press = "press"
    hit = "hit"


LAMP = Machine(
    "lamp",
    states=Light,
    triggers=Act,
    initial=Light.off,
    table={
        Light.off: {Act.press: Light.on},
        Light.on: {Act.press: Light.off, Act.hit: Light.broken},
        Light.broken: {},
    },
)


def test_it_moves_is_late_or_refuses() -> None:
    """The three answers, and no fourth."""
    assert LAMP.next_state(Light.on, Act.hit) is Light.broken
    assert LAMP.next_state(Light.broken, Act.press) is None
    with pytest.raises(IllegalTransition, match="lamp is off: expected one of press, got hit"):
        LAMP.next_state(Light.off, Act.hit)


def test_finals_are_the_empty_rows() -> None:
    """Nobody lists them a second time."""
    assert (LAMP.finals, [LAMP.is_final(light) for light in Light]) == (
        frozenset({Light.broken}),
        [False, False, True],
    )


def test_a_state_without_a_row_is_refused() -> None:
    """A forgotten row would make its state final in silence."""
    with pytest.raises(ValueError, match="one row for each state of lamp, got off"):
        Machine("lamp", states=Light, triggers=Act, initial=Light.off, table={Light.off: {}})
