"""Bodies of the Anthropic wire, piece by piece, for its tests."""

from __future__ import annotations

import json
from typing import Any

from chat.providers import read
from chat.streaming.outcome import Ending
from chat.streaming.reading import Reading


def event(type_: str, **fields: Any) -> bytes:
    """One event as this provider writes it."""
    data = json.dumps({"type": type_, **fields})
    return f"event: {type_}\ndata: {data}\n\n".encode()


def begin(index: int, type_: str, **fields: Any) -> bytes:
    """A block begins."""
    return event("content_block_start", index=index, content_block={"type": type_, **fields})


def add(index: int, type_: str, **fields: Any) -> bytes:
    """A block grows."""
    return event("content_block_delta", index=index, delta={"type": type_, **fields})


def end(index: int) -> bytes:
    """A block ends."""
    return event("content_block_stop", index=index)


def finish(reason: str | None, **fields: Any) -> bytes:
    """The message says why it ends."""
    return event("message_delta", delta={"stop_reason": reason, **fields}, usage={"output_tokens": 5})


def text(words: str, index: int = 0) -> bytes:
    """A whole text block."""
    return begin(index, "text", text="") + add(index, "text_delta", text=words) + end(index)


START = event("message_start", message={"id": "m", "usage": {"input_tokens": 3, "output_tokens": 1}})
HI = text("Hi")
END_TURN = finish("end_turn")
STOP = event("message_stop")


def anthropic(*parts: bytes, ending: Ending = "eof") -> Reading:
    """Read a body made of these parts."""
    return read("anthropic", parts, ending=ending)


def judged(reading: Reading) -> tuple[str, str | None, str | None, bool | None]:
    """The verdict alone."""
    return reading.outcome, reading.reason, reading.provider_reason, reading.retryable
