"""Whatever happens on the way, a page ends with the text of the draft, and its socket's memory is bounded."""

import json
from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

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


# --- joining --------------------------------------------------------------------------------------------------------
async def test_without_a_cursor_the_newest_reply_is_told_from_its_beginning() -> None:
    """Older ones are on the page already."""
    scene = Scene()
    scene.generation("confirmed")
    writer = scene.running()
    writer.paint("Think.", "reasoning")
    writer.paint("Two ")
    writer.paint("minutes")
    await scene.joined()
    assert scene.asked_from == 0
    assert scene.page.frames == [writer.turn(), [2, 1, "Think.", "r"], [2, 3, "Two minutes", "a", 1]]
    await writer.publish(writer.paint("."), writer.end())
    assert scene.page.frames[3:] == [[2, 4, "."], writer.final(5)]


async def test_with_a_cursor_only_what_is_new_is_sent() -> None:
    """A page was served with the draft so far; what it shows is not sent again."""
    scene = Scene()
    writer = scene.running()
    for word in ("Two ", "minutes", ", no ", "more"):
        writer.paint(word)
    await scene.joined(Cursor(1, 2))
    assert scene.page.frames == [writer.turn(), [1, 4, ", no more", "a", 2]]


async def test_nothing_new_is_nothing_sent() -> None:
    scene = Scene()
    writer = scene.running()
    writer.paint("Two ")
    await scene.joined(Cursor(1, 1))
    assert scene.page.frames == [writer.turn()]


async def test_a_cursor_beyond_the_store_is_answered_with_the_whole_draft() -> None:
    """After a crash the page shows more than was saved: what is stored is the truth."""
    scene = Scene()
    writer = scene.running()
    writer.paint("Two ")
    await scene.joined(Cursor(1, 7))
    draft = {"type": "draft", "handle": 1, "seq": 1, "answer": "Two ", "reasoning": "", "refusal": ""}
    assert scene.page.frames == [writer.turn(), draft]
    await writer.paints("minutes")
    assert scene.page.frames[2:] == [[1, 2, "minutes"]]


async def test_where_nothing_runs_here_the_last_checkpoint_is_shown() -> None:
    scene = Scene()
    scene.generation(saved=(3, "Two "))
    await scene.joined(Cursor(1, 5))
    draft = {"type": "draft", "handle": 1, "seq": 3, "answer": "Two ", "reasoning": "", "refusal": ""}
    assert scene.page.frames[1:] == [draft]


async def test_what_ended_meanwhile_is_finished_and_who_followed_is_told() -> None:
    """The page left at (1, 2); since then the reply ended and a new one began."""
    scene = Scene()
    first = scene.generation("confirmed")
    writer = scene.running()
    writer.paint("Three")
    await scene.joined(Cursor(1, 2))
    assert [frame["type"] if isinstance(frame, dict) else frame for frame in scene.page.frames] == [
        "turn",
        "final",
        "turn",
        [2, 1, "Three"],
    ]
    final = scene.page.frames[1]
    assert (final["generation"], final["seq"], final["html"]) == (str(first.pk), 3, HTML)


async def test_a_finished_reply_that_the_page_did_not_ask_for_is_told_by_its_notice_alone() -> None:
    """Its HTML is on the page."""
    scene = Scene()
    scene.generation("confirmed")
    await scene.joined()
    assert [frame["type"] for frame in scene.page.frames] == ["turn"]
    assert (scene.rendered, list(scene.subscription.unfinished())) == ([], [])


async def test_an_empty_conversation_says_nothing() -> None:
    scene = Scene()
    await scene.joined(Cursor(9, 9))
    assert scene.page.frames == []


async def test_frames_that_come_while_it_joins_are_neither_lost_nor_sent_twice() -> None:
    """It listens first and reads then; before it has read, it does not know where the page stands."""
    scene = Scene()
    writer = scene.running()
    writer.paint("Two ")
    scene.page.stands_at(1, 1, answer="Two ")

    async def meanwhile() -> None:
        await writer.paints("minutes", ".")

    scene.while_loading = meanwhile
    await scene.joined(Cursor(1, 1))
    assert scene.page.frames == [writer.turn(), [1, 3, "minutes.", "a", 1]]
    assert (scene.page.faults, scene.page.text[1]["answer"]) == ([], "Two minutes.")


async def test_a_reply_that_begins_and_ends_while_it_joins_is_told_whole() -> None:
    """It is in no row that was read."""
    scene = Scene()

    async def meanwhile() -> None:
        writer = scene.running()
        turn = Turn(str(writer.row.pk), writer.row.number, None, "queued", None, 1, None)
        await writer.publish(turn, writer.paint("Two"), writer.end())

    scene.while_loading = meanwhile
    await scene.joined()
    assert scene.page.numbered[0] == [1, 1, "Two"]
    assert (scene.page.over, scene.page.faults) == ({1}, [])


