"""A page that does not keep up, a line that loses anything, what is too long: memory is bounded, and the text is whole."""

import json
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from chat.streaming.frames import Frame, Turn, encode
from chat.subscription import Cursor
from tests.followed import LANES, Scene


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
