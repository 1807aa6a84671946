"""A listener of an engine, and what its rows say. For the tests that walk through the whole engine."""

import asyncio
from typing import Any

from chat.engine.embedded import EmbeddedEngine
from chat.engine.hub import Farewell
from chat.models import Generation, JournalRow, Message
from chat.readers import Reader
from chat.streaming.frames import Final, Frame, Paint
from tests.engine.conftest import WAIT_S


class Page:
    """A listener that keeps what it was sent."""

    def __init__(self, engine: EmbeddedEngine, conversation_id: Any) -> None:
        self.conversation_id = conversation_id
        self.reader = Reader("", 0)
        self.frames: list[Frame] = []
        self.closed = False
        engine.hub.join(self)

    async def receive(self, generation_id: Any, frame: Frame) -> None:
        self.frames.append(frame)

    async def look(self, row: Generation) -> None: ...

    async def close(self, why: Farewell) -> None:
        self.closed = why is Farewell.GONE

    def unfinished(self) -> list[Any]:
        return []

    def text(self, handle: int) -> str:
        return "".join(f.text for f in self.frames if isinstance(f, Paint) and f.handle == handle)

    async def last(self) -> Final:
        """The first last frame that came."""
        for _ in range(WAIT_S * 200):
            finals = [frame for frame in self.frames if isinstance(frame, Final)]
            if finals:
                return finals[0]
            await asyncio.sleep(0.005)
        raise TimeoutError(f"no last frame; got {self.frames}")


async def journal(engine: EmbeddedEngine, row: Generation) -> list[str]:
    rows: list[JournalRow] = await engine.db_for_pages(
        lambda: list(JournalRow.objects.filter(subject_id=row.pk).order_by("sequence"))
    )
    assert [entry.sequence for entry in rows] == list(range(1, len(rows) + 1))
    return [f"{entry.from_state} {entry.trigger} {entry.to_state}" for entry in rows]


async def messages(engine: EmbeddedEngine) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = await engine.db_for_pages(
        lambda: list(Message.objects.order_by("created").values_list("kind", "text"))
    )
    return found