# --- live -----------------------------------------------------------------------------------------------------------
async def test_duplicates_and_late_frames_are_nothing() -> None:
    scene = Scene()
    writer = scene.running()
    await scene.joined()
    first, second = writer.paint("Two "), writer.paint("minutes")
    final = writer.end()
    for frame in (first, first, second, first, final, final, second):
        await scene.subscription.receive(writer.row.pk, frame)
    assert scene.page.numbered == [[1, 1, "Two "], [1, 2, "minutes"], writer.final(3)]


async def test_a_gap_is_filled_from_the_store_in_one_frame() -> None:
    scene = Scene()
    writer = scene.running()
    await scene.joined()
    writer.paint("Two ")
    writer.paint("minutes")
    await writer.publish(writer.paint("."))
    assert scene.page.numbered == [[1, 3, "Two minutes.", "a", 0]]


async def test_the_last_frame_brings_what_was_missed_and_then_itself() -> None:
    scene = Scene()
    writer = scene.running()
    await scene.joined()
    writer.paint("Two ")
    writer.paint("minutes")
    await writer.publish(writer.end())
    assert scene.page.numbered == [[1, 2, "Two minutes", "a", 0], writer.final(3)]


async def test_the_last_frame_of_what_never_ran_here_is_sent_at_once() -> None:
    """Stopped while it was queued, or lost with another process: the page must not wait for the look."""
    scene = Scene()
    row = scene.generation(saved=(3, "Two "))
    await scene.joined(Cursor(1, 3))
    final = Final(str(row.pk), 1, 0, "incomplete", "worker_lost", "", None)
    await scene.hub.publish(scene.conversation_id, row.pk, [final, final])
    (sent,) = scene.page.numbered
    assert (sent["seq"], sent["reason"], sent["html"]) == (4, "worker_lost", HTML)


async def test_the_reply_is_rendered_once_for_all_pages() -> None:
    scene, other = Scene(), Page()
    writer = scene.running()
    second = scene.subscribe(other)
    await scene.joined()
    await second.join(Cursor(), scene.load)
    await writer.publish(writer.end())
    assert scene.page.numbered == other.numbered == [writer.final(1)]
    assert scene.rendered == ["en"]


async def test_the_reply_is_rendered_once_for_each_language() -> None:
    """Two hundred watchers must not cost two hundred renders, nor read each other's language."""
    scene, pages = Scene(), [Page() for _ in range(4)]
    writer = scene.running()
    watching = [
        scene.subscribe(page, language=code) for page, code in zip(pages, ["es", "pt-br"] * 2, strict=True)
    ]
    for each in watching:
        await each.join(Cursor(), scene.load)
    await writer.publish(writer.end())
    assert [page.numbered for page in pages] == [[writer.final(1)]] * 4
    assert sorted(scene.rendered) == ["es", "pt-br"]


async def test_a_last_frame_that_was_lost_is_found_by_the_look() -> None:
    """And only once, and only for what this page sees as running."""
    scene = Scene()
    writer = scene.running()
    await scene.joined()
    await writer.paints("Two")
    assert list(scene.subscription.unfinished()) == [writer.row.pk]
    await scene.subscription.look(writer.row)
    writer.row.state = "confirmed"
    scene.store.drop(writer.row.pk)
    await scene.subscription.look(writer.row)
    await scene.subscription.look(writer.row)
    await scene.subscription.look(Generation(number=9, state="failed"))
    assert scene.page.frames[2:] == [writer.turn(), writer.final(2)]
    assert list(scene.subscription.unfinished()) == []


async def test_leaving_and_being_sent_away() -> None:
    scene = Scene()
    writer = scene.running()
    await scene.joined()
    scene.subscription.leave()
    await writer.paints("Two")
    assert (len(scene.hub), scene.page.numbered, scene.left) == (0, [], None)
    await scene.subscription.close(Farewell.GONE)
    assert scene.left is Farewell.GONE


# --- a page that does not keep up -----------------------------------------------------------------------------------
async def test_a_page_that_never_acknowledges_gets_no_more_than_the_limit_but_every_notice() -> None:
    scene = Scene(ahead_frames=8)
    writer = scene.running()
    await scene.joined()
    await writer.paints(*"abcdefghijklmnopqrstuvwxyz")
    await writer.publish(writer.end())
    following = scene.running()
    turn = Turn(str(following.row.pk), 2, None, "queued", None, 1, None)
    await following.publish(turn, following.paint("x"))
    assert scene.page.numbered == [[1, number + 1, "abcdefgh"[number]] for number in range(8)]
    assert scene.page.frames[-1] == json.loads(encode(turn))
    assert scene.subscription.lagging


