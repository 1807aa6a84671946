"""Hands each frame of this process to everyone here who listens to its conversation.

Takes frames in their order, gives them to listeners in memory, encoded once. It knows no cursor and heals nothing: a
listener that misses a frame finds it in the draft store. Paints that come after a generation's last frame are dropped.
"""

import contextlib
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable
from enum import Enum, auto
from typing import Protocol
from uuid import UUID

from chat.drafts import DraftStore
from chat.models import Generation
from chat.readers import Reader
from chat.streaming.frames import Frame, Paint

log = logging.getLogger(__name__)


class Farewell(Enum):
    """Why a page is sent away."""

    GONE = auto()  # its conversation does not exist any more
    SIGNED_OUT = auto()  # its reader may not read on
    AGAIN = auto()  # it failed, or the process stops: it may come back


class Listener(Protocol):
    """One open page. `receive` must not wait for the page: it is called from the tick of all generations."""

    conversation_id: UUID
    reader: Reader

    async def receive(self, generation_id: UUID, frame: Frame) -> None: ...
    async def look(self, row: Generation) -> None: ...
    async def close(self, why: Farewell) -> None: ...
    def unfinished(self) -> Iterable[UUID]: ...


class Hub:
    """Listeners by conversation. All calls come from the event loop's own thread."""

    def __init__(self, store: DraftStore) -> None:
        self._store = store
        self._listeners: dict[UUID, set[Listener]] = defaultdict(set)

    def join(self, listener: Listener) -> None:
        self._listeners[listener.conversation_id].add(listener)

    def leave(self, listener: Listener) -> None:
        listeners = self._listeners.get(listener.conversation_id)
        if listeners is not None:
            listeners.discard(listener)
            if not listeners:
                del self._listeners[listener.conversation_id]

    async def publish(self, conversation_id: UUID, generation_id: UUID, frames: Iterable[Frame]) -> None:
        """Give `frames` to everyone who listens now. A listener that fails is closed, the others go on."""
        listeners = self._listeners.get(conversation_id)
        if not listeners:
            return
        for frame in frames:
            if isinstance(frame, Paint) and self._is_over(generation_id):
                continue
            for listener in list(listeners):
                await self._guarded(listener, listener.receive(generation_id, frame))

    async def look(self, row: Generation) -> None:
        """Show every listener of its conversation how a generation is stored."""
        if row.conversation_id is not None:
            for listener in list(self._listeners.get(row.conversation_id, ())):
                await self._guarded(listener, listener.look(row))

    def unfinished(self) -> set[UUID]:
        """What some open page sees as running."""
        return {generation for listener in self._everyone() for generation in listener.unfinished()}

    async def close(self, conversation_id: UUID) -> None:
        """The conversation is gone: send everyone away."""
        for listener in list(self._listeners.get(conversation_id, ())):
            await self._send_away(listener, Farewell.GONE)

    async def sign_out(self, is_out: Callable[[Reader], bool]) -> None:
        """Some readers may not read on: send their pages away."""
        for listener in [listener for listener in self._everyone() if is_out(listener.reader)]:
            await self._send_away(listener, Farewell.SIGNED_OUT)

    async def dismiss(self) -> None:
        """The process stops: send everyone away; they may come back to the next one."""
        for listener in self._everyone():
            await self._send_away(listener, Farewell.AGAIN)

    def readers(self) -> set[Reader]:
        """Who listens now."""
        return {listener.reader for listener in self._everyone()}

    def conversations(self) -> set[UUID]:
        """To what they listen."""
        return set(self._listeners)

    def _everyone(self) -> list[Listener]:
        return [listener for group in self._listeners.values() for listener in group]

    def __len__(self) -> int:
        return sum(len(listeners) for listeners in self._listeners.values())

    def _is_over(self, generation_id: UUID) -> bool:
        entry = self._store.get(generation_id)
        return entry is not None and entry.final is not None

    async def _guarded(self, listener: Listener, delivery: Awaitable[None]) -> None:
        """A listener that fails is closed; the others, and the generation, go on."""
        try:
            await delivery
        except Exception:
            log.exception("a page's socket failed and is closed")
            await self._send_away(listener, Farewell.AGAIN)

    async def _send_away(self, listener: Listener, why: Farewell) -> None:
        """Close it, whatever state its socket is in: what the others get must not hang on it."""
        self.leave(listener)
        with contextlib.suppress(Exception):
            await listener.close(why)
