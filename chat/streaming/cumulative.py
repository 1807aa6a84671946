"""A transport that only ever shows "all received so far" -> what is new.

Takes the whole text (or the whole bytes) seen so far, again and again; gives the part that was not there
before. Does not know what the text means: a reader of bytes or of text can stand behind it.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from chat.streaming.errors import FeedAfterClose, RewrittenText

Shown = TypeVar("Shown", str, bytes)


class Cumulative(Generic[Shown]):
    """Turns growing wholes into pieces; a whole that is not the last one grown longer raises `RewrittenText`."""

    __slots__ = ("_closed", "_shown")

    def __init__(self, blank: Shown) -> None:
        self._shown: Shown = blank
        self._closed = False

    def feed(self, so_far: Shown) -> list[Shown]:
        """Return the new piece: one, or none when nothing has grown."""
        if self._closed:
            raise FeedAfterClose(self)
        if not so_far.startswith(self._shown):
            raise RewrittenText(
                f"expected the {len(self._shown)} characters shown before and more, got {len(so_far)} others"
            )
        new = so_far[len(self._shown) :]
        self._shown = so_far
        return [new] if new else []

    def close(self) -> list[Shown]:
        """End the transport: nothing is held back here."""
        self._closed = True
        return []
