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
    wish = "wish"


def lamp() -> Machine[Light, Act]:
    """Made anew in each test: a fault in the making is theirs to see."""
    return Machine(
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


def test_it_holds_what_it_was_given() -> None:
    made = lamp()
    assert (made.name, made.states, made.triggers, made.initial) == ("lamp", Light, Act, Light.off)
    assert made.table == {
        Light.off: {Act.press: Light.on},
        Light.on: {Act.press: Light.off, Act.hit: Light.broken},
        Light.broken: {},
    }


def test_it_moves_is_late_or_refuses() -> None:
    """The three answers, and no fourth."""
    made = lamp()
    assert made.next_state(Light.on, Act.hit) is Light.broken
    assert made.next_state(Light.broken, Act.press) is None
    with pytest.raises(IllegalTransition) as told:
        made.next_state(Light.off, Act.hit)
    assert str(told.value) == "lamp is off: expected one of press, got hit"
    with pytest.raises(IllegalTransition) as told:
        made.next_state(Light.on, Act.wish)
    assert str(told.value) == "lamp is on: expected one of press, hit, got wish"


def test_finals_are_the_empty_rows() -> None:
    """Nobody lists them a second time."""
    made = lamp()
    assert (made.finals, [made.is_final(light) for light in Light]) == (
        frozenset({Light.broken}),
        [False, False, True],
    )


def test_a_state_without_a_row_is_refused() -> None:
    """A forgotten row would make its state final in silence."""
    with pytest.raises(ValueError, match=r"^expected one row for each state of lamp, got off, on$"):
        Machine("lamp", states=Light, triggers=Act, initial=Light.off, table={Light.off: {}, Light.on: {}})
