"""Bodies of Google's Interactions wire, written small: for the tests of that wire."""

from __future__ import annotations

import json
from typing import Any

from chat.providers import read
from chat.streaming.outcome import Ending
from chat.streaming.reading import Reading

DONE = b"event: done\ndata: [DONE]\n\n"


def event(value: Any, type_: str = "") -> bytes:
    """One event as bytes."""
    data = value if isinstance(value, str) else json.dumps(value)
    return (f"event: {type_}\n" if type_ else "").encode() + f"data: {data}\n\n".encode()


def said(type_: str, **fields: Any) -> bytes:
    """One event of this wire."""
    return event({"event_type": type_, **fields}, type_)


def start(index: int | None, type_: str | None, **fields: Any) -> bytes:
    """A step begins."""
    step = fields if type_ is None else {"type": type_, **fields}
    return said("step.start", step=step, **({} if index is None else {"index": index}))


def delta(index: int | None, type_: str, **fields: Any) -> bytes:
    """A step grows."""
    return said("step.delta", delta={"type": type_, **fields}, **({} if index is None else {"index": index}))


def stop(index: int | None) -> bytes:
    """A step ends."""
    return said("step.stop", **({} if index is None else {"index": index}))


def completed(status: Any = "completed", **fields: Any) -> bytes:
    """The terminal event."""
    return said("interaction.completed", interaction={"id": "v1", "status": status, **fields})


def heard(*parts: bytes, ending: Ending = "eof") -> Reading:
    """Read a stream."""
    return read("google_interactions", [b"".join(parts)], ending=ending)


def judged(reading: Reading) -> tuple[str, str | None, str | None, bool | None]:
    """The verdict alone."""
    return reading.outcome, reading.reason, reading.provider_reason, reading.retryable


CREATED = said("interaction.created", interaction={"id": "v1", "status": "in_progress"})
OUTPUT = start(0, "model_output")
HI = delta(0, "text", text="Hi")
STOP = stop(0)
END = completed()
COMPLETE = ("complete", None, "completed", None)
