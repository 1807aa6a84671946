"""The twins of the socket, for networks that let none through: server-sent events, and one answer at a time.

Takes a GET of the conversation's owner with a cursor (`Last-Event-ID` or `?after=`); gives the frames and notices of its
subscription as `text/event-stream`, or with `?poll=1` as one JSON answer. It knows no frame: it writes what it is sent.

    retry: 1000                      where a browser comes back by itself, after this many ms
    id: 3:7                          the cursor of a reader that has got this event; left out where it has not moved
    data: [3,7,"text"]               a frame or a notice
    event: end                       nothing is being written now, and all was sent; the response stays for what comes
    event: more                      the response has brought as much as one may: come back with the last id, at once
    event: error                     {"reason": "gone" | "signed_out" | "draining" | "failed"}; nothing follows
    : heartbeat                      each `heartbeat_s`

Nobody acknowledges events, and the server's `send` never waits for a slow reader. So one response brings no more than
`ahead_bytes` or `response_frames`: more than that cannot pile up for a reader that does not read (decision 0009).
"""

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator
from uuid import UUID

from asgiref.sync import async_to_sync, sync_to_async
from django.conf import settings
from django.db import connection
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.utils.cache import add_never_cache_headers
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from chat import consumers
from chat.engine.embedded import EmbeddedEngine
from chat.engine.hub import Farewell
from chat.models import Conversation, Generation
from chat.readers import Reader
from chat.subscription import Cursor, Subscription
from chat.views.answers import refusal

log = logging.getLogger(__name__)

RETRY_MS = 1000


@require_GET
def events(request: HttpRequest, conversation_id: UUID) -> HttpResponseBase:
    """The conversation's frames since a cursor, as they come; with `?poll=1` those that are there."""
    owned = get_object_or_404(Conversation.objects.owned_by(request.user), pk=conversation_id)
    after = request.headers.get("Last-Event-ID") or request.GET.get("after", "")
    cursor = consumers.cursor_of(owned.pk, after)
    engine = consumers.serving_engine()
    reader = Reader(request.session.session_key or "", owned.user_id)
    language = get_language() or settings.LANGUAGE_CODE
    if request.GET.get("poll") == "1":
        response: HttpResponseBase = _answer(engine, owned.pk, cursor, reader, language)
        add_never_cache_headers(response)
        return response
    body = _stopping() if engine is None else EventStream(engine, owned.pk, cursor, reader, language).events()
    response = StreamingHttpResponse(body, content_type="text/event-stream")
    response["Cache-Control"] = "no-cache"
    response["X-Accel-Buffering"] = "no"
    return response


def event(name: str, **data: str) -> str:
    """One named event; one that says a cursor moves the reader there."""
    place = f"id: {data['cursor']}\n" if "cursor" in data else ""
    return f"event: {name}\n{place}data: {json.dumps(data)}\n\n"


def mark(cursor: Cursor) -> str:
    return f"{cursor.handle}:{cursor.seq}"


async def _stopping() -> AsyncIterator[str]:
    yield event("error", reason="draining")


