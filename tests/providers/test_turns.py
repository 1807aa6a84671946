"""Turns alternate, and what one provider gave never goes to another."""

from __future__ import annotations

from typing import Any

import pytest

from chat.providers.base import Prompt, Turn
from chat.providers.turns import alternating, chosen, chosen_tool, known_settings
from chat.streaming.errors import UnknownSetting

CARRY = [{"signature": "s"}]


def spoken(*turns: Turn, wire: str = "w") -> list[list[tuple[str, str, bool]]]:
    """Each run as (role, text, whether it carries)."""
    return [
        [(turn.role, turn.text, bool(turn.carry)) for turn in run]
        for run in alternating(list(turns), wire, "m")
    ]


def test_neighbours_of_one_role_are_joined() -> None:
    """A reply that was never confirmed leaves two questions in a row; empty texts are refused by providers."""
    assert spoken(
        *(
            Turn("user", "a"),
            Turn("user", "b"),
            Turn("user", " \n"),
            Turn("assistant", ""),
            Turn("user", "c"),
        ),
        *(Turn("assistant", "d"), Turn("assistant", "e"), Turn("user", "f")),
    ) == [
        [("user", "a\n\nb\n\nc", False)],
        [("assistant", "d\n\ne", False)],
        [("user", "f", False)],
    ]
    assert spoken() == []


def test_a_turn_that_carries_stands_alone() -> None:
    """Its own parts must stay as they are; without text it is still a turn."""
    carried = Turn("assistant", "b", CARRY, "w")
    silent = Turn("assistant", "", CARRY, "w")
    assert spoken(
        Turn("assistant", "a"), carried, Turn("assistant", "c"), Turn("assistant", "d"), silent
    ) == [
        [
            ("assistant", "a", False),
            ("assistant", "b", True),
            ("assistant", "c\n\nd", False),
            ("assistant", "", True),
        ]
    ]


def test_another_wires_carry_is_left_out() -> None:
    """The model was switched in mid-conversation: the text goes, what only the other provider understands stays."""
    foreign = Turn("assistant", "b", CARRY, "other")
    assert spoken(
        Turn("user", "a"), foreign, Turn("assistant", "", CARRY, "other"), Turn("assistant", "c")
    ) == [
        [("user", "a", False)],
        [("assistant", "b\n\nc", False)],
    ]


def test_another_models_carry_is_left_out() -> None:
    """Signatures are bound to their model: Anthropic answers those of another one with an error, for ever."""
    turns = [Turn("assistant", model or "any", CARRY, "w", model) for model in ("m", "other", "")]
    assert spoken(*turns) == [
        [("assistant", "m", True), ("assistant", "other", False), ("assistant", "any", True)],
    ]


def test_settings_are_known_or_a_bug() -> None:
    """A setting that is dropped in silence is a lie to the person who made it; one that was not made is none."""
    known = frozenset({"a", "b"})
    assert known_settings(Prompt("", [], {"a": 1, "b": None}), known) == {"a": 1}
    with pytest.raises(UnknownSetting, match=r"among \['a', 'b'\], got \['c'\]"):
        known_settings(Prompt("", [], {"c": None}), known)


@pytest.mark.parametrize("choice", ["auto", None, {}, {"function": "f"}, {"function": {"name": 5}}])
def test_a_choice_of_tools_may_name_one(choice: object) -> None:
    """In the words of the chat wire."""
    assert chosen_tool({"type": "function", "function": {"name": "f"}}) == "f"
    assert chosen_tool(choice) is None


def test_a_word_without_a_translation_is_a_bug() -> None:
    """Never replaced by another in silence."""
    assert chosen("auto", {"auto": "AUTO"}) == "AUTO"
    words: list[Any] = ["perhaps", None, {}]
    for word in words:
        with pytest.raises(UnknownSetting, match=r"expected one of \['auto'\], got"):
            chosen(word, {"auto": "AUTO"})
