"""Bodies of the chat wire, written small: for the tests of that wire."""

from __future__ import annotations

import json
from typing import Any

from chat.providers import read
from chat.streaming.outcome import Ending
from chat.streaming.reading import Reading

DONE = b"data: [DONE]\n\n"
Chunk = dict[str, Any]


def event(value: Any, type_: str = "") -> bytes:
    """One event."""
    data = value if isinstance(value, str) else json.dumps(value)
    return (f"event: {type_}\n" if type_ else "").encode() + f"data: {data}\n\n".encode()


def delta(finish: str | None = None, **fields: Any) -> bytes:
    """One chunk with one choice."""
    return event({"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]})


def chat(*parts: bytes, profile: str | None = None, ending: Ending = "eof") -> Reading:
    """Read a stream."""
    return read("openai_chat", [b"".join(parts)], profile=profile, ending=ending)


def judged(reading: Reading) -> tuple[str, str | None, str | None, bool | None]:
    """The verdict alone."""
    return reading.outcome, reading.reason, reading.provider_reason, reading.retryable


STOP = delta("stop")
HI = delta(content="Hi")
