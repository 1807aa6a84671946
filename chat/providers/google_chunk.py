"""One chunk of Google's generate wire: JSON text -> the fields that are read, whatever else is in it.

Takes the data of one event, or one element of the array; gives a typed chunk. What has an unexpected type is as if
it were not there. Does not know what a chunk means: that is `google.py`.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

from chat.providers.chat_chunk import as_dict, as_int, as_list, as_text
from chat.streaming.errors import MalformedStream


class Content(msgspec.Struct, gc=False):
    """What a candidate says here; parts are kept whole, since they must be sent back as they came."""

    parts: list[Any] | None = None


class Candidate(msgspec.Struct, gc=False):
    """One of the replies that were asked for; only the first is read."""

    content: Content | None = None
    finishReason: str | None = None  # noqa: N815 (the wire's own names)
    index: int | None = None
    continuationToken: str | None = None  # noqa: N815


class Counts(msgspec.Struct, gc=False):
    """Tokens, as totals so far."""

    promptTokenCount: int | None = None  # noqa: N815
    candidatesTokenCount: int | None = None  # noqa: N815
    thoughtsTokenCount: int | None = None  # noqa: N815
    cachedContentTokenCount: int | None = None  # noqa: N815


class Feedback(msgspec.Struct, gc=False):
    """What was thought of the prompt."""

    blockReason: str | None = None  # noqa: N815


class Chunk(msgspec.Struct, gc=False):
    """One chunk."""

    candidates: list[Candidate] | None = None
    usageMetadata: Counts | None = None  # noqa: N815
    promptFeedback: Feedback | None = None  # noqa: N815
    responseId: str | None = None  # noqa: N815
    error: Any = None


class PlainPart(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """A part that is text and nothing else."""

    text: str
    thought: bool | None = None


class PlainContent(msgspec.Struct, gc=False):
    """Text alone."""

    parts: list[PlainPart]


class PlainCandidate(msgspec.Struct, gc=False):
    """A reply that grows by text, and does not end here."""

    content: PlainContent
    finishReason: None = None  # noqa: N815
    index: int | None = None
    continuationToken: None = None  # noqa: N815


class PlainChunk(msgspec.Struct, gc=False):
    """What nearly every chunk is: text for some replies, and totals."""

    candidates: list[PlainCandidate]
    usageMetadata: Counts | None = None  # noqa: N815
    promptFeedback: None = None  # noqa: N815
    responseId: str | None = None  # noqa: N815
    error: None = None


_decode_plain = msgspec.json.Decoder(PlainChunk).decode
_decode = msgspec.json.Decoder(Chunk).decode


def read_plain(data: str) -> PlainChunk | None:
    """Return the chunk if it is text and totals alone: what that is made of needs no second look. Never raises."""
    try:
        return _decode_plain(data)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None


def read_chunk(data: str) -> Chunk | None:
    """Return the chunk; None for JSON that is no object. Raises `MalformedStream` for what is not JSON."""
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
    return _lenient_chunk(value) if isinstance(value, dict) else None


def _lenient_chunk(value: dict[str, Any]) -> Chunk:
    candidates = [_lenient(item) for item in as_list(value.get("candidates")) if isinstance(item, dict)]
    counts, feedback = as_dict(value.get("usageMetadata")), as_dict(value.get("promptFeedback"))
    return Chunk(
        candidates,
        None if counts is None else Counts(*(as_int(counts.get(name)) for name in Counts.__struct_fields__)),
        None if feedback is None else Feedback(as_text(feedback.get("blockReason"))),
        as_text(value.get("responseId")),
        value.get("error"),
    )


def _lenient(value: dict[str, Any]) -> Candidate:
    content = as_dict(value.get("content"))
    return Candidate(
        None if content is None else Content(as_list(content.get("parts"))),
        as_text(value.get("finishReason")),
        as_int(value.get("index")),
        as_text(value.get("continuationToken")),
    )
