"""How often a value may be shown: the first at once, then at most one per interval, always the newest.

Takes values and the time (seconds, any monotonic clock: `now` is an argument); gives those to show now. Does
not know what they are, and has no timer: somebody calls `tick`.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from chat.streaming.errors import FeedAfterClose

Value = TypeVar("Value")


class Throttle(Generic[Value]):
    """Holds back all but the newest value; nothing is ever shown after `close`.

    `interval_ms` may be changed at any time: under load it stretches.
    """

    __slots__ = ("_closed", "_pending", "_shown_at", "interval_ms")

    def __init__(self, interval_ms: float) -> None:
        self.interval_ms = interval_ms
        self._pending: list[Value] = []
        self._shown_at: float | None = None
        self._closed = False

    def feed(self, value: Value, now: float) -> list[Value]:
        """Take the newest value; return it if it may be shown now."""
        if self._closed:
            raise FeedAfterClose(self)
        self._pending = [value]
        return self.tick(now)

    def tick(self, now: float) -> list[Value]:
        """Return the pending value if its time has come."""
        if not self._pending:
            return []
        due = self._shown_at is None or (now - self._shown_at) * 1000 >= self.interval_ms
        return self.clear(now) if due else []

    def clear(self, now: float, *values: Value) -> list[Value]:
        """Return what is pending, or the value given in its place, at once: a cleared draft does not wait."""
        shown = [] if self._closed else list(values) or self._pending
        self._pending = []
        if shown:
            self._shown_at = now
        return shown

    def close(self) -> list[Value]:
        """Drop what is pending: the final frame says it all."""
        self._closed = True
        self._pending = []
        return []
