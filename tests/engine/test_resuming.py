"""Going on by the provider's own cursor: the same generation, no character twice, none lost, and nothing without proof."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import AbstractBaseUser

from chat import catalogue, drafts, generations, running
from chat.engine.embedded import EmbeddedEngine
from chat.models import Generation, Message
from chat.providers.base import Endpoint, Model
from tests.engine.conftest import WAIT_S, until
from tests.fakes.responses import RESPONSE_ID, ResponsesProvider
from tests.fakes.script import End, Stall
from tests.rows import closing

WORDS = [f"w{n} " for n in range(20)]
TEXT = "".join(WORDS)


def endpoint(base_url: str) -> Endpoint:
    return Endpoint(
        "responses",
        "Responses",
        "openai_responses",
        base_url,
        None,
        "openai",
        (Model("gpt-5.4", "GPT"),),
        defaults={"background": True, "store": True},
    )


class Stage:
    """An engine, or one after another, before a provider that keeps its replies."""

    def __init__(self, provider: ResponsesProvider, settings: Any, **knobs: float) -> None:
        self.provider = provider
        quick = {"retry_backoff_s": 0.01, "checkpoint_interval_ms": 20, "sweep_interval_s": 0.05}
        self.conf = settings.GYMNASIA = settings.GYMNASIA.but(**(quick | knobs))

    async def engine(self) -> EmbeddedEngine:
        where = {"responses": endpoint(self.provider.base_url)}
        engine = EmbeddedEngine(self.conf, store=drafts.STORE, endpoints=lambda: where)
        await engine.start()
        return engine


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(catalogue, "defaults", lambda _: {"background": True, "store": True})
    yield
    drafts.STORE.__init__()  # type: ignore[misc]


async def ask(engine: EmbeddedEngine, person: AbstractBaseUser) -> Generation:
    row: Generation = await engine.db_for_pages(
        lambda: generations.send(user=person, text="How long?", endpoint="responses", model="gpt-5.4")
    )
    return row


async def left_in_mid_stream(stage: Stage, person: AbstractBaseUser) -> Generation:
    """A reply of which eight words were seen when its server stopped; the next process remembers nothing."""
    first = await stage.engine()
    row = await ask(first, person)
    await shown(first, row, "w8 ")
    await first.drain()
    drafts.STORE.__init__()  # type: ignore[misc]
    return row


async def answer(engine: EmbeddedEngine) -> list[str]:
    found: list[str] = await engine.db_for_pages(
        lambda: list(Message.objects.filter(kind="answer").values_list("text", flat=True))
    )
    return found


@pytest.mark.parametrize("ends", [None, End(), Stall()])
@pytest.mark.parametrize("breaks", [[0, None], [8, None], [8, 8, 12, None], [26, None]])
async def test_a_broken_connection_is_gone_on_with_by_the_cursor(
    person: AbstractBaseUser, settings: Any, breaks: list[int | None], ends: Any
) -> None:
    """One generation, whole, wherever and however its connection broke; the cursor is in each new request."""
    with ResponsesProvider(WORDS, breaks, ends=ends) as provider:
        engine = await Stage(provider, settings, idle_timeout_s=0.3).engine()
        row = await until(engine, await ask(engine, person), "confirmed", "incomplete", "failed")
        assert (row.state, row.number, await answer(engine)) == ("confirmed", 1, [TEXT])
        asked = [record.path.rsplit("starting_after=", 1)[-1] for record in provider.requests[1:]]
        assert asked == [str(last) for last in breaks[:-1]]
        assert (row.provider_response_id, row.last_event, row.usage_output) == (RESPONSE_ID, "27", 20)
        await engine.drain()


async def test_where_the_provider_knows_nothing_of_it_the_reply_is_lost_and_followed(
    person: AbstractBaseUser, settings: Any
) -> None:
    """No proof of continuity, no continuing: the generation ends, and a new one begins from nothing."""
    with ResponsesProvider(WORDS, [8, None]) as provider:
        provider.known = False
        engine = await Stage(provider, settings).engine()
        first = await until(engine, await ask(engine, person), "incomplete")
        assert first.reason == "connection_lost"
        second = await engine.db_for_pages(lambda: Generation.objects.get(number=2))
        second = await until(engine, second, "confirmed")
        assert (second.retry_of_id, await answer(engine)) == (first.pk, [TEXT])
        await engine.drain()


async def test_after_a_restart_the_same_generation_goes_on(person: AbstractBaseUser, settings: Any) -> None:
    """A server that stops lets go of it; the next one reads it from its first event and appends what is new."""
    with ResponsesProvider(WORDS, [12, None], ends=Stall()) as provider:
        stage = Stage(provider, settings)
        row = await left_in_mid_stream(stage, person)
        second = await stage.engine()
        row = await until(second, row, "confirmed", "incomplete", "failed", "expired")
        assert (row.state, row.number, row.fence, await answer(second)) == ("confirmed", 1, 3, [TEXT])
        assert provider.requests[1].path.endswith("?stream=true")
        await second.drain()


async def test_a_lost_worker_is_followed_by_another_on_the_same_generation(
    person: AbstractBaseUser, settings: Any
) -> None:
    """The lease runs out, the reaper hands it on; what was shown is not painted again, and its numbers go on."""
    with ResponsesProvider(WORDS, [12, None], ends=Stall()) as provider:
        stage = Stage(provider, settings, lease_s=60, sweep_interval_s=30)
        lost = await stage.engine()
        row = await ask(lost, person)
        await shown(lost, row, "w8 ")
        saved = await checkpoint(lost, row)
        drafts.STORE.__init__()  # type: ignore[misc]
        # As if it were another process, and dead: it no longer prolongs its lease.
        await lost.db(lambda: Generation.objects.update(owner="dead", lease_until="2020-01-01T00:00:00Z"))
        other = await stage.engine()
        row = await until(other, row, "confirmed", "incomplete", "failed", "expired")
        assert (row.state, await answer(other)) == ("confirmed", [TEXT])
        entry = drafts.STORE.get(row.pk)
        assert entry is not None
        assert entry.draft.covers(saved.seq)
        assert saved.answer + "".join(paint.text for paint in entry.draft.since(saved.seq)) == TEXT
        assert cancels(provider) == []  # the one that wakes up ends nothing that another goes on with
        await lost.drain()
        await other.drain()
        row = await asyncio.to_thread(closing, lambda: Generation.objects.get(pk=row.pk))
        assert row.state == "confirmed"


async def test_too_old_to_go_on_is_expired(person: AbstractBaseUser, settings: Any) -> None:
    with ResponsesProvider(WORDS, [12, None], ends=Stall()) as provider:
        stage = Stage(provider, settings, resume_window_s=0)
        first = await stage.engine()
        row = await ask(first, person)
        await shown(first, row, "w8 ")
        await first.drain()
        second = await stage.engine()
        row = await until(second, row, "expired", "confirmed", "incomplete")
        assert (row.state, row.reason, await answer(second)) == ("expired", "deadline", [])
        await second.drain()


async def test_something_else_than_what_was_seen_is_never_appended(
    person: AbstractBaseUser, settings: Any
) -> None:
    with ResponsesProvider(WORDS, [12, None], ends=Stall()) as provider:
        stage = Stage(provider, settings)
        row = await left_in_mid_stream(stage, person)
        provider.events = [event.replace(b"w3 ", b"x3 ") for event in provider.events]
        second = await stage.engine()
        row = await until(second, row, "failed", "confirmed", "incomplete")
        assert (row.state, row.reason, await answer(second)) == ("failed", "divergent", [])
        assert row.checkpoint.answer.startswith("w0 w1 w2 w3 ")
        await second.drain()


@pytest.mark.parametrize(
    ("statuses", "kept", "times"),
    [([200], "HTTP 200", 1), ([500, 200], "HTTP 200", 2), ([503], "HTTP 503", 3)],
)
async def test_a_stop_reaches_the_provider_and_what_it_answers_is_kept_apart(
    person: AbstractBaseUser, settings: Any, statuses: list[int], kept: str, times: int
) -> None:
    """The state is `cancelled` whatever the provider says; a cancel that failed is tried again, within bounds."""
    with ResponsesProvider(WORDS, [12], ends=Stall()) as provider:
        provider.cancel_statuses = statuses
        engine = await Stage(provider, settings).engine()
        row = await ask(engine, person)
        await shown(engine, row, "w8 ")
        await engine.db_for_pages(lambda: generations.cancel(row, by=person))
        await engine.idle()
        row = await until(engine, row, "cancelled")
        assert (row.provider_cancel, len(cancels(provider))) == (kept, times)
        assert row.checkpoint.answer.endswith("w8 ")
        await engine.drain()


@pytest.mark.parametrize(("statuses", "kept"), [([200], "HTTP 200"), ([500, 429, 200], "HTTP 200")])
async def test_a_gate_that_says_no_ends_it_at_the_provider_too(
    person: AbstractBaseUser, settings: Any, statuses: list[int], kept: str
) -> None:
    """Closing the line ends nothing that runs in the background: it would be written, and paid for, for nobody."""
    settings.SYSTEM_PROMPT = ""  # the coach, whose answers come by sentences and are looked at
    words = ["Warm up first. ", "Take 400 mg of ibuprofen ", "before it. ", "Then run. ", *WORDS]
    with ResponsesProvider(words, [9], ends=Stall()) as provider:
        provider.cancel_statuses = list(statuses)
        engine = await Stage(provider, settings).engine()
        row = await until(engine, await ask(engine, person), "failed", "confirmed", "incomplete")
        await engine.idle()
        row = await until(engine, row, "failed")
        assert (row.reason, row.detail) == ("policy", "rule dose blocked the answer")
        assert (row.provider_cancel, len(cancels(provider))) == (kept, len(statuses))
        assert (row.cancelled_by_id, row.cancel_requested_at) == (None, None)  # nobody has stopped it
        assert row.checkpoint.answer == "Warm up first. "
        await engine.drain()


async def test_what_cannot_be_read_any_more_is_ended_at_the_provider(
    person: AbstractBaseUser, settings: Any
) -> None:
    """It lost its line for good here; there it may go on for minutes."""
    with ResponsesProvider(WORDS, [12, *(-1 for _ in range(9))], ends=Stall()) as provider:
        stage = Stage(provider, settings, idle_timeout_s=0.1, resume_attempts=1, automatic_retries=0)
        engine = await stage.engine()
        row = await until(engine, await ask(engine, person), "failed", "confirmed", "incomplete")
        await engine.idle()
        row = await until(engine, row, "incomplete")
        assert (row.reason, row.provider_cancel, len(cancels(provider))) == ("stalled", "HTTP 200", 1)
        await engine.drain()


async def test_what_has_ended_there_is_not_cancelled(person: AbstractBaseUser, settings: Any) -> None:
    """The provider's last word was said; a check of ours may still refuse it."""
    with ResponsesProvider([" "], [None]) as provider:
        engine = await Stage(provider, settings).engine()
        row = await until(engine, await ask(engine, person), "failed", "confirmed", "incomplete")
        await engine.idle()
        assert (row.state, row.reason, cancels(provider)) == ("failed", "empty_answer", [])
        await engine.drain()


