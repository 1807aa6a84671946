"""Calls come whole or as paths into their arguments; nothing is guessed at."""

from __future__ import annotations

from typing import Any

import pytest

from chat.streaming.reading import ToolCall
from tests.providers.google_bodies import STOP, calls, data, google, says


def piece(path: str, value: Any, *, more: bool = False) -> dict[str, Any]:
    """One piece of arguments."""
    names: dict[type, str] = {str: "stringValue", bool: "boolValue", type(None): "nullValue"}
    found = {
        "jsonPath": path,
        names.get(type(value), "numberValue"): "NULL_VALUE" if value is None else value,
    }
    return found | ({"willContinue": True} if more else {})


def put_together(*pieces: Any) -> Any:
    """The arguments of a call that comes in these pieces; None if it never becomes whole."""
    growing = [calls(partialArgs=[each], willContinue=True) for each in pieces]
    reading = google(*map(says, (calls(name="f", willContinue=True), *growing, calls())), STOP)
    (call,) = reading.tool_calls
    assert (reading.outcome == "tool_requested") is (call.arguments is not None)
    return call.arguments


@pytest.mark.parametrize(
    ("pieces", "arguments"),
    [
        ([], {}),
        ([piece("$.a", "x")], {"a": "x"}),
        (
            [piece("$.a", 1), piece("$.b", 0.5), piece("$.c", False), piece("$.d", None)],
            {"a": 1, "b": 0.5, "c": False, "d": None},
        ),
        ([piece("$.a", "x", more=True), piece("$.a", "y", more=True), piece("$.a", "")], {"a": "xy"}),
        # A string that was not to go on is replaced, not continued.
        ([piece("$.a", "x"), piece("$.a", "y")], {"a": "y"}),
        ([piece("$.a", "x", more=True), piece("$.b", "y"), piece("$.a", "z")], {"a": "z", "b": "y"}),
        ([piece("$.a.b.c", 1), piece("$.a.d", 2)], {"a": {"b": {"c": 1}, "d": 2}}),
        ([piece("$[\"a b\"]['c.d']", 1)], {"a b": {"c.d": 1}}),
        ([piece("$.a[0]", 1), piece("$.a[1]", 2)], {"a": [1, 2]}),
        (
            [piece("$.a[0].b", 1), piece("$.a[0].c", 2), piece("$.a[1].b", 3)],
            {"a": [{"b": 1, "c": 2}, {"b": 3}]},
        ),
        ([piece("$.a[0][0]", 1)], {"a": [[1]]}),
        # What does not fit.
        ([piece("$.a[1]", 1)], None),
        ([piece("$.a", 1), piece("$.a.b", 1)], None),
        ([piece("$.a.b", 1), piece("$.a[0]", 1)], None),
        ([piece("$[0]", 1)], None),
        ([piece("$", 1)], None),
        ([piece("", 1)], None),
        ([piece("a", 1)], None),
        ([piece("$.a[99999999]", 1)], None),
        ([piece("$..a", 1)], None),
        ([piece("$.a[*]", 1)], None),
        ([piece("$.a", 1), {"jsonPath": "$.b"}], None),
        ([{"stringValue": "x"}], None),
        (["x"], None),
    ],
)
def test_pieces_are_put_where_their_path_says(pieces: list[Any], arguments: Any) -> None:
    """A path that cannot be followed makes a call that cannot run."""
    assert put_together(*pieces) == arguments


def whole(call_id: str, name: str, arguments: Any) -> ToolCall:
    """A call that may run."""
    return ToolCall(call_id, name, None, arguments, complete=True)


@pytest.mark.parametrize(
    ("parts", "found"),
    [
        ([calls(id="a", name="f", args={"x": 1})], [whole("a", "f", {"x": 1})]),
        ([calls(name="f")], [whole("local-1", "f", {})]),
        ([calls(name="f", args=None)], [whole("local-1", "f", {})]),
        (
            [calls(name="f", args={}), calls(name="f", args={})],
            [whole("local-1", "f", {}), whole("local-2", "f", {})],
        ),
        ([calls(name="f", args=[1])], [ToolCall("local-1", "f", None, [1], complete=False)]),
        ([calls(name="f", args="{}")], [ToolCall("local-1", "f", None, "{}", complete=False)]),
        ([calls(args={})], [ToolCall("local-1", "", None, {}, complete=False)]),
        ([calls(name=5, id=7, args={})], [ToolCall("local-1", "", None, {}, complete=False)]),
        ([calls(name="f", args={"a\0": "\ud800"})], [whole("local-1", "f", {"a\ufffd": "\ufffd"})]),
        ([calls(name="f", args={"a": float("inf")})], [ToolCall("local-1", "f", None, None, complete=False)]),
        # The arguments come at the end, whole.
        ([calls(name="f", willContinue=True), calls(args={"x": 1})], [whole("local-1", "f", {"x": 1})]),
        # By id, two may grow at the same time; without one, it is the last that was opened.
        (
            [
                *(calls(id="a", name="f", willContinue=True), calls(id="b", name="g", willContinue=True)),
                calls(id="a", partialArgs=[piece("$.x", 1)], willContinue=True),
                calls(id="b", partialArgs=[piece("$.y", 2)]),
                calls(id="a"),
            ],
            [whole("a", "f", {"x": 1}), whole("b", "g", {"y": 2})],
        ),
    ],
)
def test_calls_are_kept_apart(parts: list[Any], found: list[ToolCall]) -> None:
    """In one chunk or in several; an id that the provider does not give is ours."""
    for chunks in ([says(*parts)], list(map(says, parts))):
        reading = google(*chunks, STOP)
        assert (reading.outcome, reading.tool_calls, reading.answer) == ("tool_requested", found, "")


def test_a_deep_object_is_no_exception() -> None:
    """It cannot run, and nothing breaks."""
    deep: Any = {}
    for _ in range(700):
        deep = {"a": deep}
    (call,) = google(says(calls(name="f", args=deep)), STOP).tool_calls
    assert isinstance(call.complete, bool)
    assert google(data({"candidates": [{"content": {"parts": [calls(name="f", args=deep)]}}]})).carry == []
