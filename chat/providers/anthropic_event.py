"""One event of the Anthropic Messages wire: JSON text -> the fields that are read, whatever else is in it.

Takes the data of one event; gives a typed event. What has an unexpected type is as if it were not there. Does
not know what an event means: that is `anthropic.py`.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

from chat.providers.chat_chunk import as_dict, as_int, as_text
from chat.streaming.errors import MalformedStream


class Piece(msgspec.Struct, gc=False):
    """The `delta` of a `content_block_delta` or of a `message_delta`: their fields never meet."""

    type: str | None = None
    text: str | None = None
    thinking: str | None = None
    partial_json: str | None = None
    signature: str | None = None
    content: str | None = None
    citation: Any = None
    stop_reason: str | None = None
    stop_details: dict[str, Any] | None = None


class Message(msgspec.Struct, gc=False):
    """The empty message that a stream begins with."""

    id: str | None = None
    usage: dict[str, Any] | None = None


class StreamEvent(msgspec.Struct, gc=False):
    """One event; `type` says which of the fields it has."""

    type: str | None = None
    index: int | None = None
    delta: Piece | None = None
    content_block: dict[str, Any] | None = None
    message: Message | None = None
    usage: dict[str, Any] | None = None
    error: Any = None


_decode = msgspec.json.Decoder(StreamEvent).decode


def read_event(data: str) -> StreamEvent | None:
    """Return the event; None for JSON that is no object. Raises `MalformedStream` for what is not JSON."""
    try:
        return _decode(data)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        # Not the usual shape, or JSON that only the standard library takes (lone surrogates, a NaN).
        pass
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise MalformedStream(
            f"expected a JSON object in each event, got {len(data)} characters of other text"
        ) from error
    return _lenient_event(value) if isinstance(value, dict) else None


def _lenient_event(value: dict[str, Any]) -> StreamEvent:
    delta, message = as_dict(value.get("delta")), as_dict(value.get("message"))
    return StreamEvent(
        as_text(value.get("type")),
        as_int(value.get("index")),
        None if delta is None else _lenient_piece(delta),
        as_dict(value.get("content_block")),
        None if message is None else Message(as_text(message.get("id")), as_dict(message.get("usage"))),
        as_dict(value.get("usage")),
        value.get("error"),
    )


def _lenient_piece(value: dict[str, Any]) -> Piece:
    texts = {
        name: as_text(value.get(name))
        for name in Piece.__struct_fields__
        if name not in {"citation", "stop_details"}
    }
    details = as_dict(value.get("stop_details"))
    return Piece(**texts, citation=value.get("citation"), stop_details=details)
