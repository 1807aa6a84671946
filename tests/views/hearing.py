"""A reader of a conversation's events, as the server hands its request to the application.

Takes a conversation and a cookie, gives events as they come. For the tests of the view of events.
"""

import asyncio
import json
from typing import Any, NamedTuple, Self

from asgiref.testing import ApplicationCommunicator

from chat import drafts
from chat.engine.embedded import EmbeddedEngine
from chat.models import Generation
from chat.streaming.sse import Event, SseReader
from gymnasia.asgi import application
from tests.engine.conftest import WAIT_S


class Heard(NamedTuple):
    """One event: its name, where its reader stands after it, and what it brought."""

    name: str
    id: str
    data: Any


class Request:
    """A GET of the conversation's events as the server hands it to the application; read piece by piece."""

    def __init__(
        self,
        conversation_id: Any,
        cookie: bytes = b"",
        query: str = "",
        *,
        last: str | None = None,
        method: str = "GET",
    ) -> None:
        headers = [(b"host", b"localhost:8000"), (b"cookie", cookie)]
        if last is not None:
            headers.append((b"last-event-id", last.encode("latin-1")))
        path = f"/conversations/{conversation_id}/events"
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "headers": headers,
            "client": ("127.0.0.1", 4711),
            "server": ("127.0.0.1", 8000),
        }
        self.wire: Any = ApplicationCommunicator(application, scope)  # type: ignore[no-untyped-call]
        self.text = ""
        self.is_over = False
        self._events = SseReader(1 << 20)
        self._heard: list[Event] = []

    async def __aenter__(self) -> Self:
        await self.wire.send_input({"type": "http.request"})
        start = await self.wire.receive_output(timeout=WAIT_S)
        self.status: int = start["status"]
        self.headers = {name.decode().lower(): value.decode() for name, value in start["headers"]}
        return self

    async def __aexit__(self, *_: object) -> None:
        """The client goes, as Daphne tells it."""
        await self.wire.send_input({"type": "http.disconnect"})
        await self.wire.wait(timeout=WAIT_S)

    async def _more(self) -> None:
        piece = await self.wire.receive_output(timeout=WAIT_S)
        text = piece.get("body", b"").decode()
        self.text += text
        self._heard += self._events.feed(text)
        self.is_over = not piece.get("more_body", False)

    async def event(self) -> Heard:
        while not self._heard:
            assert not self.is_over, f"expected an event, got the end after {self.text}"
            await self._more()
        heard = self._heard.pop(0)
        return Heard(heard.type, heard.last_event_id, json.loads(heard.data))

    async def until(self, *names: str) -> list[Heard]:
        """Every event up to the first with one of these names."""
        events = [await self.event()]
        while events[-1].name not in names:
            events.append(await self.event())
        return events

    async def until_paint(self) -> Heard:
        """The first text that comes."""
        while kind(event := await self.event()) != "paint":
            pass
        return event

    async def whole(self) -> str:
        while not self.is_over:
            await self._more()
        return self.text


async def asked(conversation_id: Any, cookie: bytes, query: str = "", **more: Any) -> tuple[int, str]:
    """Status and body of an answer that ends."""
    async with Request(conversation_id, cookie, query, **more) as request:
        return request.status, await request.whole()


async def polled(conversation_id: Any, cookie: bytes, after: str = "") -> Any:
    status, body = await asked(conversation_id, cookie, f"poll=1&after={after}")
    assert status == 200
    return json.loads(body)


async def painted(running: Generation, seq: int) -> None:
    """Until the draft has been painted this often."""
    async with asyncio.timeout(WAIT_S):
        while (entry := drafts.STORE.get(running.pk)) is None or entry.draft.seq < seq:  # noqa: ASYNC110 (no event tells)
            await asyncio.sleep(0.005)


async def nobody_listens(engine: EmbeddedEngine) -> None:
    async with asyncio.timeout(WAIT_S):
        while len(engine.hub):  # noqa: ASYNC110 (no event tells)
            await asyncio.sleep(0.005)


def text_of(events: list[Heard]) -> str:
    return "".join(event.data[2] for event in events if isinstance(event.data, list))


def kind(event: Heard) -> str:
    if event.name != "message":
        return event.name
    return "paint" if isinstance(event.data, list) else str(event.data["type"])
