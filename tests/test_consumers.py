"""The socket through the real application: who may open it, what it says, and that it listens to nothing but numbers."""

import asyncio
import json
import uuid
from collections.abc import Callable
from typing import Any, Self

import pytest
from channels.testing import WebsocketCommunicator
from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractBaseUser
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import translation

from chat import consumers, conversations, drafts, launching
from chat.engine.embedded import EmbeddedEngine
from chat.models import Conversation, Generation
from gymnasia.asgi import application
from tests.engine.conftest import WAIT_S
from tests.fakes.provider import ScriptedProvider
from tests.fakes.script import DONE, FIN, Stall, T, Wait, play, whole_answer
from tests.listeners import ana, cookie, cookie_of, db, engine, provider, row
from tests.rows import cut, ended, person, sent

__all__ = ["ana", "cookie", "engine", "provider", "row"]

ORIGIN = b"http://localhost:8000"
pytestmark = pytest.mark.django_db(transaction=True)


class Socket:
    """A page's socket; `origin` and `cookie` are what the browser adds."""

    def __init__(
        self,
        conversation_id: Any,
        *,
        cookie: bytes = b"",
        origin: bytes | None = ORIGIN,
        after: str | None = None,
        path: str = "/ws/conversations/{}/",
    ) -> None:
        headers = [(b"host", b"localhost:8000"), (b"cookie", cookie)]
        if origin is not None:
            headers.append((b"origin", origin))
        query = "" if after is None else f"?after={after}"
        self.wire = WebsocketCommunicator(application, path.format(conversation_id) + query, headers=headers)

    async def refused(self) -> Any:
        """The code that it was refused with."""
        connected, code = await self.wire.connect(timeout=WAIT_S)
        assert not connected
        return code

    async def __aenter__(self) -> Self:
        connected, code = await self.wire.connect(timeout=WAIT_S)
        assert connected, f"expected an open socket, got {code}"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.wire.disconnect(timeout=WAIT_S)

    async def frame(self) -> Any:
        return json.loads(await self.wire.receive_from(timeout=WAIT_S))

    async def until_final(self) -> list[Any]:
        """Every frame up to the first last one."""
        frames = [await self.frame()]
        while not (isinstance(frames[-1], dict) and frames[-1]["type"] == "final"):
            frames.append(await self.frame())
        return frames

    async def code(self) -> int:
        """What the server closes it with, whatever came before."""
        while (output := await self.wire.receive_output(timeout=WAIT_S))["type"] == "websocket.send":
            pass
        assert output["type"] == "websocket.close"
        closed: int = output["code"]
        return closed

    async def say(self, text: str) -> None:
        await self.wire.send_to(text_data=text)


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


# --- leaving --------------------------------------------------------------------------------------------------------
async def test_who_closes_leaves_the_hub_and_the_reply_goes_on(
    engine: EmbeddedEngine, ana: AbstractBaseUser, cookie: bytes, row: Generation, provider: ScriptedProvider
) -> None:
    """A reply needs no browser."""
    provider.script = whole_answer("Three minutes for an egg.", ms=20)
    async with Socket(row.conversation_id, cookie=cookie) as socket:
        await socket.frame()
        second = await db(sent, ana, "And an egg?", conversation=row.conversation)
        while isinstance(await socket.frame(), dict):
            pass
    assert len(engine.hub) == 0
    async with asyncio.timeout(WAIT_S):
        while (await db(Generation.objects.get, pk=second.pk)).state != "confirmed":  # noqa: ASYNC110 (a row)
            await asyncio.sleep(0.01)


async def test_when_the_conversation_is_deleted_the_socket_says_so(
    engine: EmbeddedEngine, ana: AbstractBaseUser, cookie: bytes, row: Generation
) -> None:
    async with Socket(row.conversation_id, cookie=cookie) as socket:
        await socket.frame()
        await db(conversations.delete, row.conversation, by=ana)
        assert await socket.code() == consumers.NOT_FOUND
    assert len(engine.hub) == 0


def _sign_out(cookie: bytes) -> None:
    client = Client(headers={"cookie": cookie.decode()})
    assert client.post("/accounts/logout/").status_code == 302


async def test_who_signs_out_reads_no_further(
    row: Generation,
    ana: AbstractBaseUser,
    cookie: bytes,
    provider: ScriptedProvider,
    engine: EmbeddedEngine,
) -> None:
    """At once, in the middle of a reply, which goes on. Another browser of the same person stays."""
    provider.script = play(T("One "), Stall())
    other = await db(cookie_of, ana)
    async with (
        Socket(row.conversation_id, cookie=cookie) as socket,
        Socket(row.conversation_id, cookie=other) as stays,
    ):
        await db(sent, ana, "And an egg?", conversation=row.conversation)
        while isinstance(await socket.frame(), dict):
            pass
        await db(_sign_out, cookie)
        assert await socket.code() == 4401
        while isinstance(await stays.frame(), dict):
            pass
        assert len(engine.hub) == 1
    assert await Socket(row.conversation_id, cookie=cookie).refused() == 4401


def _deactivate(user: AbstractBaseUser) -> None:
    get_user_model().objects.filter(pk=user.pk).update(is_active=False)


def _change_password(user: AbstractBaseUser) -> None:
    user.set_password("another-horse-battery")
    user.save()


@pytest.mark.parametrize("end", [_deactivate, _change_password])
async def test_who_may_not_come_in_any_more_is_sent_away_at_the_next_look(
    engine: EmbeddedEngine,
    ana: AbstractBaseUser,
    cookie: bytes,
    row: Generation,
    end: Callable[[AbstractBaseUser], None],
) -> None:
    async with Socket(row.conversation_id, cookie=cookie) as socket:
        await socket.frame()
        assert await socket.wire.receive_nothing(timeout=0.5)  # some looks, and nothing to see
        await db(end, ana)
        assert await socket.code() == 4401
    assert len(engine.hub) == 0


async def test_what_another_process_deleted_or_signed_out_is_seen_at_the_next_look(
    engine: EmbeddedEngine, ana: AbstractBaseUser, cookie: bytes, row: Generation
) -> None:
    """A shell, another server: nobody tells this one."""
    codes = []
    for elsewhere in (Session.objects.all().delete, Conversation.objects.all().delete):
        cookie = await db(cookie_of, ana)
        async with Socket(row.conversation_id, cookie=cookie) as socket:
            await socket.frame()
            launching.unregister_engine(engine)
            await db(elsewhere)
            launching.register_engine(engine)
            codes.append(await socket.code())
    assert codes == [4401, 4404]


async def test_a_page_whose_joining_fails_is_not_kept(
    engine: EmbeddedEngine, cookie: bytes, row: Generation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No `disconnect` follows: the hub would hold it until the process ends."""

    def broken(*_: Any) -> list[Generation]:
        raise ConnectionError("the database went away")

    monkeypatch.setattr(consumers, "_generations", broken)
    socket = Socket(row.conversation_id, cookie=cookie)
    assert await socket.wire.connect(timeout=WAIT_S) == (True, None)
    with pytest.raises(ConnectionError):
        await socket.wire.wait(timeout=WAIT_S)
    assert len(engine.hub) == 0


def test_nothing_is_rendered_of_a_reply_that_is_gone(db: None) -> None:
    assert consumers._render(uuid.uuid4(), "en") == ""


async def test_a_path_without_a_socket_is_refused_quietly(engine: EmbeddedEngine, cookie: bytes) -> None:
    """Any script could ask for one: no traceback for it in the log."""
    socket = Socket("", cookie=cookie, path="/ws/nothing/{}")
    assert await socket.refused() in (1000, 1006, 403)
