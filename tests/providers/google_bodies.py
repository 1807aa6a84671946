"""Bodies of Google's generate wire, piece by piece, for its tests."""

from __future__ import annotations

import json
from typing import Any

from chat.providers import read
from chat.streaming.outcome import Ending
from chat.streaming.reading import Reading

Value = dict[str, Any]


def data(value: Any) -> bytes:
    """One event as this provider writes it."""
    return f"data: {json.dumps(value)}\r\n\r\n".encode()


def candidate(*parts: Any, finish: str | None = None, **fields: Any) -> Value:
    """One chunk with one candidate."""
    found: Value = {"content": {"role": "model", "parts": list(parts)}} if parts else {}
    if finish is not None:
        found["finishReason"] = finish
    return {"candidates": [found | fields]}


def says(*parts: Any, finish: str | None = None, **fields: Any) -> bytes:
    """The event of such a chunk."""
    return data(candidate(*parts, finish=finish, **fields))


def calls(**call: Any) -> Value:
    """A part that is a call."""
    return {"functionCall": call}


HI = says({"text": "Hi"})
STOP = says(finish="STOP")


def google(*parts: bytes, ending: Ending = "eof") -> Reading:
    """Read a body made of these parts."""
    return read("google", parts, ending=ending)


def judged(reading: Reading) -> tuple[str, str | None, str | None, bool | None]:
    """The verdict alone."""
    return reading.outcome, reading.reason, reading.provider_reason, reading.retryable