@pytest.mark.parametrize("pieces", [1, 40])
async def test_healing_stays_within_the_limit_too(pieces: int) -> None:
    """A long stretch with changing lanes is many frames; they wait like live ones."""
    scene = Scene(ahead_frames=8)
    writer = scene.running()
    for number in range(pieces):
        writer.paint(f"{number} ", ("answer", "reasoning")[number % 2])
    await scene.joined()
    await writer.publish(writer.end())
    assert len(scene.page.numbered) == min(8, pieces + 1)
    while scene.page.numbered[-1] != writer.final(pieces + 1):
        handed = len(scene.page.numbered)
        await scene.subscription.acknowledge(Cursor(1, scene.page.seq[1]))
        assert 0 < len(scene.page.numbered) - handed <= 8
    assert scene.page.text[1] == writer.text_at(pieces)
    assert scene.page.faults == []


async def test_bytes_count_as_well_as_frames() -> None:
    scene = Scene(ahead_bytes=1000)
    writer = scene.running()
    await scene.joined()
    await writer.paints(*["x" * 300] * 10)
    assert len(scene.page.numbered) == 4


async def test_after_the_acknowledgement_the_newest_comes_in_one_frame() -> None:
    """An acknowledgement of less than all leaves it waiting: the page is still behind."""
    scene = Scene(ahead_frames=4)
    writer = scene.running()
    await scene.joined()
    await writer.paints(*"abcdefgh")
    await scene.subscription.acknowledge(Cursor(1, 3))
    assert (len(scene.page.numbered), scene.subscription.lagging) == (4, True)
    await scene.subscription.acknowledge(Cursor(1, 4))
    assert scene.page.numbered[4:] == [[1, 8, "efgh", "a", 4]]
    await writer.paints("i")
    assert scene.page.numbered[5:] == [[1, 9, "i"]]


async def test_what_was_acknowledged_of_an_older_reply_is_settled_by_a_newer_one() -> None:
    scene = Scene(ahead_frames=4)
    first = scene.running()
    await scene.joined()
    await first.paints("a", "b")
    await first.publish(first.end())
    second = scene.running()
    await second.paints("c", "d")
    assert scene.subscription.lagging
    await scene.subscription.acknowledge(Cursor(2, 1))
    assert scene.page.numbered[4:] == [[2, 2, "d"]]


@pytest.mark.parametrize("cursor", [Cursor(), Cursor(-1, -1), Cursor(1, 0), Cursor(99, 99)])
async def test_an_acknowledgement_of_what_was_never_sent_is_harmless(cursor: Cursor) -> None:
    scene = Scene()
    writer = scene.running()
    await scene.joined()
    await writer.paints("a")
    await scene.subscription.acknowledge(cursor)
    await writer.paints("b")
    assert scene.page.numbered == [[1, 1, "a"], [1, 2, "b"]]


# --- whatever happens -----------------------------------------------------------------------------------------------
STEPS = st.lists(
    st.one_of(
        st.tuples(
            st.just("paint"), st.sampled_from(list(LANES.values())), st.text("ab ", min_size=1, max_size=3)
        ),
        st.tuples(st.just("carry"), st.integers(0, 9), st.booleans()),
        st.tuples(st.just("drop"), st.integers(0, 9)),
        st.tuples(st.just("acknowledge"), st.integers(0, 3)),
        st.tuples(st.just("begin")),
    ),
    max_size=60,
)


class Line:
    """A bad line: what is published lies about until it is carried, in any order, twice, or never."""

    def __init__(self, *, ahead_frames: int) -> None:
        self.scene = Scene(ahead_frames=ahead_frames)
        self.limit = ahead_frames
        self.flying: list[tuple[UUID, Frame]] = []
        self.writers = [self.scene.running()]

    async def step(self, kind: str, *more: Any) -> None:
        await getattr(self, kind)(*more)
        assert len(self.scene.subscription._ahead) <= self.limit
        assert self.scene.page.faults == []

    async def paint(self, lane: str, text: str) -> None:
        writer = self.writers[-1]
        self.flying.append((writer.row.pk, writer.paint(text, lane)))

    async def begin(self) -> None:
        last, writer = self.writers[-1], self.scene.running()
        self.writers.append(writer)
        turn = Turn(str(writer.row.pk), writer.row.number, None, "queued", None, 1, None)
        self.flying += [(last.row.pk, last.end()), (writer.row.pk, turn)]

    async def carry(self, which: int, stays: bool) -> None:  # noqa: FBT001 (drawn by hypothesis)
        if self.flying:
            key, frame = self.flying[which % len(self.flying)]
            if not stays:
                self.flying.remove((key, frame))
            await self.scene.subscription.receive(key, frame)

    async def drop(self, which: int) -> None:
        if self.flying:
            self.flying.pop(which % len(self.flying))

    async def acknowledge(self, behind: int) -> None:
        seq = self.scene.page.seq
        if seq:
            await self.scene.subscription.acknowledge(Cursor(max(seq), seq[max(seq)] - behind))

    async def join(self, seen: int) -> None:
        """The page was served up to frame `seen` of the newest reply."""
        writer = self.writers[-1]
        seen = min(seen, writer.draft.seq)
        self.scene.page.stands_at(writer.row.number, seen, **writer.text_at(seen))
        await self.scene.joined(Cursor(writer.row.number, seen))

    async def settle(self) -> None:
        """The last reply ends, the page acknowledges, the engine looks: as it goes on in life, once the line is good."""
        await self.writers[-1].publish(self.writers[-1].end())
        for _ in range(100):
            if not list(self.scene.subscription.unfinished()):
                return
            await self.step("acknowledge", 0)
            for writer in self.writers:
                await self.scene.subscription.look(writer.row)
        raise AssertionError(f"expected an end, got {self.scene.page.frames}")


