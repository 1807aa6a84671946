"""Text -> server-sent events, by the letter of the WHATWG event stream.

Takes pieces of text, cut anywhere; gives events. Lines end with LF, CR or CRLF and with nothing else: U+2028,
U+2029, U+0085, VT and FF are text. Does not know what the data of an event means.
"""

from __future__ import annotations

import re

import msgspec

from chat.streaming.errors import EventTooLarge, FeedAfterClose

DEFAULT_MAX_EVENT_BYTES = 8 * 1024 * 1024

# A reconnection time beyond this many digits is nonsense, and int() refuses absurd lengths with an exception.
_MAX_RETRY_DIGITS = 15

_CR_ENDS = re.compile("\r\n?")


class Event(msgspec.Struct, frozen=True, gc=False):
    """One dispatched event: its type (`message` if none was named), its data, and the id that then stood."""

    type: str
    data: str
    last_event_id: str


def size_bytes(text: str) -> int:
    """Return how many bytes the text has in UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


class SseReader:
    """Splits an event stream; gives the same events for every way the text may be cut.

    The size of an event is the UTF-8 bytes of its field lines, line ends not counted. Comments do not count,
    but no line, comment or not, may be longer than the limit. What passes it raises `EventTooLarge` at once,
    in mid-line; the buffers are dropped, and the reader takes nothing more.

    `foreign_line` finds, at the start of the text or after a line end, the last character of its match being the first
    of the line, a line that is of no event stream: `foreign` is then all text from there on, and nothing of it is read.
    """

    __slots__ = (
        "_closed",
        "_data",
        "_event_bytes",
        "_foreign_line",
        "_id",
        "_line_bytes",
        "_line_parts",
        "_max_event_bytes",
        "_swallow_lf",
        "_type",
        "foreign",
        "last_event_id",
        "retry",
    )

    def __init__(
        self, max_event_bytes: int = DEFAULT_MAX_EVENT_BYTES, foreign_line: re.Pattern[str] | None = None
    ) -> None:
        self.foreign: str | None = None
        self._foreign_line = foreign_line
        self.last_event_id = ""
        self.retry: int | None = None
        self._max_event_bytes = max_event_bytes
        self._closed = False
        self._swallow_lf = False
        self._id = ""
        self._reset_event()
        self._reset_line()

    def feed(self, text: str) -> list[Event]:
        """Return the events that this piece of text completes, in order."""
        if self._closed:
            raise FeedAfterClose(self)
        if self._swallow_lf and text:
            # The CR ended its line when it came; an LF right after it belongs to it, even in the next chunk.
            self._swallow_lf = False
            if text[0] == "\n":
                text = text[1:]
        if not text:
            return []
        last_end = text.rfind("\n") + 1
        if "\r" in text:
            self._swallow_lf = text[-1] == "\r"
            last_end = max(last_end, text.rfind("\r") + 1)
        events: list[Event] = []
        if last_end:
            whole, text = text[:last_end], text[last_end:]
            if self._line_parts:
                self._line_parts.append(whole)
                whole = "".join(self._line_parts)
                self._reset_line()
            self._read_blocks(whole, events)
        if self.foreign is not None:
            self.foreign += text
        elif (
            text
            and self._foreign_line is not None
            and not self._line_parts
            and self._foreign_line.match(text)
        ):
            self.foreign = text
        elif text:
            self._hold(text, events)
        return events

    def close(self) -> list[Event]:
        """Drop what no blank line has ended: the standard says that it is never dispatched."""
        self._drop()
        return []

    def _read_blocks(self, text: str, events: list[Event]) -> None:
        """Read whole lines; nearly every event is one `data` line, at most behind an `event` line: that comes first.

        One kind of blank line parts the text into blocks; another kind, and any CR, is met line by line.
        """
        has_cr = "\r" in text
        end = "\r\n" if has_cr and "\r\n\r\n" in text else "\n"
        blocks = text.split(end + end)
        last = blocks.pop()
        # No character has more than four bytes, so that nearly nothing must be counted.
        surely_small = len(text) <= self._max_event_bytes // 4
        # Every block ends its event, so that only the first one can go on with what an earlier piece began.
        plain = surely_small and not self._event_bytes
        rest = iter(blocks)
        for block in rest:
            if plain:
                if block.startswith("data:"):
                    if "\n" not in block and not (has_cr and "\r" in block):
                        data = block[6:] if block[5:6] == " " else block[5:]
                        events.append(Event("message", data, self._id))
                        continue
                elif block.startswith("event:"):
                    type_, _, line = block.partition(end)
                    # Before a CRLF there may be whole lines of other ends.
                    mixed = has_cr and ("\r" in line or "\r" in type_ or "\n" in type_)
                    if line.startswith("data:") and "\n" not in line and not mixed:
                        type_ = type_[7:] if type_[6:7] == " " else type_[6:]
                        data = line[6:] if line[5:6] == " " else line[5:]
                        events.append(Event(type_ or "message", data, self._id))
                        continue
                elif not block:
                    continue  # blank lines where nothing waits for one: a body of nothing else must cost nothing
            plain = surely_small
            at = self._read_lines(block + end, events)
            if at is not None:
                self.foreign = (end + end).join((block, *rest, last))[at:]
                return
            self._read_line("", events)
        if last:
            at = self._read_lines(last, events)
            if at is not None:
                self.foreign = last[at:]

    def _read_lines(self, text: str, events: list[Event]) -> int | None:
        """Read whole lines one by one; where one of them is foreign, stop and return its offset."""
        found = None if self._foreign_line is None else self._foreign_line.search(text)
        at = None if found is None else found.end() - 1
        for line in _CR_ENDS.sub("\n", text[:at]).split("\n")[:-1]:
            self._read_line(line, events)
        return at

    def _read_line(self, line: str, events: list[Event]) -> None:
        if not line:
            self.last_event_id = self._id
            if self._data:
                events.append(Event(self._type or "message", "\n".join(self._data), self._id))
            self._reset_event()
            return
        size = size_bytes(line)
        if line[0] == ":":
            if size > self._max_event_bytes:
                self._refuse(events)
            return
        self._event_bytes += size
        if self._event_bytes > self._max_event_bytes:
            self._refuse(events)
        name, _, value = line.partition(":")
        self._read_field(name, value.removeprefix(" "))

    def _read_field(self, name: str, value: str) -> None:
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._type = value
        elif name == "id":
            if "\0" not in value:
                self._id = value
        elif name == "retry" and value.isascii() and value.isdigit() and len(value) <= _MAX_RETRY_DIGITS:
            self.retry = int(value)

    def _hold(self, rest: str, events: list[Event]) -> None:
        self._line_parts.append(rest)
        self._line_bytes += size_bytes(rest)
        size = self._line_bytes
        if self._line_parts[0][0] != ":":
            size += self._event_bytes
        if size > self._max_event_bytes:
            self._refuse(events)

    def _refuse(self, events: list[Event]) -> None:
        self._drop()
        raise EventTooLarge(self._max_event_bytes, events)

    def _drop(self) -> None:
        self._closed = True
        self._reset_event()
        self._reset_line()

    def _reset_event(self) -> None:
        self._data: list[str] = []
        self._type = ""
        self._event_bytes = 0

    def _reset_line(self) -> None:
        self._line_parts: list[str] = []
        self._line_bytes = 0
