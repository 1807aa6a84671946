"""The socket through the real application: who may open it, what it says, and that it listens to nothing but numbers."""

import asyncio
import uuid
from typing import Any

import pytest
from django.contrib.auth.models import AbstractBaseUser
from django.utils import translation

from chat import consumers, drafts
from chat.engine.embedded import EmbeddedEngine
from chat.models import Generation
from tests.engine.conftest import WAIT_S
from tests.fakes.provider import ScriptedProvider
from tests.fakes.script import DONE, FIN, Stall, T, Wait, play, whole_answer
from tests.listeners import ana, cookie, cookie_of, db, engine, provider, row
from tests.rows import cut, ended, person, sent
from tests.sockets import Socket

__all__ = ["ana", "cookie", "engine", "provider", "row"]

pytestmark = pytest.mark.django_db(transaction=True)


# --- who may open it ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "origin",
    [
        None,
        b"",
        b"null",
        b"https://evil.example",
        b"http://localhost.evil.example",
        b"http://evil.example:8000",
        b"http://localhost:9000",  # another program on this machine
        b"http://[localhost",
        b"http://localhost]:8000",
    ],
)
async def test_another_site_cannot_open_a_socket_with_a_persons_cookie(
    engine: EmbeddedEngine, cookie: bytes, row: Generation, origin: bytes | None
) -> None:
    """Browsers send cookies with sockets from anywhere: the origin is what tells them apart."""
    assert await Socket(row.conversation_id, cookie=cookie, origin=origin).refused() == 1000
    assert len(engine.hub) == 0


async def test_who_is_not_signed_in_is_refused(engine: EmbeddedEngine, row: Generation) -> None:
    for nobodys in (b"", b"sessionid=0123456789abcdef0123456789abcdef"):
        assert await Socket(row.conversation_id, cookie=nobodys).refused() == consumers.REFUSED


async def test_a_stranger_learns_only_that_there_is_nothing(
    engine: EmbeddedEngine, ana: AbstractBaseUser, cookie: bytes, row: Generation
) -> None:
    """The administrator is a stranger too; so is the owner to what does not exist."""
    eva = await db(lambda: cookie_of(person("eva")))
    root = await db(lambda: cookie_of(person("root", is_staff=True, is_superuser=True)))
    for theirs in (eva, root):
        assert await Socket(row.conversation_id, cookie=theirs).refused() == consumers.NOT_FOUND
    assert await Socket(uuid.uuid4(), cookie=cookie).refused() == consumers.NOT_FOUND
    assert len(engine.hub) == 0


async def test_a_server_without_a_running_engine_says_come_back(
    engine: EmbeddedEngine, cookie: bytes, row: Generation, monkeypatch: pytest.MonkeyPatch
) -> None:
    await engine.drain()
    assert consumers.engine_state() == "draining"
    assert await Socket(row.conversation_id, cookie=cookie).refused() == consumers.GOING_AWAY
    monkeypatch.setattr(consumers, "_engine", None)
    assert consumers.engine_state() == "absent"
    assert await Socket(row.conversation_id, cookie=cookie).refused() == consumers.GOING_AWAY
    consumers.serve_from(engine)
    assert consumers.engine_state() == "draining"


# --- what it says ---------------------------------------------------------------------------------------------------
async def test_a_reply_is_told_from_its_notice_to_its_last_frame(
    engine: EmbeddedEngine, ana: AbstractBaseUser, cookie: bytes, row: Generation, provider: ScriptedProvider
) -> None:
    """As a page sees it: the paints make the text, and the last frame brings the server's HTML."""
    provider.script = play(T("**Three** "), Wait(60), T("minutes."), FIN("stop"), DONE)
    async with Socket(row.conversation_id, cookie=cookie) as socket:
        assert (await socket.frame())["state"] == "confirmed"  # how the newest stood on joining
        second = await db(sent, ana, "And an egg?", conversation=row.conversation)
        frames = await socket.until_final()
    paints = [frame for frame in frames if isinstance(frame, list)]
    turns = [frame["state"] for frame in frames if isinstance(frame, dict) and frame["type"] == "turn"]
    final = frames[-1]
    assert "".join(paint[2] for paint in paints) == "**Three** minutes."
    assert [paint[:2] for paint in paints] == [[2, number + 1] for number in range(len(paints))]
    assert turns[0] == "queued"
    assert (final["generation"], final["handle"], final["seq"]) == (str(second.pk), 2, len(paints) + 1)
    assert (final["state"], final["reason"], final["successor"]) == ("confirmed", None, None)
    assert "<strong>Three</strong> minutes." in final["html"]


