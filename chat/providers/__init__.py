"""Providers' wires, and one function that reads a recorded body through all of the product's reading.

Takes chunks of bytes; gives a reading. Pure: no Django, no network.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, overload

import msgspec

from chat.providers.anthropic import Anthropic
from chat.providers.base import Wire
from chat.providers.google import Google
from chat.providers.google_interactions import GoogleInteractions
from chat.providers.openai_chat import OpenAIChat
from chat.providers.openai_responses import OpenAIResponses
from chat.providers.profiles import profile as find_profile
from chat.streaming.outcome import Ending
from chat.streaming.pipeline import Pipeline
from chat.streaming.reading import Reading
from chat.streaming.sse import DEFAULT_MAX_EVENT_BYTES, Event, SseReader
from chat.streaming.utf8 import Utf8Decoder

__all__ = ["SSE", "WIRES", "EventLog", "read", "read_events"]

_WIRES: tuple[Wire, ...] = (
    OpenAIChat(),
    OpenAIResponses(),
    Anthropic(),
    Google(),
    GoogleInteractions(),
)
WIRES: dict[str, Wire] = {wire.name: wire for wire in _WIRES}
"""Every wire by its name."""

SSE: Final = "sse"
"""The name under which `read` and `replay` show bare events."""


class EventLog(msgspec.Struct, frozen=True):
    """What the bare wire `sse` reads: the events, and what stood at the end."""

    events: list[Event]
    last_event_id: str
    retry: int | None


@overload
def read(  # type: ignore[overload-overlap]  # "sse" is the one name that reads no wire
    wire: Literal["sse"], chunks: Iterable[bytes], *, profile: str | None = None, ending: Ending = "eof"
) -> EventLog: ...
@overload
def read(
    wire: str, chunks: Iterable[bytes], *, profile: str | None = None, ending: Ending = "eof"
) -> Reading: ...
def read(
    wire: str, chunks: Iterable[bytes], *, profile: str | None = None, ending: Ending = "eof"
) -> Reading | EventLog:
    """Return what a body amounts to, whatever way its bytes are cut; for the wire `sse`, its events.

    `profile` is a dialect's or vendor's name; an unknown one is the strict default. Raises `KeyError` for an
    unknown wire, and for `sse` alone `EventTooLarge`: there is no verdict that could hold it.
    """
    if wire == SSE:
        return read_events(chunks)
    pipeline = Pipeline(WIRES[wire].reader(find_profile(profile)), framing=WIRES[wire].framing)
    for chunk in chunks:
        pipeline.feed(chunk)
    pipeline.close(ending)
    return pipeline.reading()


def read_events(chunks: Iterable[bytes], *, max_event_bytes: int = DEFAULT_MAX_EVENT_BYTES) -> EventLog:
    """Return the events of a body, the last event id and the reconnection time (ms) that it asks for."""
    utf8, sse = Utf8Decoder(), SseReader(max_event_bytes)
    events: list[Event] = []
    for chunk in chunks:
        for text in utf8.feed(chunk):
            events += sse.feed(text)
    for text in utf8.close():
        events += sse.feed(text)
    events += sse.close()
    return EventLog(events, sse.last_event_id, sse.retry)
