"""A chunk is read for what is in it, and what is not as it should be is as if it were not there."""

from __future__ import annotations

import json

import pytest

from chat.providers.chat_chunk import Choice, Chunk, ChunkDelta, Function, ToolCall, lenient_chunk, read_chunk
from chat.streaming.errors import MalformedStream

EMPTY = ChunkDelta(None, None, None, [], None, [], None)


@pytest.mark.parametrize(
    ("data", "chunk"),
    [
        ("{}", Chunk()),
        ('{"id":"a","choices":[],"usage":null,"more":[1,{"x":2}]}', Chunk("a", [])),
        ('{"choices":[{"delta":{"content":"x"}}]}', Chunk(choices=[Choice(None, ChunkDelta("x"))])),
        (
            '{"choices":[{"index":0,"delta":null,"finish_reason":"stop"}]}',
            Chunk(None, [Choice(0, None, "stop")]),
        ),
        ("[]", None),
        ("7", None),
        ('"text"', None),
        ("null", None),
        ('{"choices":null,"id":5}', Chunk(None, [])),
        ('{"choices":{"0":{}}}', Chunk(None, [])),
        ('{"choices":["a",{"index":"0","delta":7}]}', Chunk(None, [Choice(None, EMPTY)])),
        ('{"id":true,"usage":[],"x_groq":"x","error":0}', Chunk(None, [], None, 0)),
        (
            '{"choices":[{"delta":{"content":{"a":1},"tool_calls":[7,{"index":true,"id":1,"function":{"name":2}}]}}]}',
            Chunk(
                None,
                [Choice(None, ChunkDelta(None, None, None, [], None, [ToolCall(None, None, Function())]))],
            ),
        ),
        (
            '{"choices":[{"delta":{"content":"\\ud800"},"logprob":NaN}]}',
            Chunk(None, [Choice(None, ChunkDelta("\ud800", None, None, [], None, []))]),
        ),
    ],
)
def test_what_is_read(data: str, chunk: Chunk | None) -> None:
    """From the usual to the absurd."""
    assert read_chunk(data) == chunk


@pytest.mark.parametrize(
    "data", ["", "{", "{}x", "{'a':1}", "[" * 10_000, '{"a":' + "[" * 100_000, '{"a":"\n"}', "<p>"]
)
def test_what_is_not_json_is_a_fault_of_theirs(data: str) -> None:
    """Its text says how much came, and never what."""
    with pytest.raises(
        MalformedStream, match=f"^expected a JSON object in each event, got {len(data)} characters of"
    ):
        read_chunk(data)


def test_the_lenient_reading_agrees_with_the_quick_one() -> None:
    """Two ways to read the same chunk must not differ in what they hear."""
    data = (
        '{"id":"a","choices":[{"index":0,"finish_reason":"x","delta":{"content":"c","reasoning_content":"rc",'
        '"reasoning":"r","reasoning_details":[{"text":"t"}],"refusal":"f","tool_calls":[{"index":1,"id":"i",'
        '"function":{"name":"n","arguments":"{}"}}],"function_call":{"name":"n"}}}],"usage":{"prompt_tokens":1},'
        '"error":{"code":1},"x_groq":{"id":"g"}}'
    )
    assert read_chunk(data) == lenient_chunk(json.loads(data))
