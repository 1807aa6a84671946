"""An event is read for what is in it, and what is not as it should be is as if it were not there."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chat.providers.responses_event import ResponsesEvent, lenient_event, opened, opened_value, read_event
from chat.streaming.errors import MalformedStream


def shown(event: ResponsesEvent | None) -> dict[str, Any] | None:
    """What is there of an event."""
    if event is None:
        return None
    found: dict[str, Any] = {}
    for name in event.__struct_fields__:
        value = getattr(event, name)
        value = opened_value(value) if name in ("item", "part", "response", "error") else value
        if value is not None:
            found[name] = value
    return found


@pytest.mark.parametrize(
    ("data", "event"),
    [
        ("{}", {}),
        (
            '{"type":"t","sequence_number":3,"delta":"x","obfuscation":"y"}',
            {"type": "t", "sequence_number": 3, "delta": "x"},
        ),
        (
            '{"item":{"a":[1,{"b":null}]},"part":null,"response":{},"error":"e"}',
            {"item": {"a": [1, {"b": None}]}, "response": {}, "error": "e"},
        ),
        ("[]", None),
        ("7", None),
        ("null", None),
        ('{"type":5,"delta":["x"],"sequence_number":"1","output_index":true}', {}),
        ('{"delta":{"x":1},"item_id":"i","item":{"y":2}}', {"item_id": "i", "item": {"y": 2}}),
        ('{"delta":"\\ud800","item":{"n":NaN},"arguments":"{}"}', None),
    ],
)
def test_what_is_read(data: str, event: dict[str, Any] | None) -> None:
    """From the usual to the absurd."""
    if "NaN" in data:
        found = read_event(data)
        assert found is not None
        assert (found.delta, found.arguments, str(opened(found.item))) == ("\ud800", "{}", "{'n': nan}")
    else:
        assert shown(read_event(data)) == event


@pytest.mark.parametrize(
    "data", ["", "{", "{}x", "{'a':1}", "[" * 10_000, '{"item":' + "[" * 100_000, '{"a":"\n"}', "<p>"]
)
def test_what_is_not_json_is_a_fault_of_theirs(data: str) -> None:
    """Its text says how much came, and never what."""
    with pytest.raises(
        MalformedStream, match=f"^expected a JSON object in each event, got {len(data)} characters of"
    ):
        read_event(data)


def test_a_broken_object_breaks_its_event() -> None:
    """Even if nobody would look into it."""
    with pytest.raises(MalformedStream):
        read_event('{"type":"t","item":{"a":tru}}')


def test_depth_is_a_fault_of_theirs() -> None:
    """However deep, and whichever of the two readings meets it."""
    for depth in (500, 5_000, 50_000):
        data = '{"delta":5,"item":' + '{"a":' * depth + "1" + "}" * depth + "}"
        try:
            event = read_event(data)
            assert event is not None
            opened(event.item)
        except MalformedStream:
            pass


@pytest.mark.parametrize(
    ("value", "number"), [(0, 0), (5, 5), (-1, None), (2**63, None), (2**63 - 1, 2**63 - 1)]
)
def test_a_number_must_be_one(value: int, number: int | None) -> None:
    """What no column holds is no number."""
    assert ResponsesEvent(sequence_number=value).number == number


def test_the_lenient_reading_agrees_with_the_quick_one() -> None:
    """Two ways to read the same event must not differ in what they hear."""
    value = {
        "type": "t",
        "sequence_number": 1,
        "item_id": "i",
        "output_index": 2,
        "content_index": 3,
        "summary_index": 4,
        "delta": "d",
        "text": "x",
        "refusal": "r",
        "arguments": "a",
        "input": "p",
        "item": {"a": "é\ud800"},
        "part": {"b": 1},
        "response": {"c": [1]},
        "error": "e",
    }
    assert shown(read_event(json.dumps(value))) == shown(lenient_event(value)) == value
