"""The embedded engine from end to end: verbs in, a real socket to a scripted provider, rows and frames out."""

import asyncio
from typing import Any

import pytest
from django.contrib.auth.models import AbstractBaseUser

from chat import conversations, drafts, generations, launching
from chat.engine.embedded import EmbeddedEngine
from chat.models import Checkpoint, Generation, Message
from chat.streaming.frames import Paint, Turn
from tests.engine.conftest import WAIT_S, Make, ask, until
from tests.engine.listening import Page, journal, messages
from tests.fakes.provider import ScriptedProvider
from tests.fakes.script import (
    DONE,
    ERROR,
    FIN,
    REASON,
    USAGE,
    Cut,
    End,
    Reset,
    Stall,
    T,
    Wait,
    play,
    whole_answer,
)


async def test_a_whole_stream_is_confirmed_with_its_message(
    engine: EmbeddedEngine, provider: ScriptedProvider, person: AbstractBaseUser
) -> None:
    """The one way to an answer: the provider's own terminal signal, then the checks, then both rows at once."""
    provider.script = play(
        REASON("Think."), T("Two "), T("minutes."), FIN("stop"), USAGE(9, 2, reasoning=1), DONE
    )
    row = await until(engine, await ask(engine, person), "confirmed")
    assert await journal(engine, row) == [
        "queued opened received",
        "received first_delta buffered",
        "buffered ended_whole assembled",
        "assembled checks_passed validated",
        "validated committed confirmed",
    ]
    assert await messages(engine) == [("user", "How long?"), ("answer", "Two minutes.")]
    assert row.message.reasoning == "Think."
    assert row.conversation is not None
    assert row.conversation.head_id == row.message.pk
    assert (row.usage_input, row.usage_output, row.usage_reasoning) == (9, 2, 1)
    assert (row.wire, row.endpoint, row.model, row.flow) == (
        "openai_chat",
        "scripted",
        "scripted-1",
        "custom",
    )
    assert row.provider_response_id == "chatcmpl-scripted-0123456789abcdef"
    assert row.provider_reason == "stop"
    assert None not in (row.opened_at, row.first_event_at, row.first_text_at, row.validated_at, row.ended_at)
    assert [check["passed"] for check in row.checks] == [True] * 5
    assert not await engine.db_for_pages(Checkpoint.objects.exists)


@pytest.mark.parametrize(
    ("steps", "state", "reason"),
    [
        ([T("Half "), End()], "incomplete", "stream_truncated"),
        ([T("Half "), DONE], "incomplete", "stream_truncated"),
        ([T("Half "), FIN("stop"), End()], "incomplete", "stream_truncated"),
        ([T("Half "), FIN("length"), DONE], "incomplete", "max_tokens"),
        ([T("Half "), FIN("content_filter"), DONE], "incomplete", "content_filter"),
        ([FIN("stop"), DONE], "failed", "empty_answer"),
        ([T("Half "), b"data: {nonsense\n\n", DONE], "failed", "malformed_stream"),
        (
            [T("Half "), ERROR("no credit", "insufficient_quota", "insufficient_quota"), End()],
            "failed",
            "provider_error",
        ),
    ],
)
async def test_whatever_is_not_whole_is_never_a_message(
    make_engine: Make,
    provider: ScriptedProvider,
    person: AbstractBaseUser,
    steps: list[Any],
    state: str,
    reason: str,
) -> None:
    """Each short end has its name and keeps its draft, labelled; no message, and nothing runs on."""
    engine = await make_engine(automatic_retries=0)
    provider.script = play(*steps)
    row = await until(engine, await ask(engine, person), "incomplete", "failed", "confirmed")
    assert (row.state, row.reason) == (state, reason)
    assert await messages(engine) == [("user", "How long?")]
    assert row.checkpoint.answer == ("" if reason == "empty_answer" else "Half ")


async def test_a_lost_connection_is_followed_by_new_generations_and_no_text_is_glued(
    engine: EmbeddedEngine, provider: ScriptedProvider, person: AbstractBaseUser
) -> None:
    """Case 32: the second attempt starts from nothing, and every page learns of the border."""
    provider.queue.extend([play(T("Hello wor"), Wait(50), Reset()), whole_answer("Hello world")])
    first = await ask(engine, person)
    page = Page(engine, first.conversation_id)
    first = await until(engine, first, "incomplete")
    final = await page.last()
    assert (first.reason, final.state, final.reason) == ("connection_lost", "incomplete", "connection_lost")
    second = await engine.db_for_pages(lambda: Generation.objects.get(retry_of=first))
    assert final.successor == str(second.pk)
    second = await until(engine, second, "confirmed")
    assert (second.attempt, second.automatic_retries, second.number) == (2, 1, 2)
    assert await messages(engine) == [("user", "How long?"), ("answer", "Hello world")]
    assert page.text(1) == "Hello wor"[: len(page.text(1))]


