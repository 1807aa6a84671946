"""From a cursor to frames: what one open page needs to see its conversation, whatever carries it there.

Takes a cursor, live frames and acknowledgements; gives frames, in order, without gap or repeat, through `send`. It knows no
transport. A gap is healed from the draft store; a page that does not keep up is sent nothing but notices until it has
acknowledged, and then what is newest, in one frame.
"""

from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from uuid import UUID

import msgspec

from chat import drafts
from chat.drafts import DraftStore
from chat.engine.hub import Farewell, Hub
from chat.engine.notices import final_frame, turn_notice
from chat.models import Generation
from chat.readers import Reader
from chat.streaming.frames import Final, Frame, Paint, Snapshot, Turn, encode


@dataclass(frozen=True, slots=True)
class Cursor:
    """The last frame that a page has seen: the generation's number in its conversation, and the frame's."""

    handle: int = 0
    seq: int = 0


@dataclass(slots=True)
class Sent:
    """How far one generation has been sent on this subscription."""

    generation_id: UUID
    seq: int = 0
    over: bool = False


class Subscription:
    """One page's view of one conversation. All calls come from the event loop's own thread.

    `send(text)` must not wait for the page; `html(generation_id, language)` gives the finished reply for the last frame.
    """

    def __init__(
        self,
        conversation_id: UUID,
        *,
        reader: Reader,
        language: str,
        hub: Hub,
        store: DraftStore,
        send: Callable[[str], Awaitable[None]],
        html: Callable[[UUID, str], Awaitable[str]],
        leave: Callable[[Farewell], Awaitable[None]],
        ahead_frames: int,
        ahead_bytes: int,
    ) -> None:
        self.conversation_id = conversation_id
        self.reader = reader
        self.language = language
        self._hub = hub
        self._store = store
        self._send = send
        self._html = html
        self._leave = leave
        self._most_frames = ahead_frames
        self._most_bytes = ahead_bytes
        self._sent: dict[int, Sent] = {}
        self._ahead: deque[tuple[int, int, int]] = deque()
        self._ahead_bytes = 0
        self._from = Cursor()
        self._joined = False
        self.lagging = False

    # --- joining ------------------------------------------------------------------------------------------------
    async def join(self, cursor: Cursor, load: Callable[[UUID, int], Awaitable[list[Generation]]]) -> None:
        """Listen first, then read what happened since `cursor`, then go on live: nothing can fall between.

        `load` gives the conversation's generations from a number on, oldest first, with their checkpoints.
        """
        self._from = cursor
        self._hub.join(self)
        for row in await load(self.conversation_id, cursor.handle):
            await self._send(encode(turn_notice(row)))
            sent = self._place(row.number, row.pk)
            if row.number == cursor.handle:
                sent.seq = max(sent.seq, cursor.seq)
            asked_for = row.number == cursor.handle
            if row.is_final:
                if asked_for and not sent.over:
                    await self._finish(sent, final_frame(row, seq=sent.seq + 1))
                sent.over = True
            else:
                await self._catch_up(sent, saved=drafts.snapshot(row))
        self._joined = True
        for sent in list(self._sent.values()):  # what came while the rows were read
            if not sent.over:
                await self._catch_up(sent)

    @property
    def position(self) -> Cursor:
        """The cursor of a page that has got all that was sent: in the first reply that is not over to it, else before the
        reply that comes next. Who comes back with it misses nothing and gets nothing twice."""
        running = [handle for handle, sent in self._sent.items() if not sent.over]
        if running:
            return Cursor(min(running), self._sent[min(running)].seq)
        return Cursor(max(self._sent) + 1) if self._sent else self._from

    def _place(self, handle: int, generation_id: UUID) -> Sent:
        """How far this generation was sent; at first, what the page came with."""
        known = self._from.seq if handle == self._from.handle else 0
        return self._sent.setdefault(handle, Sent(generation_id, known))

    def leave(self) -> None:
        self._hub.leave(self)

    async def close(self, why: Farewell) -> None:
        """Send the page away."""
        await self._leave(why)

    # --- live ---------------------------------------------------------------------------------------------------
    async def receive(self, generation_id: UUID, frame: Frame) -> None:
        """One frame from the hub."""
        if isinstance(frame, Turn):
            self._place(frame.handle, generation_id)
            await self._send(encode(frame))
            return
        sent = self._place(frame.handle, generation_id)
        # Before the rows are read nobody knows where the page stands: sent now, the whole draft would overlap with it.
        if self.lagging or sent.over or not self._joined:
            return
        if isinstance(frame, Final):
            if self._store.get(generation_id) is None:  # stopped while queued, or lost elsewhere
                await self._finish(sent, msgspec.structs.replace(frame, seq=sent.seq + 1))
            else:
                await self._catch_up(sent)
        elif isinstance(frame, Paint):
            if frame.seq <= sent.seq:
                return
            if before(frame) == sent.seq:
                await self._numbered(sent, frame)
            else:
                await self._catch_up(sent)

    async def acknowledge(self, cursor: Cursor) -> None:
        """The page has painted up to `cursor`: what it saw no longer counts as ahead."""
        while self._ahead and self._ahead[0][:2] <= (cursor.handle, cursor.seq):
            self._ahead_bytes -= self._ahead.popleft()[2]
        if self.lagging and not self._ahead:
            self.lagging = False
            for sent in list(self._sent.values()):
                if not sent.over and not self.lagging:
                    await self._catch_up(sent)

    # --- healing ------------------------------------------------------------------------------------------------
    def unfinished(self) -> Iterable[UUID]:
        """The generations that this page still sees as running."""
        return [sent.generation_id for sent in self._sent.values() if not sent.over]

    async def look(self, row: Generation) -> None:
        """The stored state of a generation that this page sees as running: the last frame may have been lost."""
        sent = self._sent.get(row.number)
        if sent is None or sent.over or self.lagging or not row.is_final:
            return
        await self._send(encode(turn_notice(row)))
        entry = self._store.get(sent.generation_id)
        if entry is not None and entry.final is not None:
            await self._catch_up(sent)
        else:  # the store has nothing of it any more
            await self._finish(sent, final_frame(row, seq=sent.seq + 1))

    async def _catch_up(self, sent: Sent, saved: Snapshot | None = None) -> None:
        """Send what the store has beyond what was sent; a cursor that it does not cover is answered with the whole draft."""
        if self.lagging:
            return
        entry = self._store.get(sent.generation_id)
        if entry is None:
            # One that is too long for a frame is on the page already: the server rendered it with the page.
            if saved is not None and saved.seq != sent.seq and self._fits(saved):
                await self._numbered(sent, saved)
            return
        draft = entry.draft
        if not draft.covers(sent.seq):
            whole = draft.snapshot()
            if draft.covers(0) and not self._fits(whole):  # begin anew, and send it in pieces
                whole = Snapshot(draft.handle, 0, "", "", "")
            if not await self._numbered(sent, whole):
                return
        for paint in draft.since(sent.seq):
            # Not where a live frame went on from here meanwhile.
            if before(paint) != sent.seq or not await self._numbered(sent, paint):
                return
        if entry.final is not None and not sent.over:
            await self._finish(sent, entry.final)

    async def _finish(self, sent: Sent, final: Final) -> None:
        """The last frame, with the HTML of the reply as the server renders it."""
        sent.over = True
        entry = self._store.get(sent.generation_id)
        known = entry.finals.get(self.language) if entry is not None else None
        if known is not None:
            final = msgspec.structs.replace(known, seq=final.seq)
        elif not final.html:
            full = msgspec.structs.replace(final, html=await self._html(sent.generation_id, self.language))
            final = full if self._fits(full) else final  # without it the page asks for the turn, by HTTP
            if entry is not None and entry.final is not None:
                entry.finals[self.language] = final
        await self._numbered(sent, final)

    def _fits(self, frame: Snapshot | Final) -> bool:
        return len(encode(frame).encode()) <= self._most_bytes

    async def _numbered(self, sent: Sent, frame: Paint | Snapshot | Final) -> bool:
        """Send it; gives whether more may follow before the page has acknowledged."""
        text = encode(frame)
        sent.seq = frame.seq
        self._ahead.append((frame.handle, frame.seq, len(text)))
        self._ahead_bytes += len(text)
        if len(self._ahead) >= self._most_frames or self._ahead_bytes >= self._most_bytes:
            self.lagging = True
        await self._send(text)
        return not self.lagging


def before(paint: Paint) -> int:
    """The number of the frame that a paint follows on."""
    return paint.seq - 1 if paint.after is None else paint.after
