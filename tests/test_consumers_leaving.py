"""How a socket ends: the page goes, the conversation is deleted, its reader may read no further."""

import asyncio
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractBaseUser
from django.contrib.sessions.models import Session
from django.test import Client

from chat import consumers, conversations, launching
from chat.engine.embedded import EmbeddedEngine
from chat.models import Conversation, Generation
from tests.engine.conftest import WAIT_S
from tests.fakes.provider import ScriptedProvider
from tests.fakes.script import Stall, T, play, whole_answer
from tests.listeners import ana, cookie, cookie_of, db, engine, provider, row
from tests.rows import sent
from tests.sockets import Socket

__all__ = ["ana", "cookie", "engine", "provider", "row"]

pytestmark = pytest.mark.django_db(transaction=True)


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
