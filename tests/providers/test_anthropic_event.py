"""An event is read for what is in it, and what is not as it should be is as if it were not there."""

from __future__ import annotations

import json

import pytest

from chat.providers.anthropic_event import Message, Piece, StreamEvent, _lenient_event, read_event
from chat.streaming.errors import MalformedStream


@pytest.mark.parametrize(
    ("data", "event"),
    [
        ("{}", StreamEvent()),
        ('{"type":"ping","more":[1,{"x":2}]}', StreamEvent("ping")),
        (
            '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}}',
            StreamEvent("content_block_delta", 0, Piece("text_delta", "x")),
        ),
        (
            '{"message":{"id":"m","usage":{"input_tokens":1}}}',
            StreamEvent(message=Message("m", {"input_tokens": 1})),
        ),
        ("[]", None),
        ("7", None),
        ("null", None),
        ('{"type":5,"index":"0","delta":[],"message":7,"usage":[],"error":0}', StreamEvent(error=0)),
        ('{"delta":{"text":5,"stop_details":"x"},"index":true}', StreamEvent(delta=Piece())),
        ('{"message":{"id":5,"usage":"x"}}', StreamEvent(message=Message())),
        ('{"delta":{"text":"\\ud800"},"x":NaN}', StreamEvent(delta=Piece(text="\ud800"))),
    ],
)
def test_what_is_read(data: str, event: StreamEvent | None) -> None:
    """From the usual to the absurd."""
    assert read_event(data) == event


@pytest.mark.parametrize("data", ["", "{", "{}x", "[" * 10_000, '{"a":' + "[" * 100_000, '{"a":"\n"}', "<p>"])
def test_what_is_not_json_is_a_fault_of_theirs(data: str) -> None:
    """Its text says how much came, and never what."""
    with pytest.raises(
        MalformedStream, match=f"^expected a JSON object in each event, got {len(data)} characters of"
    ):
        read_event(data)


def test_the_lenient_reading_agrees_with_the_quick_one() -> None:
    """Two ways to read the same event must not differ in what they hear."""
    delta = {name: name for name in Piece.__struct_fields__} | {
        "stop_details": {"category": "x"},
        "citation": {"a": 1},
    }
    value = {
        "type": "t",
        "index": 3,
        "delta": delta,
        "content_block": {"type": "text"},
        "message": {"id": "m", "usage": {}},
        "usage": {"output_tokens": 1},
        "error": {"type": "e"},
    }
    assert set(value) == set(StreamEvent.__struct_fields__)
    assert read_event(json.dumps(value)) == _lenient_event(value)
