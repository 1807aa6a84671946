"""What a scripted provider plays: steps, whole scripts, and the short words for chat-completions events.

Takes plain values, gives bytes and frozen scripts. Knows no sockets or clocks: `provider.py` plays them.
Every bytes item of a script is one HTTP chunk and one write, so a test says exactly where the network cuts.
"""
# ruff: noqa: N802 - T, FIN, DONE and the others are the notation of the cases that tests are written from.

import itertools
import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

MODEL = "scripted-1"


@dataclass(frozen=True, slots=True)
class Wait:
    """Say nothing for this long."""

    ms: float


@dataclass(frozen=True, slots=True)
class Paced:
    """Send one piece per tick without drift, noting the time of each send."""

    pieces: tuple[bytes, ...]
    per_second: float


@dataclass(frozen=True, slots=True)
class End:
    """End orderly: the chunked terminator, or the end of the connection where the framing is `eof`."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Close the connection without the chunked terminator: the body is broken, the TCP close is polite."""


@dataclass(frozen=True, slots=True)
class Reset:
    """Tear the connection down with RST."""


@dataclass(frozen=True, slots=True)
class Stall:
    """Say nothing more until the peer goes."""


@dataclass(frozen=True, slots=True)
class Until:
    """Say nothing more until the test says so."""

    told: threading.Event


@dataclass(frozen=True, slots=True)
class Held:
    """Numbered words, one every so often, until the test tells the provider to go on: none is missed by being slow."""

    lane: Literal["content", "reasoning_content"]
    ms: float


Step = bytes | Wait | Paced | End | Cut | Reset | Stall | Until | Held
GAP = Wait(20)
"""The `·` of the bug cases: flush, then let the reader see what came so far."""

SSE_HEADERS = {"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-cache"}


@dataclass(frozen=True, slots=True)
class Script:
    """One whole HTTP response: head, steps, and how the body is framed. Steps that run out are an `End`."""

    steps: tuple[Step, ...] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: SSE_HEADERS)
    hold_ms: float = 0
    """How long the head is held back; `float("inf")` is for ever."""
    framing: Literal["chunked", "eof"] = "chunked"
    head: bytes | None = None
    """What is sent in place of a head."""


def play(
    *steps: Step, status: int = 200, hold_ms: float = 0, framing: Literal["chunked", "eof"] = "chunked"
) -> Script:
    """An event stream of these steps."""
    return Script(steps, status=status, hold_ms=hold_ms, framing=framing)


def headless(head: bytes, *steps: Step) -> Script:
    """What is no answer by HTTP, or the beginning of one; then these steps."""
    return Script(steps, framing="eof", head=head)


def page(body: bytes, *, status: int = 200, content_type: str = "application/json", **headers: str) -> Script:
    """A plain body instead of a stream; `Retry_After="2"` becomes the header `Retry-After: 2`."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Script((body,), status=status, headers={"Content-Type": content_type, **named})


def event(value: Mapping[str, Any]) -> bytes:
    """One SSE event that carries this JSON."""
    return b"data: " + json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n\n"


def chunk(delta: Mapping[str, Any], finish_reason: str | None = None, **more: Any) -> bytes:
    """One chat-completions chunk, as wide as the real ones are, so that costs per event are real too."""
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
    return event(
        {
            "id": "chatcmpl-scripted-0123456789abcdef",
            "object": "chat.completion.chunk",
            "created": 1750000000,
            "model": MODEL,
            "system_fingerprint": "fp_scripted",
            "choices": [choice],
            **more,
        }
    )


def T(text: str) -> bytes:
    """A piece of the answer."""
    return chunk({"content": text})


def REASON(text: str, field: str = "reasoning_content") -> bytes:
    """A piece of the reasoning, in the field that the dialect uses."""
    return chunk({field: text})


def REFUSE(text: str) -> bytes:
    """A piece of a refusal in its own field."""
    return chunk({"refusal": text})


def FIN(reason: str) -> bytes:
    """The finish: an empty delta with this reason."""
    return chunk({}, reason)


def USAGE(prompt: int, completion: int, *, reasoning: int = 0, cached: int = 0) -> bytes:
    """The usage-only chunk that follows the finish, with no choices."""
    return event(
        {
            "id": "chatcmpl-scripted-0123456789abcdef",
            "object": "chat.completion.chunk",
            "created": 1750000000,
            "model": MODEL,
            "choices": [],
            "usage": {
                "prompt_tokens": prompt,
                "completion_tokens": completion,
                "total_tokens": prompt + completion,
                "prompt_tokens_details": {"cached_tokens": cached},
                "completion_tokens_details": {"reasoning_tokens": reasoning},
            },
        }
    )


def ERROR(message: str, kind: str = "server_error", code: str | None = None) -> bytes:
    """An error in the middle of a stream whose status was 200."""
    return event({"error": {"message": message, "type": kind, "param": None, "code": code}})


DONE = b"data: [DONE]\n\n"


def pieces(text: str, tokens: int) -> list[str]:
    """`text` in `tokens` pieces of nearly equal length; fewer where the text is shorter."""
    count = max(1, min(tokens, len(text)))
    borders = [len(text) * n // count for n in range(count + 1)]
    return [text[start:end] for start, end in itertools.pairwise(borders)]


def whole_answer(text: str, *, tokens: int | None = None, ms: float = 0) -> Script:
    """A complete answer: `text` in `tokens` pieces (unless told: words), `ms` apart, finish, usage, DONE."""
    parts = pieces(text, tokens) if tokens else words(text)
    steps: list[Step] = []
    for part in parts:
        steps += [T(part), Wait(ms)] if ms else [T(part)]
    return play(*steps, FIN("stop"), USAGE(9, len(parts)), DONE)


def words(text: str) -> list[str]:
    """`text` cut before each word, as tokenizers do, so that joining gives it back."""
    found: list[str] = []
    for part in text.split(" "):
        found.append(part if not found else " " + part)
    return found