async def test_each_page_gets_its_last_frame_in_its_own_language(
    engine: EmbeddedEngine,
    cookie: bytes,
    row: Generation,
    ana: AbstractBaseUser,
    provider: ScriptedProvider,
    monkeypatch: pytest.MonkeyPatch,
    settings: Any,
) -> None:
    """The socket's cookie says it, as the page's did."""
    settings.LANGUAGES = [("en", "English"), ("es", "Español"), ("pt-br", "Português")]
    monkeypatch.setattr(consumers, "render_reply", lambda _row: f"in {translation.get_language()}")
    provider.script = play(Wait(60), T("Three minutes."), FIN("stop"), DONE)
    said = [cookie + b"; django_language=" + code for code in (b"es", b"pt-br", b"en")]
    sockets = [Socket(row.conversation_id, cookie=each) for each in said]
    async with sockets[0], sockets[1], sockets[2]:
        await db(sent, ana, "And an egg?", conversation=row.conversation)
        finals = [(await socket.until_final())[-1]["html"] for socket in sockets]
    assert finals == ["in es", "in pt-br", "in en"]


@pytest.mark.parametrize("name", ["number", "id"])
async def test_a_cursor_names_a_reply_by_number_or_by_id(
    engine: EmbeddedEngine,
    ana: AbstractBaseUser,
    cookie: bytes,
    row: Generation,
    provider: ScriptedProvider,
    name: str,
) -> None:
    provider.script = play(T("One "), Wait(60), T("two "), Stall())
    running = await db(sent, ana, "And an egg?", conversation=row.conversation)
    entry = None
    async with asyncio.timeout(WAIT_S):
        while entry is None or entry.draft.seq < 2:
            await asyncio.sleep(0.005)
            entry = drafts.STORE.get(running.pk)
    after = "2:1" if name == "number" else f"{running.pk}:1"
    async with Socket(row.conversation_id, cookie=cookie, after=after) as socket:
        assert [(await socket.frame())["type"], await socket.frame()] == ["turn", [2, 2, "two "]]


@pytest.mark.parametrize(
    "after",
    [
        "",
        ":",
        "x",
        "1",
        "1:",
        ":1",
        "x:1",
        "1:x",
        "1:-1",
        "-1:1",
        "1:1.5",
        "²:1",
        "1:٣",
        "1:9999999999999999999999",
        "9999999999999999999999:1",
        "%00:1",
        "00000000-0000-0000-0000-000000000000:3",
        "zzzzzzzz-0000-0000-0000-000000000000:3",
        "1:1&after=2:2",
        "%ff%fe:1",
    ],
)
async def test_whatever_else_stands_there_is_the_beginning(
    engine: EmbeddedEngine, cookie: bytes, row: Generation, after: str
) -> None:
    """Or a place of its own, where it happens to be one; never an error."""
    async with Socket(row.conversation_id, cookie=cookie, after=after) as socket:
        frame = await socket.frame()
    assert (frame["type"], frame["handle"], frame["state"]) == ("turn", 1, "confirmed")


@pytest.fixture
def other(ana: AbstractBaseUser) -> Generation:
    return ended(sent(ana, "Elsewhere?"), cut())


async def test_a_cursor_of_another_conversation_is_the_beginning(
    other: Generation, engine: EmbeddedEngine, cookie: bytes, row: Generation
) -> None:
    """An id from elsewhere must not open a door, nor move this page."""
    async with Socket(row.conversation_id, cookie=cookie, after=f"{other.pk}:3") as socket:
        assert (await socket.frame())["generation"] == str(row.pk)
        assert await socket.wire.receive_nothing(timeout=0.05)


