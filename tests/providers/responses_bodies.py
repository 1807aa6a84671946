"""Bodies of the Responses wire, written small: for the tests of that wire."""

from __future__ import annotations

import json
from typing import Any

from chat.providers import read
from chat.streaming.outcome import Ending
from chat.streaming.reading import Reading

Fields = dict[str, Any]
Said = tuple[str, Fields]


def event(value: Any, type_: str = "") -> bytes:
    """One event as bytes."""
    data = value if isinstance(value, str) else json.dumps(value)
    return (f"event: {type_}\n" if type_ else "").encode() + f"data: {data}\n\n".encode()


def numbered(*said: Said, first: int = 0) -> list[bytes]:
    """Events with their numbers."""
    return [
        event({"type": f"response.{name}", "sequence_number": number, **fields}, f"response.{name}")
        for number, (name, fields) in enumerate(said, first)
    ]


def plain(*said: Said) -> list[bytes]:
    """Events without numbers."""
    return [event({"type": f"response.{name}", **fields}) for name, fields in said]


def text(delta: str, index: int | None = 0, part: int | None = 0, **fields: Any) -> Said:
    """One piece of an answer."""
    return "output_text.delta", {"delta": delta, "output_index": index, "content_index": part, **fields}


def ended(status: str | None = "completed", name: str | None = None, **response: Any) -> Said:
    """The terminal event."""
    told = {} if status is None else {"status": status}
    return name or status or "completed", {"response": {"id": "r", **told, **response}}


def message(*texts: str) -> Fields:
    """A whole message as an item."""
    return {"type": "message", "content": [{"type": "output_text", "text": text} for text in texts]}


def call_item(arguments: str, call_id: str = "c", name: str = "f", **fields: Any) -> Fields:
    """A whole call as an item."""
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments, **fields}


def heard(*parts: bytes, ending: Ending = "eof") -> Reading:
    """Read a stream."""
    return read("openai_responses", [b"".join(parts)], ending=ending)


def judged(reading: Reading) -> tuple[str, str | None, str | None, bool | None]:
    """The verdict alone."""
    return reading.outcome, reading.reason, reading.provider_reason, reading.retryable


CREATED: Said = ("created", {"response": {"id": "r", "status": "in_progress"}})
HI = text("Hi")
END = ended()
COMPLETE = ("complete", None, "completed", None)


def added(type_: str, index: int | None, item_id: str | None, **fields: Any) -> Said:
    """An announced item; None leaves a name out."""
    said: Fields = {"item": {"type": type_, **({} if item_id is None else {"id": item_id}), **fields}}
    return "output_item.added", said | ({} if index is None else {"output_index": index})


def item_done(index: int | None, item: Fields) -> Said:
    """A whole item."""
    return "output_item.done", {"output_index": index, "item": item}
