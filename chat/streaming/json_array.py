"""Text -> the elements of one JSON array, each as soon as it is whole: Google's stream without `alt=sse`.

Takes pieces of text, cut anywhere; gives one event per element, its data the element's text. What is inside an
element is not checked here: only strings and brackets are followed. A bare object instead of an array (which is
how Google words an error) is an event of its own type. Does not know what an element means.
"""

from __future__ import annotations

import re

from chat.streaming.errors import EventTooLarge, FeedAfterClose
from chat.streaming.sse import DEFAULT_MAX_EVENT_BYTES, Event, size_bytes

ELEMENT = "element"
"""The type of an event that holds one element of the array: an object or an array."""
OBJECT = "object"
"""The type of an event that holds an object outside any array."""
END = "end"
"""The type of the event that the array's `]` is; its data is empty."""
JUNK = "junk"
"""The type of the event for the first character that cannot stand where it stands; nothing after it is read."""
REST = "rest"
"""The type of the event that says, at the end of the body, that the JSON was not whole; its data is empty."""

_GAP = re.compile(r"[ \t\r\n]*")
# A string that is whole in this piece is passed over at once; the lone quote is that of one that is not.
_OUTSIDE_STRINGS = re.compile(r'[{}\[\]]|"(?:[^"\\]++|\\.)*+"|"', re.DOTALL)
_INSIDE_STRINGS = re.compile(r'["\\]')

# What may come next: place -> letter -> the place after it, or the type of the value that it opens.
_PLACES: dict[str, dict[str, str]] = {
    "start": {"[": "first", "{": OBJECT},
    "first": {"{": ELEMENT, "[": ELEMENT, "]": "end"},
    "after": {",": "next", "]": "end"},
    "next": {"{": ELEMENT, "[": ELEMENT},
    "lone": {"{": OBJECT},
    "end": {},
    "deaf": {},
}
_WHOLE = {"start", "lone", "end", "deaf"}


class JsonArrayReader:
    """Splits one JSON array; gives the same events for every way the text may be cut.

    The size of an element is its UTF-8 bytes; one that passes the limit raises `EventTooLarge` at once, in
    mid-element, and the reader takes nothing more. The first character that cannot stand where it stands
    becomes an event of its own type; everything after it is dropped.
    """

    def __init__(self, max_event_bytes: int = DEFAULT_MAX_EVENT_BYTES) -> None:
        self._max_event_bytes = max_event_bytes
        self._closed = False
        self._place = "start"
        self._type = ""
        self._depth = 0
        self._in_string = False
        self._escaped = False  # whether the backslash that ended the last piece takes the next character
        self._pieces: list[str] = []
        self._bytes = 0

    def feed(self, text: str) -> list[Event]:
        """Return the events that this piece of text completes, in order."""
        if self._closed:
            raise FeedAfterClose(self)
        events: list[Event] = []
        at = 0
        while at < len(text) and self._place != "deaf":
            at = self._read_value(text, at, events) if self._depth else self._read_gap(text, at, events)
        return events

    def close(self) -> list[Event]:
        """Say whether the JSON was whole: an array needs its `]`, an object its `}`."""
        self._closed = True
        return [] if self._place in _WHOLE and not self._depth else [Event(REST, "", "")]

    def _read_gap(self, text: str, start: int, events: list[Event]) -> int:
        """Read what stands between values, up to and without the letter that opens the next one."""
        found = _GAP.match(text, start)
        at = found.end() if found else start
        if at == len(text):
            return at
        letter = text[at]
        place = _PLACES[self._place].get(letter)
        if place is None:
            events.append(Event(JUNK, letter, ""))
            self._place = "deaf"
        elif place in {ELEMENT, OBJECT}:
            self._type, self._depth = place, 1
            self._pieces, self._bytes = [letter], 1
        else:
            self._place = place
            if place == "end":
                events.append(Event(END, "", ""))
        return at + 1

    def _read_value(self, text: str, start: int, events: list[Event]) -> int:
        at = start
        if self._escaped:
            self._escaped = False
            at += 1
        while True:
            found = (_INSIDE_STRINGS if self._in_string else _OUTSIDE_STRINGS).search(text, at)
            if found is None:
                self._hold(text[start:], events)
                return len(text)
            at = found.end()
            letter = found.group()
            if len(letter) > 1:
                continue
            if letter == '"':
                self._in_string = not self._in_string
            elif letter == "\\":
                self._escaped = at == len(text)
                at += 1
            elif letter in "{[":
                self._depth += 1
            else:
                self._depth -= 1
                if not self._depth:
                    self._hold(text[start:at], events)
                    events.append(Event(self._type, "".join(self._pieces), ""))
                    self._place = "lone" if self._type == OBJECT else "after"
                    return at

    def _hold(self, piece: str, events: list[Event]) -> None:
        self._pieces.append(piece)
        self._bytes += size_bytes(piece)
        if self._bytes > self._max_event_bytes:
            self._pieces = []
            self._depth = 0
            self._place = "deaf"
            raise EventTooLarge(self._max_event_bytes, events)