async def test_a_stop_reaches_what_was_taken_over_and_not_heard_of_yet(
    person: AbstractBaseUser, settings: Any
) -> None:
    """The next server cannot read it; its name is known from before, and must not be lost with the stop."""
    with ResponsesProvider(WORDS, [12, *(-1 for _ in range(99))], ends=Stall()) as provider:
        stage = Stage(provider, settings)
        row = await left_in_mid_stream(stage, person)
        second = await stage.engine()
        await asked_to_go_on(provider)
        await second.db_for_pages(lambda: generations.cancel(row, by=person))
        await second.idle()
        row = await until(second, row, "cancelled")
        assert (row.provider_response_id, row.provider_cancel) == (RESPONSE_ID, "HTTP 200")
        assert len(cancels(provider)) == 1
        await second.drain()


def cancels(provider: ResponsesProvider) -> list[str]:
    return [record.path for record in provider.requests if record.path.endswith("/cancel")]


async def asked_to_go_on(provider: ResponsesProvider) -> None:
    for _ in range(WAIT_S * 100):
        if any(record.method == "GET" for record in provider.requests):
            return
        await asyncio.sleep(0.01)
    raise TimeoutError("nobody has asked to go on")


async def shown(engine: EmbeddedEngine, row: Generation, end: str) -> None:
    """Wait until the saved draft ends so, and the provider's id is kept."""
    for _ in range(WAIT_S * 100):
        saved = await engine.db_for_pages(
            lambda: Generation.objects.filter(
                pk=row.pk, checkpoint__answer__endswith=end, provider_response_id=RESPONSE_ID
            ).exists()
        )
        if saved:
            return
        await asyncio.sleep(0.01)
    raise TimeoutError(f"no checkpoint that ends with {end!r}")


async def checkpoint(engine: EmbeddedEngine, row: Generation) -> Any:
    now = await engine.db_for_pages(lambda: Generation.objects.select_related("checkpoint").get(pk=row.pk))
    return now.checkpoint


def test_only_what_was_noted_while_it_ran_can_be_taken_over(person: AbstractBaseUser) -> None:
    """A response id that a chat stream leaves behind at its end gives nobody a claim."""
    row = generations.send(user=person, text="x", endpoint="responses", model="gpt-5.4")
    job = running.claim(row.pk, owner="one")
    assert job is not None
    assert running.opened(job, wire="openai_chat", requests=1) == "moved"
    Generation.objects.update(lease_until=None)
    assert running.claim(row.pk, owner="two") is None
    running.note_response(job, RESPONSE_ID)
    again = running.claim(row.pk, owner="two")
    assert again is not None
    assert (again.generation.fence, again.saved is not None) == (2, True)
