"""The WebSocket shell of a subscription: frames down, acknowledgements up, nothing else.

Takes a socket of a person who is signed in, for a conversation of theirs; anybody else is refused before the handshake.
"""

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID

from channels.exceptions import StopConsumer
from channels.generic.websocket import AsyncWebsocketConsumer

from chat.engine.embedded import EmbeddedEngine
from chat.models import Conversation, Generation
from chat.replies.reply import render_reply
from chat.streaming.frames import decode_ack
from chat.subscription import Cursor, Subscription

REFUSED = 4401  # not signed in
MOST_ACK_CHARS = 100
NOT_FOUND = 4404  # no such conversation, or not this person's
FAILED = 1011  # the socket failed: come back
GOING_AWAY = 1001  # the server stops: come back

_engine: EmbeddedEngine | None = None


def serve_from(engine: EmbeddedEngine) -> None:
    """Say which engine of this process the sockets belong to."""
    global _engine  # noqa: PLW0603 (one engine per process, known only once the server runs)
    _engine = engine


def engine_state() -> str:
    """`running`, `draining` or `absent`, for readiness."""
    if _engine is None:
        return "absent"
    return "draining" if _engine.draining else "running"


class ConversationConsumer(AsyncWebsocketConsumer):  # type: ignore[misc] # Channels has no types
    """One open page."""

    subscription: Subscription | None = None

    async def connect(self) -> None:
        user = self.scope["user"]
        if _engine is None or _engine.draining:
            await self.close(GOING_AWAY)
            return
        if not user.is_authenticated:
            await self.close(REFUSED)
            return
        conversation_id: UUID = self.scope["url_route"]["kwargs"]["conversation_id"]
        if not await _engine.db_for_pages(_owns, user.pk, conversation_id):
            await self.close(NOT_FOUND)
            return
        self.straight_send = self.scope.get("straight_send", self.base_send)
        cursor = await _engine.db_for_pages(_cursor, conversation_id, self.scope["query_string"])
        await self.accept()
        self.subscription = Subscription(
            conversation_id,
            hub=_engine.hub,
            store=_engine.store,
            send=self.send_text,
            html=_engine_html(_engine),
            leave=self.leave,
            ahead_frames=_engine.conf.ahead_frames,
            ahead_bytes=_engine.conf.ahead_bytes,
        )
        try:
            await self.subscription.join(cursor, _engine_load(_engine))
        except BaseException:  # no `disconnect` follows: the hub must not keep a page that is gone
            self.subscription.leave()
            raise

    async def send_text(self, text: str) -> None:
        """Straight to the socket: the long way through the channel layer costs five times as much."""
        await self.straight_send({"type": "websocket.send", "text": text})

    async def leave(self, gone: bool) -> None:  # noqa: FBT001 (the one argument of a callback)
        await self.close(NOT_FOUND if gone else FAILED)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:  # noqa: ARG002
        if text_data is None or len(text_data) > MOST_ACK_CHARS:
            return
        ack = decode_ack(text_data)
        if ack is not None and self.subscription is not None:
            await self.subscription.acknowledge(Cursor(*ack))

    async def disconnect(self, code: int) -> None:  # noqa: ARG002
        if self.subscription is not None:
            self.subscription.leave()

    async def websocket_disconnect(self, message: dict[str, Any]) -> None:
        """Without the base class's calls to a channel layer, which this project does not have."""
        await self.disconnect(message.get("code", 1005))
        raise StopConsumer


def _owns(user_id: int, conversation_id: UUID) -> bool:
    return Conversation.objects.filter(pk=conversation_id, user_id=user_id).exists()


def _cursor(conversation_id: UUID, query: bytes) -> Cursor:
    """`after=<generation id or number>:<seq>`; whatever is not one counts as the beginning."""
    name, _, seq = parse_qs(query.decode("latin-1")).get("after", [""])[0].rpartition(":")
    if not seq.isascii() or not seq.isdigit() or len(seq) > 9:
        return Cursor()
    if name.isascii() and name.isdigit() and len(name) <= 9:
        return Cursor(int(name), int(seq))
    try:
        row = Generation.objects.filter(pk=UUID(name), conversation_id=conversation_id).first()
    except ValueError:
        return Cursor()
    return Cursor(row.number, int(seq)) if row else Cursor()


def _engine_load(engine: EmbeddedEngine) -> Callable[[UUID, int], Any]:
    async def load(conversation_id: UUID, number: int) -> list[Generation]:
        rows: list[Generation] = await engine.db_for_pages(_generations, conversation_id, number)
        return rows

    return load


def _generations(conversation_id: UUID, number: int) -> list[Generation]:
    """From `number` on; without one only the newest, for older ones are on the page already."""
    rows = Generation.objects.filter(conversation_id=conversation_id).select_related("checkpoint")
    if number:
        return list(rows.filter(number__gte=number).order_by("number"))
    return list(rows.order_by("-number")[:1])


def _engine_html(engine: EmbeddedEngine) -> Callable[[UUID], Any]:
    async def html(generation_id: UUID) -> str:
        text: str = await engine.db_for_pages(_render, generation_id)
        return text

    return html


def _render(generation_id: UUID) -> str:
    row = (
        Generation.objects.select_related("message", "checkpoint", "conversation")
        .filter(pk=generation_id)
        .first()
    )
    # A template's text is a SafeString, which is no exact str: the frame encoder refuses it, and str() leaves it as it is.
    return str.__str__(render_reply(row)) if row is not None else ""
