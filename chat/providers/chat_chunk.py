"""One chunk of the Chat Completions wire: JSON text -> the fields that are read, whatever else is in it.

Takes the data of one event; gives a typed chunk. What has an unexpected type is as if it were not there. Does
not know what a chunk means: that is `openai_chat.py`.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

from chat.streaming.errors import MalformedStream


class Function(msgspec.Struct, gc=False):
    name: str | None = None
    arguments: str | None = None


class ToolCall(msgspec.Struct, gc=False):
    index: int | None = None
    id: str | None = None
    function: Function | None = None


class ChunkDelta(msgspec.Struct, gc=False):
    content: str | list[Any] | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    reasoning_details: list[Any] | None = None
    refusal: str | None = None
    tool_calls: list[ToolCall] | None = None
    function_call: Function | None = None


class Choice(msgspec.Struct, gc=False):
    index: int | None = None
    delta: ChunkDelta | None = None
    finish_reason: str | None = None


class Chunk(msgspec.Struct, gc=False):
    id: str | None = None
    choices: list[Choice] | None = None
    usage: dict[str, Any] | None = None
    error: Any = None
    x_groq: dict[str, Any] | None = None


_MAX_TOKENS = 2**31
_decode = msgspec.json.Decoder(Chunk).decode


def read_chunk(data: str) -> Chunk | None:
    """Return the chunk; None for JSON that is no object. Raises `MalformedStream` for what is not JSON."""
    try:
        return _decode(data)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        # Not the usual shape, or JSON that only the standard library takes (lone surrogates, a NaN logprob).
        pass
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise MalformedStream(
            f"expected a JSON object in each event, got {len(data)} characters of other text"
        ) from error
    return lenient_chunk(value) if isinstance(value, dict) else None


def lenient_chunk(value: dict[str, Any]) -> Chunk:
    """Keep of a chunk what has the expected type; the rest is as if it were not there."""
    choices = [_lenient_choice(item) for item in as_list(value.get("choices")) if isinstance(item, dict)]
    return Chunk(
        as_text(value.get("id")),
        choices,
        as_dict(value.get("usage")),
        value.get("error"),
        as_dict(value.get("x_groq")),
    )


def _lenient_choice(value: dict[str, Any]) -> Choice:
    raw = as_dict(value.get("delta")) or {}
    content = raw.get("content")
    calls = [
        ToolCall(as_int(item.get("index")), as_text(item.get("id")), _lenient_function(item))
        for item in as_list(raw.get("tool_calls"))
        if isinstance(item, dict)
    ]
    delta = ChunkDelta(
        content if isinstance(content, list) else as_text(content),
        as_text(raw.get("reasoning_content")),
        as_text(raw.get("reasoning")),
        as_list(raw.get("reasoning_details")),
        as_text(raw.get("refusal")),
        calls,
        _lenient_function(raw, "function_call"),
    )
    return Choice(as_int(value.get("index")), delta, as_text(value.get("finish_reason")))


def _lenient_function(value: dict[str, Any], field: str = "function") -> Function | None:
    raw = as_dict(value.get(field))
    return None if raw is None else Function(as_text(raw.get("name")), as_text(raw.get("arguments")))


def as_text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def as_int(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def as_count(value: Any) -> int | None:
    """Return a number of tokens; None for what no database column could hold."""
    number = as_int(value)
    return number if number is not None and 0 <= number < _MAX_TOKENS else None


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def as_dict(value: Any) -> dict[str, Any] | None:
    return value if isinstance(value, dict) else None
