"""An engine on the test's own loop, a scripted provider on a thread of its own, and people to ask."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractBaseUser

from chat import drafts, generations
from chat.engine.embedded import EmbeddedEngine
from chat.models import Generation
from chat.providers.base import Endpoint, Model, Secret
from tests.fakes.provider import ScriptedProvider

MS = 0.001
WAIT_S = 10  # the longest that anything here may take; what comes earlier is not waited for


@pytest.fixture(autouse=True)
def prompt_of_its_own(settings: Any) -> None:
    """The flow `custom`, which shows each word at once: what a gate holds back is a walk of its own (`test_gates.py`)."""
    settings.SYSTEM_PROMPT = "Answer."


@pytest.fixture
def provider() -> Iterator[ScriptedProvider]:
    with ScriptedProvider() as running:
        yield running


@pytest.fixture
def person(transactional_db: None) -> AbstractBaseUser:
    return get_user_model().objects.create_user("ana", password="right-horse-battery")


def endpoint_at(base_url: str, **changes: Any) -> Endpoint:
    values = {
        "name": "scripted",
        "label": "Scripted",
        "wire": "openai_chat",
        "base_url": base_url,
        "key_env": None,
        "profile": "strict",
        "models": (Model("scripted-1", "Scripted"),),
    }
    return Endpoint(**(values | changes))


Make = Callable[..., Awaitable[EmbeddedEngine]]


@pytest.fixture
async def make_engine(
    provider: ScriptedProvider, transactional_db: None, settings: Any
) -> AsyncIterator[Make]:
    """Start an engine, with knobs changed; the last thing that a test may do is to leave it running."""
    made: list[EmbeddedEngine] = []

    async def make(
        *, base_url: str = provider.base_url, key: Secret | None = None, **knobs: float
    ) -> EmbeddedEngine:
        quick = {"retry_backoff_s": 0.01, "checkpoint_interval_ms": 50, "sweep_interval_s": 0.1}
        quick["look_interval_s"] = 600  # a test's own listeners have no session to be looked at
        conf = settings.GYMNASIA.but(**{**quick, **knobs})
        settings.GYMNASIA = conf
        engine = EmbeddedEngine(
            conf, store=drafts.STORE, endpoints=lambda: {"scripted": endpoint_at(base_url, key=key)}
        )
        await engine.start()
        made.append(engine)
        return engine

    yield make
    for engine in made:
        if not engine.draining:
            await engine.drain()


@pytest.fixture
async def engine(make_engine: Make) -> EmbeddedEngine:
    return await make_engine()


async def ask(
    engine: EmbeddedEngine, person: AbstractBaseUser, text: str = "How long?", **more: Any
) -> Generation:
    """Send a message as a page would; the engine runs what it queues."""
    row: Generation = await engine.db_for_pages(
        lambda: generations.send(user=person, text=text, endpoint="scripted", model="scripted-1", **more)
    )
    return row


async def until(engine: EmbeddedEngine, row: Generation, *states: str) -> Generation:
    """Read the row until it stands in one of these states."""
    deadline = asyncio.get_running_loop().time() + WAIT_S
    while True:
        now: Generation = await engine.db_for_pages(
            lambda: Generation.objects.select_related("message", "checkpoint", "conversation").get(pk=row.pk)
        )
        if now.state in states:
            return now
        if asyncio.get_running_loop().time() > deadline:
            raise TimeoutError(f"expected one of {states}; got {now.state} ({now.reason} {now.detail})")
        await asyncio.sleep(5 * MS)
