"""One engine before one scripted provider, for any wire: ask, play, and see what became of it. For walks through it all."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from django.contrib.auth.models import AbstractBaseUser

from chat import drafts
from chat.engine.embedded import EmbeddedEngine
from chat.models import Conversation, Generation, Message
from chat.streaming.frames import Paint
from tests.engine.conftest import ask, endpoint_at, until
from tests.engine.listening import Page
from tests.fakes.anywhere import AnywhereProvider
from tests.fakes.script import Step, play

FINALS = ("confirmed", "incomplete", "refused", "failed", "cancelled", "expired")
CONFIRMED = ("confirmed", "")
TRUNCATED, LOST = ("incomplete", "stream_truncated"), ("incomplete", "connection_lost")


class Stage:
    """An engine before a provider, for any wire, and what became of each question."""

    def __init__(self, provider: AnywhereProvider, settings: Any, person: AbstractBaseUser) -> None:
        self.provider, self.settings, self.person = provider, settings, person
        self.engine: EmbeddedEngine | None = None

    async def open(
        self, *, wire: str = "openai_chat", profile: str = "strict", **knobs: float
    ) -> EmbeddedEngine:
        """Start the engine; nothing follows a failed reply by itself unless a knob says so."""
        quick = {"retry_backoff_s": 0.01, "checkpoint_interval_ms": 50, "automatic_retries": 0}
        quick |= {"look_interval_s": 600, **knobs}  # a test's own listeners have no session to be looked at
        conf = self.settings.GYMNASIA = self.settings.GYMNASIA.but(**quick)
        where = {"scripted": endpoint_at(self.provider.base_url, wire=wire, profile=profile)}
        self.engine = EmbeddedEngine(conf, store=drafts.STORE, endpoints=lambda: where)
        await self.engine.start()
        return self.engine

    async def play(self, *steps: Step, **told: Any) -> tuple[Generation, Page]:
        """Ask, let the provider play these steps, and wait for the end."""
        self.provider.script = play(*steps)
        return await self.walk(**told)

    async def walk(self, *, text: str = "How long?", **told: Any) -> tuple[Generation, Page]:
        """Ask, and wait for the end."""
        engine = self.engine or await self.open(**told)
        # The page is there first: it must miss no frame, however late this task comes to its turn.
        conversation: Conversation = await engine.db_for_pages(
            lambda: Conversation.objects.create(
                user_id=self.person.pk, endpoint="scripted", model="scripted-1"
            )
        )
        page = Page(engine, conversation.pk)
        row = await ask(engine, self.person, text, conversation=conversation)
        row = await until(engine, row, *FINALS)
        await page.last()
        return row, page

    async def answers(self) -> list[str]:
        """The text of every answer that was kept."""
        assert self.engine is not None
        found: list[str] = await self.engine.db_for_pages(
            lambda: list(Message.objects.filter(kind="answer").values_list("text", flat=True))
        )
        return found


@pytest.fixture
async def stage(transactional_db: None, settings: Any, person: AbstractBaseUser) -> AsyncIterator[Stage]:
    with AnywhereProvider() as provider:
        stage = Stage(provider, settings, person)
        yield stage
        if stage.engine is not None:
            await stage.engine.drain()


def painted(page: Page) -> list[str]:
    """The text of every paint that a page got."""
    return [frame.text for frame in page.frames if isinstance(frame, Paint)]


def end_of(row: Generation) -> tuple[str, str]:
    return row.state, row.reason
