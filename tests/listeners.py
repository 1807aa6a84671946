"""What tests of the transports share: an engine that serves pages, a person with a reply, and the person's cookie.

The fixtures are taken into a test module by name; `row` is made before an engine could run it.
"""

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from channels.db import database_sync_to_async
from django.contrib.auth.models import AbstractBaseUser
from django.db import connections
from django.test import Client

from chat import consumers, drafts
from chat.engine.embedded import EmbeddedEngine
from chat.models import Generation
from tests.engine.conftest import endpoint_at
from tests.fakes.provider import ScriptedProvider
from tests.rows import ended, person, reading, sent


@pytest.fixture
def provider() -> Iterator[ScriptedProvider]:
    with ScriptedProvider() as running:
        yield running


@pytest.fixture
def ana(transactional_db: None) -> AbstractBaseUser:
    return person()


@pytest.fixture
def row(ana: AbstractBaseUser) -> Generation:
    """A confirmed reply, in a conversation of Ana's; made before an engine could run it."""
    confirmed = ended(sent(ana), reading())
    return Generation.objects.select_related("conversation").get(pk=confirmed.pk)


@pytest.fixture
def cookie(ana: AbstractBaseUser) -> bytes:
    return cookie_of(ana)


@pytest.fixture
async def engine(
    provider: ScriptedProvider, row: Generation, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[EmbeddedEngine]:
    settings.SYSTEM_PROMPT = "Answer."  # the flow that shows each word at once
    settings.GYMNASIA = settings.GYMNASIA.but(sweep_interval_s=0.1, look_interval_s=0.2)
    running = EmbeddedEngine(
        settings.GYMNASIA,
        store=drafts.STORE,
        endpoints=lambda: {"scripted": endpoint_at(provider.base_url)},
    )
    await running.start()
    monkeypatch.setattr(consumers, "_engine", running)
    yield running
    if not running.draining:
        await running.drain()
    await database_sync_to_async(connections.close_all)()


async def db(verb: Callable[..., Any], *args: Any, **more: Any) -> Any:
    return await database_sync_to_async(verb)(*args, **more)


def cookie_of(user: AbstractBaseUser) -> bytes:
    client = Client()
    client.force_login(user)  # type: ignore[arg-type]
    return f"sessionid={client.cookies['sessionid'].value}".encode()
