"""Text -> server-sent events, or the JSON that lies where they should be.

Takes pieces of text, cut anywhere; gives events: those of the event stream, until a line begins with `{` or `[`.
No field has such a name, so the rest of the body is JSON: the array of a stream that was asked for without events,
or an error that the server pasted, unframed, into the stream. Does not know what any of it means.
"""

from __future__ import annotations

import re

from chat.streaming.errors import EventTooLarge
from chat.streaming.json_array import JsonArrayReader
from chat.streaming.sse import DEFAULT_MAX_EVENT_BYTES, Event, SseReader

_BARE = re.compile(r"(?:\A|[\r\n])[{\[]")


class SseOrJsonReader:
    """An `SseReader` that hands over to a `JsonArrayReader`; an event that the JSON interrupts is dropped."""

    def __init__(self, max_event_bytes: int = DEFAULT_MAX_EVENT_BYTES) -> None:
        self._max_event_bytes = max_event_bytes
        # It looks for the border itself, at the lines that are no plain event: nearly none, so that looking costs nothing.
        self._sse = SseReader(max_event_bytes, foreign_line=_BARE)
        self._json: JsonArrayReader | None = None

    def feed(self, text: str) -> list[Event]:
        """Return the events that this piece of text completes, in order."""
        if self._json is not None:
            return self._json.feed(text)
        events = self._sse.feed(text)
        bare = self._sse.foreign
        if bare is None:
            return events
        self._sse.close()
        self._json = JsonArrayReader(self._max_event_bytes)
        try:
            return events + self._json.feed(bare)
        except EventTooLarge as error:
            raise EventTooLarge(self._max_event_bytes, events + error.events) from None

    def close(self) -> list[Event]:
        """Return the events that the end of the body completes."""
        return self._sse.close() if self._json is None else self._json.close()
