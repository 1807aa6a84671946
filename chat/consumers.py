"""The WebSocket shell of a subscription: frames down, acknowledgements up, nothing else.

Takes a socket of a person who is signed in, for a conversation of theirs; anybody else is refused before the handshake.
What every transport shares stands here too: which engine of this process they belong to, and how a cursor is read.
"""

from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID

from channels.exceptions import StopConsumer
from channels.generic.websocket import AsyncWebsocketConsumer
from django.utils import translation

from chat import languages
from chat.engine.embedded import EmbeddedEngine
from chat.engine.hub import Farewell
from chat.models import Conversation, Generation
from chat.readers import Reader
from chat.replies.reply import render_reply
from chat.streaming.frames import decode_ack
from chat.subscription import Cursor, Subscription

REFUSED = 4401  # not signed in (any more)
MOST_ACK_CHARS = 100
NOT_FOUND = 4404  # no such conversation, or not this person's
FAILED = 1011  # the socket failed: come back
GOING_AWAY = 1001  # the server stops: come back

_engine: EmbeddedEngine | None = None


def serve_from(engine: EmbeddedEngine) -> None:
    """Say which engine of this process the sockets belong to."""
    global _engine  # noqa: PLW0603 (one engine per process, known only once the server runs)
    _engine = engine


def serving_engine() -> EmbeddedEngine | None:
    """The engine that new pages may listen to; None before it runs and while it drains."""
    return None if _engine is None or _engine.draining else _engine


def engine_state() -> str:
    """`running`, `draining` or `absent`, for readiness."""
    if _engine is None:
        return "absent"
    return "draining" if _engine.draining else "running"


def subscribe(
    engine: EmbeddedEngine,
    conversation_id: UUID,
    *,
    reader: Reader,
    language: str,
    send: Callable[[str], Awaitable[None]],
    leave: Callable[[Farewell], Awaitable[None]],
    ahead_frames: int,
) -> Subscription:
    """A subscription of this process's engine, not yet joined (`rows_of` is what it joins with)."""
    return Subscription(
        conversation_id,
        reader=reader,
        language=language,
        hub=engine.hub,
        store=engine.store,
        send=send,
        html=_engine_html(engine),
        leave=leave,
        ahead_frames=ahead_frames,
        ahead_bytes=engine.conf.ahead_bytes,
    )


class ConversationConsumer(AsyncWebsocketConsumer):  # type: ignore[misc] # Channels has no types
    """One open page."""

    subscription: Subscription | None = None

    async def connect(self) -> None:
        user = self.scope["user"]
        engine = serving_engine()
        if engine is None:
            await self.close(GOING_AWAY)
            return
        if not user.is_authenticated:
            await self.close(REFUSED)
            return
        conversation_id: UUID = self.scope["url_route"]["kwargs"]["conversation_id"]
        if not await engine.db_for_pages(_owns, user.pk, conversation_id):
            await self.close(NOT_FOUND)
            return
        self.straight_send = self.scope.get("straight_send", self.base_send)
        after = parse_qs(self.scope["query_string"].decode("latin-1")).get("after", [""])[0]
        cursor = await engine.db_for_pages(cursor_of, conversation_id, after)
        await self.accept()
        self.subscription = subscribe(
            engine,
            conversation_id,
            reader=Reader(self.scope["session"].session_key, user.pk),
            language=languages.of_scope(self.scope),
            send=self.send_text,
            leave=self.leave,
            ahead_frames=engine.conf.ahead_frames,
        )
        try:
            await self.subscription.join(cursor, rows_of(engine))
        except BaseException:  # no `disconnect` follows: the hub must not keep a page that is gone
            self.subscription.leave()
            raise

    async def send_text(self, text: str) -> None:
        """Straight to the socket: the long way through the channel layer costs five times as much."""
        await self.straight_send({"type": "websocket.send", "text": text})

    async def leave(self, why: Farewell) -> None:
        failed = FAILED if serving_engine() else GOING_AWAY
        await self.close({Farewell.GONE: NOT_FOUND, Farewell.SIGNED_OUT: REFUSED}.get(why, failed))

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
    return Conversation.objects.standing().filter(pk=conversation_id, user_id=user_id).exists()


def cursor_of(conversation_id: UUID, after: str) -> Cursor:
    """`<generation id or number>:<seq>`; whatever is not one counts as the beginning."""
    name, _, seq = after.rpartition(":")
    if not seq.isascii() or not seq.isdigit() or len(seq) > 9:
        return Cursor()
    if name.isascii() and name.isdigit() and len(name) <= 9:
        return Cursor(int(name), int(seq))
    try:
        row = Generation.objects.filter(pk=UUID(name), conversation_id=conversation_id).first()
    except ValueError:
        return Cursor()
    return Cursor(row.number, int(seq)) if row else Cursor()


def rows_of(engine: EmbeddedEngine) -> Callable[[UUID, int], Any]:
    """What a subscription joins with: the generations of its conversation from a number on."""

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


def _engine_html(engine: EmbeddedEngine) -> Callable[[UUID, str], Any]:
    async def html(generation_id: UUID, language: str) -> str:
        text: str = await engine.db_for_pages(_render, generation_id, language)
        return text

    return html


def _render(generation_id: UUID, language: str) -> str:
    row = (
        Generation.objects.select_related("message", "checkpoint", "conversation")
        .filter(pk=generation_id)
        .first()
    )
    # A template's text is a SafeString, which is no exact str: the frame encoder refuses it, and str() leaves it as it is.
    with translation.override(language):
        return str.__str__(render_reply(row)) if row is not None else ""