async def test_what_ended_while_the_page_was_away_is_finished(
    engine: EmbeddedEngine, cookie: bytes, row: Generation
) -> None:
    async with Socket(row.conversation_id, cookie=cookie, after=f"{row.pk}:7") as socket:
        turn, final = await socket.frame(), await socket.frame()
    assert (turn["type"], final["type"], final["seq"], final["state"]) == ("turn", "final", 8, "confirmed")
    assert "Two minutes." in final["html"]


async def test_two_tabs_see_the_same(
    engine: EmbeddedEngine, ana: AbstractBaseUser, cookie: bytes, row: Generation, provider: ScriptedProvider
) -> None:
    provider.script = whole_answer("Three minutes for an egg.", ms=15)
    async with (
        Socket(row.conversation_id, cookie=cookie) as one,
        Socket(row.conversation_id, cookie=cookie) as two,
    ):
        assert await one.frame() == await two.frame()  # both have joined
        await db(sent, ana, "And an egg?", conversation=row.conversation)
        assert await one.until_final() == await two.until_final()
        assert len(engine.hub) == 2


# --- what goes up ---------------------------------------------------------------------------------------------------
JUNK: list[dict[str, Any]] = [
    {"text": "hello"},
    {"text": ""},
    {"text": "[1,2]"},
    {"text": '{"ack":1}'},
    {"text": '{"ack":[1]}'},
    {"text": '{"ack":["1","2"]}'},
    {"text": '{"ack":[1,2,3]}'},
    {"text": '{"ack":[-5,-5]}'},
    {"text": '{"ack":[1e400,1]}'},
    {"text": '{"ack":[123456789012345678901234567890,1]}'},
    {"text": '{"type":"turn","state":"confirmed"}'},
    {"text": "{" * 5000},
    {"text": "\ud800"},
    {"bytes": b"\xff\x00"},
    {"bytes": b'{"ack":[1,1]}'},
]


async def test_junk_sent_up_is_ignored(
    engine: EmbeddedEngine, ana: AbstractBaseUser, cookie: bytes, row: Generation, provider: ScriptedProvider
) -> None:
    """Nothing of it ends the socket, and the reply goes on as if it had not been said."""
    provider.script = whole_answer("Three minutes.")
    async with Socket(row.conversation_id, cookie=cookie) as socket:
        await socket.frame()
        for junk in JUNK:
            await socket.wire.send_input({"type": "websocket.receive", **junk})
        await db(sent, ana, "And an egg?", conversation=row.conversation)
        assert (await socket.until_final())[-1]["state"] == "confirmed"


async def test_an_acknowledgement_lets_it_go_on(
    engine: EmbeddedEngine, ana: AbstractBaseUser, cookie: bytes, row: Generation, provider: ScriptedProvider
) -> None:
    """Without one it stops at the limit; the notices still come."""
    engine.conf = engine.conf.but(ahead_frames=2)
    steps = [step for number in range(12) for step in (T(f"{number} "), Wait(45))]
    provider.script = play(*steps, FIN("stop"), DONE)
    async with Socket(row.conversation_id, cookie=cookie) as socket:
        await socket.frame()
        await db(sent, ana, "Count!", conversation=row.conversation)
        frames: list[Any] = []
        while not frames or frames[-1] != ("turn", "confirmed", 2):
            frame = await socket.frame()
            kind = "paint" if isinstance(frame, list) else frame["type"]
            frames.append((kind, *(frame[1:2] if kind == "paint" else (frame["state"], frame["handle"]))))
        assert [frame for frame in frames if frame[0] == "paint"] == [("paint", 1), ("paint", 2)]
        await socket.say('{"ack":[2,2]}')
        rest = await socket.until_final()
    text = "".join(frame[2] for frame in rest if isinstance(frame, list))
    assert text == "".join(f"{number} " for number in range(2, 12))
    assert rest[-1]["state"] == "confirmed"