@given(before=STEPS, seen=st.integers(0, 9), steps=STEPS)
@hypothesis_settings(max_examples=200, deadline=None)
async def test_any_way_of_losing_frames_ends_with_the_same_text(
    before: list[Any], seen: int, steps: list[Any]
) -> None:
    """Frames are dropped, doubled and carried in any order; the page acknowledges when it likes. It never gets a frame
    that does not follow on its place, and of every reply that it learned of it has the whole text and the end."""
    line = Line(ahead_frames=5)
    for step in before:
        await line.step(*step)
    joined_at = line.writers[-1]
    await line.join(seen)
    for step in steps:
        await line.step(*step)
    await line.settle()
    page = line.scene.page
    assert page.faults == []
    for writer in line.writers[line.writers.index(joined_at) :]:
        if writer.row.number in page.seq:
            assert page.text.get(writer.row.number, writer.text_at(0)) == writer.text_at(writer.draft.seq)
            assert (writer.row.number in page.over, page.seq[writer.row.number]) == (
                True,
                writer.draft.seq + 1,
            )
    assert joined_at.row.number in page.over


# --- what is too long for a frame -----------------------------------------------------------------------------------
async def test_what_is_too_long_for_a_frame_is_sent_in_pieces_or_left_to_be_fetched() -> None:
    """Frames stay bounded whatever a provider sends: a stale page begins anew, a long reply's HTML comes by HTTP."""
    scene = Scene(ahead_bytes=2048)
    scene.markup = "h" * 3000
    writer = scene.running()
    for _ in range(5):
        writer.paint("x" * 500)
        writer.paint("y" * 500, "reasoning")
    await scene.joined(Cursor(1, 99))
    assert scene.page.numbered[0] == {"type": "draft", "handle": 1, "seq": 0} | dict.fromkeys(
        LANES.values(), ""
    )
    writer.end()
    while 1 not in scene.page.over:
        seen = len(scene.page.frames)
        await scene.subscription.acknowledge(Cursor(1, scene.page.seq[1]))
        assert len(scene.page.frames) > seen
    assert scene.page.text[1] == writer.text_at(writer.draft.seq)
    assert (scene.page.frames[-1]["html"], scene.page.faults) == ("", [])
    assert max(len(json.dumps(frame)) for frame in scene.page.frames) <= 2048


# --- where a reader stands --------------------------------------------------------------------------------------------
async def test_the_position_is_the_cursor_of_who_got_all_that_was_sent() -> None:
    """In the reply that is being written, then before the next one: a last frame is not sent a second time."""
    scene = Scene()
    writer = scene.running()
    assert scene.subscription.position == Cursor(0, 0)
    await scene.joined(Cursor(1, 0))
    assert scene.subscription.position == Cursor(1, 0)
    await writer.publish(writer.paint("Two "))
    assert scene.subscription.position == Cursor(1, 1)
    await writer.publish(writer.end())
    assert scene.subscription.position == Cursor(2, 0)
    again = scene.subscribe(scene.page)
    await again.join(Cursor(2, 0), scene.load)
    assert (again.position, list(again.unfinished())) == (Cursor(2, 0), [])


async def test_a_notice_that_comes_while_rows_are_read_does_not_move_the_position_back() -> None:
    """Who drops out just then must not be sent again what it has."""
    scene = Scene()
    writer = scene.running()
    writer.paint("Two ")
    writer.paint("minutes")
    notice = Turn(str(writer.row.pk), 1, None, "buffered", None, 1, None)
    places: list[Cursor] = []

    async def while_loading() -> None:
        await scene.subscription.receive(writer.row.pk, notice)
        places.append(scene.subscription.position)

    scene.while_loading = while_loading
    await scene.joined(Cursor(1, 1))
    assert (places, scene.subscription.position) == ([Cursor(1, 1)], Cursor(1, 2))
