"""The hub hands on and forgets nobody: one page's trouble is never another's, nor the generation's."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID, uuid4

from chat.drafts import DraftStore
from chat.engine.hub import Farewell, Hub
from chat.models import Generation
from chat.readers import Reader
from chat.streaming.draft import Draft
from chat.streaming.frames import Final, Frame, Paint, Turn

A, B, G = uuid4(), uuid4(), uuid4()
ANA, EVA = Reader("session-of-ana", 1), Reader("session-of-eva", 2)
PAINT = Paint(1, 1, "Two")
TURN = Turn(str(G), 1, None, "buffered", None, 1, None)
FINAL = Final(str(G), 1, 2, "confirmed", None, "", None)


class Page:
    """A listener that keeps what it gets; a broken one fails at everything."""

    def __init__(
        self,
        conversation_id: UUID = A,
        *,
        broken: bool = False,
        runs: Iterable[UUID] = (),
        reader: Reader = ANA,
    ) -> None:
        self.conversation_id = conversation_id
        self.reader = reader
        self.broken = broken
        self.runs = list(runs)
        self.got: list[Any] = []

    async def receive(self, generation_id: UUID, frame: Frame) -> None:
        if self.broken:
            raise ConnectionResetError
        self.got.append((generation_id, frame))

    async def look(self, row: Generation) -> None:
        self.got.append(row)

    async def close(self, why: Farewell) -> None:
        if self.broken:
            raise ConnectionResetError
        self.got.append(why)

    def unfinished(self) -> Iterable[UUID]:
        return self.runs


async def test_frames_go_to_everyone_who_listens_to_their_conversation() -> None:
    hub, here, too, elsewhere = Hub(DraftStore()), Page(), Page(), Page(B)
    for page in (here, too, elsewhere):
        hub.join(page)
    await hub.publish(A, G, [TURN, PAINT])
    assert (here.got, too.got, elsewhere.got) == ([(G, TURN), (G, PAINT)], [(G, TURN), (G, PAINT)], [])


async def test_who_left_gets_no_more_and_leaving_twice_is_harmless() -> None:
    hub, page = Hub(DraftStore()), Page()
    hub.join(page)
    assert len(hub) == 1
    hub.leave(page)
    hub.leave(page)
    await hub.publish(A, G, [PAINT])
    assert (page.got, len(hub), hub._listeners) == ([], 0, {})


async def test_no_paint_after_the_last_frame() -> None:
    """A late tick must not write on a finished reply; notices may come at any time."""
    store, page = DraftStore(), Page()
    hub = Hub(store)
    hub.join(page)
    store.open(G, Draft(1))
    await hub.publish(A, G, [PAINT])
    store.close(G, FINAL, now=0)
    await hub.publish(A, G, [PAINT, FINAL, PAINT, TURN])
    assert page.got == [(G, PAINT), (G, FINAL), (G, TURN)]


async def test_a_page_that_fails_is_sent_away_and_the_others_go_on() -> None:
    """Even one whose close fails too: an exception here would end the generation itself."""
    hub, broken, well = Hub(DraftStore()), Page(broken=True), Page()
    hub.join(broken)
    hub.join(well)
    await hub.publish(A, G, [PAINT, TURN])
    assert (well.got, len(hub)) == ([(G, PAINT), (G, TURN)], 1)


async def test_a_conversation_that_is_gone_sends_everyone_away() -> None:
    hub, broken, well, elsewhere = Hub(DraftStore()), Page(broken=True), Page(), Page(B)
    for page in (broken, well, elsewhere):
        hub.join(page)
    await hub.close(A)
    await hub.close(uuid4())
    assert (well.got, elsewhere.got, len(hub)) == ([Farewell.GONE], [], 1)


async def test_a_look_shows_the_row_to_its_own_conversation() -> None:
    hub, here, elsewhere = Hub(DraftStore()), Page(), Page(B)
    hub.join(here)
    hub.join(elsewhere)
    row = Generation(conversation_id=A)
    await hub.look(row)
    await hub.look(Generation(conversation_id=None))
    assert (here.got, elsewhere.got) == ([row], [])


def test_what_some_page_sees_as_running_is_known() -> None:
    hub, runs = Hub(DraftStore()), [uuid4() for _ in range(3)]
    hub.join(Page(runs=runs[:2]))
    hub.join(Page(B, runs=runs[1:]))
    assert hub.unfinished() == set(runs)


async def test_a_process_that_stops_sends_everyone_away() -> None:
    """One that fails at it does not keep the others."""
    hub, here, broken, elsewhere = Hub(DraftStore()), Page(), Page(broken=True), Page(B)
    for page in (here, broken, elsewhere):
        hub.join(page)
    await hub.dismiss()
    assert (here.got, elsewhere.got, len(hub)) == ([Farewell.AGAIN], [Farewell.AGAIN], 0)


async def test_whose_session_has_ended_is_sent_away_from_every_conversation() -> None:
    """A page that fails at it does not keep the others; somebody else's page of the same conversation stays."""
    hub = Hub(DraftStore())
    broken, here, elsewhere, other = Page(broken=True), Page(), Page(B), Page(reader=EVA)
    for page in (broken, here, elsewhere, other):
        hub.join(page)
    assert (hub.readers(), hub.conversations()) == ({ANA, EVA}, {A, B})
    await hub.sign_out({ANA}.__contains__)
    assert (here.got, elsewhere.got, other.got) == ([Farewell.SIGNED_OUT], [Farewell.SIGNED_OUT], [])
    assert (hub.readers(), hub.conversations()) == ({EVA}, {A})