# --- a stream of events ---------------------------------------------------------------------------------------------
class EventStream:
    """One response. Made where the request is answered; everything else happens on the engine's loop, in `events`."""

    def __init__(
        self, engine: EmbeddedEngine, conversation_id: UUID, cursor: Cursor, reader: Reader, language: str
    ) -> None:
        self._engine = engine
        self._conversation_id = conversation_id
        self._cursor = self._marked = cursor
        self._pending: list[str] = []
        self._bell = asyncio.Event()
        self._over = ""
        self._subscription = consumers.subscribe(
            engine,
            conversation_id,
            reader=reader,
            language=language,
            send=self._send,
            leave=self._leave,
            ahead_frames=engine.conf.response_frames,
        )

    async def events(self) -> AsyncIterator[str]:
        """Until the client goes, which ends this generator wherever it waits."""
        yield f"retry: {RETRY_MS}\n\n"
        await sync_to_async(_disconnect)()  # the request's own thread needs the database no more
        try:
            await self._subscription.join(self._cursor, consumers.rows_of(self._engine))
            if self._engine.draining:  # it may have sent everyone away just before we joined
                self._over = self._over or "draining"
            async for text in self._written():
                yield text
        except Exception:
            log.exception("a response of events failed and is ended")
            yield event("error", reason="failed")
        finally:
            self._subscription.leave()

    async def _written(self) -> AsyncIterator[str]:
        """All that is there in one piece; then wait for the bell, or for the next heartbeat."""
        now = asyncio.get_running_loop().time
        beat_at = now() + self._engine.conf.heartbeat_s
        ended_at: Cursor | None = None
        while not self._over:
            self._bell.clear()
            is_full, text = self._subscription.lagging, self._taken()
            if text:
                yield text
            if is_full:
                yield event("more")
                return
            place = self._subscription.position
            if place != ended_at and await has_ended(self._engine, self._subscription):
                if self._pending:
                    continue  # it went on while that was asked
                ended_at = self._marked = place
                yield event("end", cursor=mark(place))
            if now() >= beat_at:
                beat_at = now() + self._engine.conf.heartbeat_s
                yield ": heartbeat\n\n"
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(beat_at):
                    await self._bell.wait()
        yield self._taken() + event("error", reason=self._over)

    async def _send(self, text: str) -> None:
        place = self._subscription.position
        moved = "" if place == self._marked else f"id: {mark(place)}\n"
        self._marked = place
        self._pending.append(f"{moved}data: {text}\n\n")
        self._bell.set()

    async def _leave(self, why: Farewell) -> None:
        failed = "draining" if self._engine.draining else "failed"
        self._over = {Farewell.GONE: "gone", Farewell.SIGNED_OUT: "signed_out"}.get(why, failed)
        self._bell.set()

    def _taken(self) -> str:
        text = "".join(self._pending)
        self._pending.clear()
        return text


def _disconnect() -> None:
    connection.close()  # each thread has its own: the name must be looked up there


async def has_ended(engine: EmbeddedEngine, subscription: Subscription) -> bool:
    """Whether the reader has been told the end of all there is, and nothing is being written: not even a new attempt of
    which no notice has come yet."""
    if subscription.lagging or any(True for _ in subscription.unfinished()):
        return False
    is_writing: bool = await engine.db_for_pages(_is_writing, subscription.conversation_id)
    return not is_writing


def _is_writing(conversation_id: UUID) -> bool:
    return Generation.objects.filter(conversation_id=conversation_id).unfinished().exists()


# --- one answer -----------------------------------------------------------------------------------------------------
def _answer(
    engine: EmbeddedEngine | None, conversation_id: UUID, cursor: Cursor, reader: Reader, language: str
) -> HttpResponse:
    """`{"frames": [...], "cursor": "3:7", "end": false}`: what is there, at once; the next question names the cursor."""
    if engine is None:
        return refusal(503, "draining", _("The server is being restarted. Try again in a moment."))
    # On the engine's loop: the server's own, on which this request is answered.
    frames, place, is_end = async_to_sync(_look)(engine, conversation_id, cursor, reader, language)
    body = f'{{"frames":[{",".join(frames)}],"cursor":"{mark(place)}","end":{json.dumps(is_end)}}}'
    return HttpResponse(body, content_type="application/json")


async def _look(
    engine: EmbeddedEngine, conversation_id: UUID, cursor: Cursor, reader: Reader, language: str
) -> tuple[list[str], Cursor, bool]:
    frames: list[str] = []

    async def keep(text: str) -> None:
        frames.append(text)

    async def leave(why: Farewell) -> None:
        """The next question is answered with what became of it."""

    subscription = consumers.subscribe(
        engine,
        conversation_id,
        reader=reader,
        language=language,
        send=keep,
        leave=leave,
        ahead_frames=engine.conf.response_frames,
    )
    try:
        await subscription.join(cursor, consumers.rows_of(engine))
    finally:
        subscription.leave()
    return frames, subscription.position, await has_ended(engine, subscription)
