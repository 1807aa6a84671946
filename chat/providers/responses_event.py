"""One event of the Responses wire: JSON text -> the fields that are read, whatever else is in it.

Takes the data of one event; gives a typed event whose large objects (`item`, `part`, `response`) stay unread
until `opened`. What has an unexpected type is as if it were not there. Does not know what an event means: that
is `responses_reader.py`.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

from chat.providers.chat_chunk import as_dict, as_int, as_text
from chat.streaming.errors import MalformedStream

_NONE = msgspec.Raw()
# A number beyond this is no count of events, and no column could hold it.
_MAX_NUMBER = 2**63


class ResponsesEvent(msgspec.Struct, gc=False):
    type: str | None = None
    sequence_number: int | None = None
    item_id: str | None = None
    output_index: int | None = None
    content_index: int | None = None
    summary_index: int | None = None
    delta: str | None = None
    text: str | None = None
    refusal: str | None = None
    arguments: str | None = None
    input: str | None = None
    item: msgspec.Raw = _NONE
    part: msgspec.Raw = _NONE
    response: msgspec.Raw = _NONE
    error: msgspec.Raw = _NONE

    @property
    def number(self) -> int | None:
        """The sequence number, if it can be one."""
        number = self.sequence_number
        return number if number is not None and 0 <= number < _MAX_NUMBER else None


_decode = msgspec.json.Decoder(ResponsesEvent).decode
_TEXTS = ("type", "item_id", "delta", "text", "refusal", "arguments", "input")
_NUMBERS = ("sequence_number", "output_index", "content_index", "summary_index")
_OBJECTS = ("item", "part", "response", "error")


def read_event(data: str) -> ResponsesEvent | None:
    """Return the event; None for JSON that is no object. Raises `MalformedStream` for what is not JSON."""
    try:
        return _decode(data)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        # Not the usual shape, or JSON that only the standard library takes (lone surrogates, a NaN logprob).
        pass
    value = _parse(data)
    try:
        return lenient_event(value) if isinstance(value, dict) else None
    except RecursionError as error:
        raise MalformedStream("expected an event of a sane depth, got a deeper one") from error


def lenient_event(value: dict[str, Any]) -> ResponsesEvent:
    """Keep of an event what has the expected type; the rest is as if it were not there."""
    fields: dict[str, Any] = {name: as_text(value.get(name)) for name in _TEXTS}
    fields |= {name: as_int(value.get(name)) for name in _NUMBERS}
    fields |= {name: _raw(value[name]) for name in _OBJECTS if value.get(name) is not None}
    return ResponsesEvent(**fields)


def opened(raw: msgspec.Raw) -> dict[str, Any] | None:
    """Return the object that an event carries; None if it is none. Raises `MalformedStream`."""
    return as_dict(opened_value(raw))


def opened_value(raw: msgspec.Raw) -> Any:
    """Return whatever value an event carries; None if there is none. Raises `MalformedStream`."""
    if not bytes(raw):
        return None
    try:
        return msgspec.json.decode(raw)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return _parse(bytes(raw).decode("utf-8", "replace"))


def _raw(value: Any) -> msgspec.Raw:
    # ASCII, so that lone surrogates survive as escapes.
    return msgspec.Raw(json.dumps(value).encode("ascii"))


def _parse(data: str) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise MalformedStream(
            f"expected a JSON object in each event, got {len(data)} characters of other text"
        ) from error