async def test_automatic_attempts_have_an_end(
    engine: EmbeddedEngine, provider: ScriptedProvider, person: AbstractBaseUser
) -> None:
    """Two new generations by themselves, then the person is asked."""
    provider.script = play(T("Hello"), Cut())
    await ask(engine, person)
    states: list[tuple[str, int]] = []
    for _ in range(WAIT_S * 100):
        states = await engine.db_for_pages(
            lambda: list(Generation.objects.order_by("number").values_list("state", "attempt"))
        )
        if len(states) == 3 and states[-1][0] == "incomplete":
            break
        await asyncio.sleep(0.01)
    assert states == [("incomplete", 1), ("incomplete", 2), ("incomplete", 3)]
    assert len(provider.requests) == 3


async def test_a_retry_by_a_person_is_a_new_generation_for_the_same_message(
    engine: EmbeddedEngine, provider: ScriptedProvider, person: AbstractBaseUser
) -> None:
    provider.queue.extend([play(T("Half"), FIN("length"), DONE), whole_answer("Whole.")])
    first = await until(engine, await ask(engine, person), "incomplete")
    second = await engine.db_for_pages(lambda: generations.retry(first, user=person))
    second = await until(engine, second, "confirmed")
    assert (second.retry_of_id, second.attempt, second.automatic_retries) == (first.pk, 2, 0)
    assert await messages(engine) == [("user", "How long?"), ("answer", "Whole.")]
    assert [turn["role"] for turn in provider.requests[1].json["messages"]] == ["system", "user"]


async def test_the_next_prompt_holds_messages_only(
    engine: EmbeddedEngine, provider: ScriptedProvider, person: AbstractBaseUser
) -> None:
    """What was cut is in no prompt; the two messages of the person that follow each other are joined."""
    provider.queue.extend([play(T("Secret half"), End()), whole_answer("Fine.")])
    first = await until(engine, await ask(engine, person, "One?"), "incomplete")
    second = await ask(engine, person, "Two?", conversation=first.conversation)
    await until(engine, second, "confirmed")
    sent = provider.requests[1].json["messages"]
    assert [(turn["role"], turn["content"]) for turn in sent[1:]] == [("user", "One?\n\nTwo?")]


async def test_stop_closes_the_connection_and_keeps_what_was_shown(
    engine: EmbeddedEngine, provider: ScriptedProvider, person: AbstractBaseUser
) -> None:
    """Case 23: the provider sees the close at once, and the kept draft is the text of the frames."""
    provider.script = play(T("One "), T("two "), Stall())
    row = await ask(engine, person)
    page = Page(engine, row.conversation_id)
    await until(engine, row, "buffered")
    assert await engine.db_for_pages(lambda: generations.cancel(row, by=person)) is True
    final = await page.last()
    provider.wait_until(lambda requests: requests[0].peer_closed_at is not None, timeout_s=1)
    row = await until(engine, row, "cancelled")
    assert (final.state, final.reason, row.reason) == ("cancelled", "cancelled", "cancelled")
    assert (row.cancelled_by_id, row.cancel_requested_at is not None) == (person.pk, True)
    assert row.checkpoint.answer == page.text(1) == "One two "
    assert await engine.db_for_pages(lambda: generations.cancel(row, by=person)) is False
    row = await until(engine, row, "cancelled")
    assert (row.late, row.usage_output) == (1, None)


async def test_stop_before_the_first_byte(
    engine: EmbeddedEngine, provider: ScriptedProvider, person: AbstractBaseUser
) -> None:
    provider.script = play(T("never"), hold_ms=float("inf"))
    row = await ask(engine, person)
    await asyncio.to_thread(provider.wait_until, lambda requests: len(requests) == 1)
    await engine.db_for_pages(lambda: generations.cancel(row, by=person))
    await asyncio.to_thread(
        provider.wait_until, lambda requests: requests[0].peer_closed_at is not None, timeout_s=1
    )
    assert (await until(engine, row, "cancelled")).opened_at is None


async def test_a_server_that_stops_ends_its_runs_at_once_and_gives_queued_ones_back(
    make_engine: Make, provider: ScriptedProvider, person: AbstractBaseUser
) -> None:
    first_engine = await make_engine()
    provider.queue.append(play(T("One "), Stall()))
    running = await ask(first_engine, person)
    await until(first_engine, running, "buffered")
    provider.queue.append(play(T("x"), hold_ms=float("inf")))
    queued = await ask(first_engine, person, "Other?")
    await asyncio.to_thread(provider.wait_until, lambda requests: len(requests) == 2)
    await first_engine.drain()
    provider.script = whole_answer("After the restart.")
    second_engine = await make_engine()
    running = await until(second_engine, running, "incomplete")
    assert (running.reason, running.checkpoint.answer) == ("shutdown", "One ")
    queued = await until(second_engine, queued, "confirmed")
    assert queued.message.text == "After the restart."


