"""Which step an event means. How that shows in what is heard, and what is carried: test_interactions_reader.py."""

from __future__ import annotations

from chat.providers.interactions_steps import Steps
from chat.streaming.deltas import PartKind


def test_an_index_finds_its_step() -> None:
    """An index that comes again names the new one; without an index it is the last that began."""
    steps = Steps()
    first, second = steps.start(0, "thought"), steps.start(4, "function_call")
    assert [steps.get(0), steps.get(4), steps.get(None)] == [first, second, second]
    third = steps.start(0, "model_output")
    assert [steps.get(0), steps.get(None), steps.get(9).number] == [third, third, 3]
    assert [step.number for step in (first, second, third)] == [0, 1, 2]


def test_calls_are_counted_among_themselves() -> None:
    """Their place is their order."""
    steps = Steps()
    types = ("function_call", "thought", "function_call", "function_call")
    assert [steps.start(index, type_).place for index, type_ in enumerate(types)] == [0, 1, 1, 2]
    assert (steps.any_call, Steps().any_call) == (True, False)


def test_what_a_step_says() -> None:
    """Tools and echoes say nothing."""
    steps = Steps()
    types = ("model_output", "text", None, "thought", "user_input", "function_call", "new")
    assert [steps.start(None, type_).kind for type_ in types] == [
        *(PartKind.answer, PartKind.answer, PartKind.answer, PartKind.reasoning),
        *(None, None, None),
    ]


def test_a_plain_answer_needs_nothing_back() -> None:
    """Its text is in the message already."""
    steps = Steps()
    steps.start(0, "model_output").pieces.append("Hi")
    steps.start(1, "thought").pieces.append("Hm")
    assert steps.carry() == []
    steps.get(1).signature = "c2ln"
    assert [step["type"] for step in steps.carry()] == ["model_output", "thought"]
