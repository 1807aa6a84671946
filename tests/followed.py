"""A page that follows a conversation, the engine's side of its replies, and the subscription between; no rows are saved.

Takes limits, gives frames as a page applies them. For the tests of `chat.subscription`.
"""

import json
from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

from chat.drafts import DraftStore
from chat.engine.hub import Farewell, Hub
from chat.models import Checkpoint, Generation
from chat.readers import Reader
from chat.streaming.draft import Draft
from chat.streaming.frames import Final, Frame, Paint, Turn, encode
from chat.subscription import Cursor, Subscription

LANES = {"a": "answer", "r": "reasoning", "f": "refusal"}
HTML = "<p>ready</p>"


class Page:
    """A page as `cursors.js` is one: it applies what follows on its place, and says when something did not."""

    def __init__(self) -> None:
        self.frames: list[Any] = []
        self.seq: dict[int, int] = {}
        self.text: dict[int, dict[str, str]] = {}
        self.over: set[int] = set()
        self.faults: list[Any] = []

    def stands_at(self, handle: int, seq: int, **lanes: str) -> None:
        """What the page was served with."""
        self.seq[handle] = seq
        self.text[handle] = dict.fromkeys(LANES.values(), "") | lanes

    async def send(self, text: str) -> None:
        frame = json.loads(text)
        self.frames.append(frame)
        if isinstance(frame, list):
            handle, seq, text, letter, after = [*frame, *["a", frame[1] - 1][len(frame) - 3 :]]
            if handle in self.over or after != self.seq.setdefault(handle, 0):
                self.faults.append(frame)
            self.seq[handle] = seq
            lanes = self.text.setdefault(handle, dict.fromkeys(LANES.values(), ""))
            lanes[LANES[letter]] += text
        elif frame["type"] == "draft":
            self.stands_at(frame["handle"], frame["seq"], **{lane: frame[lane] for lane in LANES.values()})
        elif frame["type"] == "final":
            if frame["handle"] in self.over:
                self.faults.append(frame)
            self.over.add(frame["handle"])
            self.seq[frame["handle"]] = frame["seq"]

    @property
    def numbered(self) -> list[Any]:
        return [frame for frame in self.frames if isinstance(frame, list) or frame["type"] != "turn"]


class Scene:
    """One conversation, one page, one reply that grows in the store."""

    def __init__(self, *, ahead_frames: int = 64, ahead_bytes: int = 65536) -> None:
        self.conversation_id = uuid4()
        self.store = DraftStore()
        self.hub = Hub(self.store)
        self.page = Page()
        self.left: Farewell | None = None
        self.rendered: list[str] = []
        self.markup = HTML
        self.rows: list[Generation] = []
        self.subscription = self.subscribe(self.page, ahead_frames=ahead_frames, ahead_bytes=ahead_bytes)
        self.asked_from: int | None = None
        self.while_loading: Callable[[], Any] | None = None

    def subscribe(self, page: Page, *, language: str = "en", **limits: int) -> Subscription:
        return Subscription(
            self.conversation_id,
            reader=Reader("session-of-ana", 1),
            hub=self.hub,
            store=self.store,
            send=page.send,
            html=self.html,
            language=language,
            leave=self.leave,
            **{"ahead_frames": 64, "ahead_bytes": 65536, **limits},
        )

    async def html(self, generation_id: UUID, language: str) -> str:
        self.rendered.append(language)
        return self.markup

    async def leave(self, why: Farewell) -> None:
        self.left = why

    async def load(self, conversation_id: UUID, number: int) -> list[Generation]:
        assert conversation_id == self.conversation_id
        self.asked_from = number
        found = [row for row in self.rows if row.number >= number]
        if self.while_loading is not None:
            await self.while_loading()
        return found if number else found[-1:]

    def generation(self, state: str = "buffered", *, saved: tuple[int, str] | None = None) -> Generation:
        row = Generation(number=len(self.rows) + 1, state=state, conversation_id=self.conversation_id)
        # As `select_related` leaves it: the checkpoint, or that there is none.
        checkpoint = Checkpoint(generation=row, seq=saved[0], answer=saved[1]) if saved else None
        Generation.checkpoint.related.set_cached_value(row, checkpoint)
        self.rows.append(row)
        return row

    def running(self) -> "Writer":
        return Writer(self, self.generation())

    async def joined(self, cursor: Cursor = Cursor()) -> None:  # noqa: B008 (frozen)
        await self.subscription.join(cursor, self.load)


class Writer:
    """The engine's side of one reply: it paints into the store and keeps the frames for the test to carry."""

    def __init__(self, scene: Scene, row: Generation) -> None:
        self.scene, self.row = scene, row
        self.draft = Draft(row.number)
        self.made: list[Paint] = []
        scene.store.open(row.pk, self.draft)

    def paint(self, text: str, lane: str = "answer") -> Paint:
        self.draft.append(lane, text)
        (paint,) = self.draft.paint()
        self.made.append(paint)
        return paint

    def text_at(self, seq: int) -> dict[str, str]:
        """What a page shows that stands there."""
        shown = self.made[:seq]
        return {lane: "".join(p.text for p in shown if p.lane == lane) for lane in LANES.values()}

    def end(self) -> Final:
        self.row.state = "confirmed"
        final = Final(str(self.row.pk), self.row.number, self.draft.seq + 1, "confirmed", None, "", None)
        self.scene.store.close(self.row.pk, final, now=0)
        return final

    async def publish(self, *frames: Frame) -> None:
        await self.scene.hub.publish(self.scene.conversation_id, self.row.pk, frames)

    async def paints(self, *texts: str) -> None:
        for text in texts:
            await self.publish(self.paint(text))

    def turn(self) -> Any:
        return json.loads(
            encode(Turn(str(self.row.pk), self.row.number, None, self.row.state, None, 1, None))
        )

    def final(self, seq: int) -> Any:
        final = Final(str(self.row.pk), self.row.number, seq, "confirmed", None, HTML, None)
        return json.loads(encode(final))