async def test_a_runner_that_lost_its_lease_changes_nothing(
    make_engine: Make, provider: ScriptedProvider, person: AbstractBaseUser
) -> None:
    """A frozen process wakes up after the reaper: its fence is stale, its text goes nowhere."""
    engine = await make_engine(checkpoint_interval_ms=60_000, sweep_interval_s=60)
    provider.script = play(T("One "), Wait(300), T("two"), FIN("stop"), DONE)
    row = await until(engine, await ask(engine, person), "buffered")
    await engine.db(lambda: Generation.objects.filter(pk=row.pk).update(lease_until="2020-01-01T00:00:00Z"))
    swept = await engine.db(generations.sweep)
    assert [(found.pk, found.reason) for found in swept.ended] == [(row.pk, "worker_lost")]
    await engine.idle()
    row = await until(engine, row, "incomplete")
    assert (row.reason, row.usage_output, row.late) == ("worker_lost", None, 1)
    assert await messages(engine) == [("user", "How long?")]


@pytest.mark.parametrize("what", ["conversation", "person", "person elsewhere"])
async def test_deleting_stops_the_reply_and_leaves_no_text(
    engine: EmbeddedEngine,
    provider: ScriptedProvider,
    person: AbstractBaseUser,
    what: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Elsewhere is another process, a shell for one: nobody tells this engine, which finds its lease gone."""
    provider.script = play(T("One "), Stall())
    row = await ask(engine, person)
    page = Page(engine, row.conversation_id)
    row = await until(engine, row, "buffered")
    conversation = row.conversation
    assert conversation is not None
    if what == "person elsewhere":
        launching.unregister_engine(engine)
    await engine.db_for_pages(
        lambda: conversations.delete(conversation, by=person) if what == "conversation" else person.delete()
    )
    if what == "person elsewhere":
        launching.register_engine(engine)
    await asyncio.to_thread(
        provider.wait_until, lambda requests: requests[0].peer_closed_at is not None, timeout_s=1
    )
    async with asyncio.timeout(WAIT_S):
        await engine.idle()
        while not page.closed and what != "person elsewhere":  # noqa: ASYNC110 (a page)
            await asyncio.sleep(0.005)
    left = await engine.db_for_pages(
        lambda: (
            Message.objects.count(),
            Checkpoint.objects.count(),
            list(Generation.objects.values_list("state", "reason")),
        )
    )
    assert left == (0, 0, [("cancelled", "deleted")])
    assert [record.message for record in caplog.records] == []


async def test_frames_of_one_reply_are_numbered_without_a_gap_and_end_with_the_last(
    engine: EmbeddedEngine, provider: ScriptedProvider, person: AbstractBaseUser
) -> None:
    """A page that sees everything sees a prefix at each frame, and nothing after the end."""
    words = [step for n in range(40) for step in (T(f"w{n} "), Wait(5))]
    provider.script = play(*words, FIN("stop"), DONE)
    row = await ask(engine, person)
    page = Page(engine, row.conversation_id)
    final = await page.last()
    await until(engine, row, "confirmed")
    paints = [frame for frame in page.frames if isinstance(frame, Paint)]
    assert [paint.seq for paint in paints] == list(range(paints[0].seq, final.seq))
    assert page.text(1) == "".join(f"w{n} " for n in range(40))[-len(page.text(1)) :]
    assert isinstance(page.frames[-1], Turn)
    assert len(paints) < 40  # throttled: several words to a paint


async def test_the_draft_is_saved_while_it_grows_and_freed_after_its_time(
    make_engine: Make, provider: ScriptedProvider, person: AbstractBaseUser
) -> None:
    engine = await make_engine(store_keep_s=0)
    provider.script = play(T("One "), Wait(300), T("two"), FIN("stop"), DONE)
    row = await ask(engine, person)
    await until(engine, row, "buffered")
    saved: list[tuple[int, str]] = []
    for _ in range(WAIT_S * 100):
        saved = await engine.db_for_pages(
            lambda: list(Checkpoint.objects.filter(pk=row.pk).values_list("seq", "answer"))
        )
        if saved:
            break
        await asyncio.sleep(0.01)
    assert saved == [(1, "One ")]
    await until(engine, row, "confirmed")
    for _ in range(WAIT_S * 100):
        if drafts.STORE.get(row.pk) is None:
            break
        await asyncio.sleep(0.01)
    assert drafts.STORE.get(row.pk) is None
