"""The Responses wire: fragments of calls find their call, and a call runs only when it was requested whole."""

from __future__ import annotations

import json

import pytest

from chat.streaming.reading import ToolCall
from tests.providers.responses_bodies import (
    COMPLETE,
    CREATED,
    END,
    Said,
    added,
    call_item,
    heard,
    item_done,
    judged,
    numbered,
    text,
)

# --- calls --------------------------------------------------------------------------------------------------------


def arguments(delta: str, index: int | None, item_id: str | None = None) -> Said:
    """One piece of a call's arguments."""
    return "function_call_arguments.delta", {"delta": delta, "output_index": index, "item_id": item_id}


def arguments_done(whole_text: str | None, index: int | None, item_id: str | None = None) -> Said:
    """The whole arguments."""
    fields = {"arguments": whole_text, "output_index": index, "item_id": item_id}
    return "function_call_arguments.done", fields


def whole(call_id: str, name: str, arguments_text: str) -> ToolCall:
    """A call that may run."""
    return ToolCall(call_id, name, arguments_text, json.loads(arguments_text), complete=True)


def call_added(index: int | None, call_id: str, name: str, item_id: str | None = None) -> Said:
    """An announced call."""
    return added("function_call", index, item_id, call_id=call_id, name=name, arguments="")


@pytest.mark.parametrize(
    ("said", "calls"),
    [
        ([call_added(0, "a", "f"), arguments("{}", 0)], [whole("a", "f", "{}")]),
        # The whole text says it alone, or the same in another layout.
        ([call_added(0, "a", "f"), arguments_done("{}", 0)], [whole("a", "f", "{}")]),
        ([item_done(0, call_item("{}"))], [whole("c", "f", "{}")]),
        ([call_added(0, "a", "f"), arguments("{ }", 0), arguments_done("{}", 0)], [whole("a", "f", "{}")]),
        # Interleaved, in order of index.
        (
            [
                call_added(4, "b", "g"),
                call_added(1, "a", "f"),
                arguments('{"x"', 4),
                arguments("{", 1),
                arguments(":1}", 4),
                arguments("}", 1),
            ],
            [whole("a", "f", "{}"), whole("b", "g", '{"x":1}')],
        ),
        # Without indexes, by id; with one index for all, by id too.
        (
            [
                call_added(None, "a", "f", "i"),
                call_added(None, "b", "g", "j"),
                arguments("[", None, "j"),
                arguments("{}", None, "i"),
                arguments("]", None, "j"),
            ],
            [whole("a", "f", "{}"), ToolCall("b", "g", "[]", [], complete=False)],
        ),
        (
            [
                call_added(0, "a", "f", "i"),
                call_added(0, "b", "g", "j"),
                arguments("{", 0, "i"),
                arguments("{}", 0, "j"),
                arguments("}", 0, "i"),
            ],
            [whole("a", "f", "{}"), whole("b", "g", "{}")],
        ),
        # The names come after the arguments.
        ([arguments("{}", 0, "i"), item_done(0, call_item("{}", "a"))], [whole("a", "f", "{}")]),
        # Nothing is made into `{}`.
        ([call_added(0, "a", "f")], [ToolCall("a", "f", "", None, complete=False)]),
        ([call_added(0, "a", "f"), arguments_done("", 0)], [ToolCall("a", "f", "", None, complete=False)]),
        ([call_added(0, "a", "f"), arguments_done(None, 0)], [ToolCall("a", "f", "", None, complete=False)]),
        ([arguments("{}", 0)], [ToolCall("", "", "{}", {}, complete=False)]),
        # A custom tool takes text, so that there are no arguments to run it with.
        (
            [
                added("custom_tool_call", 0, "i", call_id="a", name="f"),
                ("custom_tool_call_input.delta", {"delta": "ls", "output_index": 0}),
                ("custom_tool_call_input.done", {"input": "ls", "output_index": 0}),
                item_done(0, {"type": "custom_tool_call", "call_id": "a", "name": "f", "input": "ls"}),
            ],
            [ToolCall("a", "f", "ls", None, complete=False)],
        ),
    ],
)
def test_fragments_find_their_call(said: list[Said], calls: list[ToolCall]) -> None:
    """Answered with `call_id`, never with the id of the item."""
    reading = heard(*numbered(CREATED, *said, END))
    assert (reading.outcome, reading.tool_calls, reading.divergence) == ("tool_requested", calls, None)


def test_tools_of_the_provider_are_no_calls() -> None:
    """It runs them itself."""
    said = [
        item_done(index, {"type": type_, "name": "f", "arguments": "{}"})
        for index, type_ in enumerate(
            (
                "mcp_call",
                "web_search_call",
                "code_interpreter_call",
                "file_search_call",
                "mcp_approval_request",
            )
        )
    ]
    reading = heard(*numbered(CREATED, *said, text("Hi", 9), END))
    assert (judged(reading), reading.tool_calls) == (COMPLETE, [])


@pytest.mark.parametrize(
    ("ending", "complete"), [("completed", True), ("incomplete", False), ("failed", False)]
)
def test_a_call_runs_only_when_it_was_requested_whole(ending: str, complete: bool) -> None:  # noqa: FBT001
    """After a limit the arguments are cut, even if they happen to parse."""
    said = [call_added(0, "a", "f"), arguments("{}", 0), ("x", {})]
    reading = heard(*numbered(CREATED, *said, (ending, {"response": {"status": ending}})))
    assert [call.complete for call in reading.tool_calls] == [complete]
