"""The embedded engine before a provider that refuses, is away, is silent or echoes a key, and on a locked database."""

import asyncio
import contextlib
import json
import time
import zlib
from typing import Any

import pytest
import stamina
from django.contrib.auth.models import AbstractBaseUser
from django.db import connection

from chat.engine.embedded import EmbeddedEngine
from chat.models import Generation, JournalRow
from chat.providers.base import Secret
from tests.engine.conftest import Make, ask, until
from tests.engine.listening import journal
from tests.fakes.provider import ScriptedProvider
from tests.fakes.script import (
    DONE,
    FIN,
    SSE_HEADERS,
    Cut,
    Reset,
    Script,
    Stall,
    T,
    Wait,
    chunk,
    headless,
    page,
    play,
    whole_answer,
)


async def test_a_refused_request_is_sent_again_while_queued_and_retry_after_is_honoured(
    engine: EmbeddedEngine, provider: ScriptedProvider, person: AbstractBaseUser
) -> None:
    """Only while nothing was opened, and not before the provider wants it."""
    slow_down = b'{"error":{"message":"Slow down.","type":"rate_limit_error","code":"rate_limit_exceeded"}}'
    provider.queue.extend([page(slow_down, status=429, Retry_After="0.3"), whole_answer("At last.")])
    row = await until(engine, await ask(engine, person), "confirmed")
    first, second = provider.requests
    assert second.received_at - first.received_at >= 0.3
    assert row.requests == 2
    assert (await journal(engine, row))[0] == "queued opened received"


@pytest.mark.parametrize(
    ("script", "reason", "requests"),
    [
        (page(b'{"error":{"message":"no","type":"invalid_request_error"}}', status=401), "unauthorized", 1),
        (page(b'{"error":{"message":"pay","type":"insufficient_quota"}}', status=429), "quota", 1),
        (page(b"<html>hello</html>", content_type="text/html"), "bad_response", 1),
        (page(b'{"choices":[{"message":{"content":"Two."}}]}'), "bad_response", 1),
        (page(b"", content_type=""), "bad_response", 1),
        (page(T("Two.") + FIN("stop") + DONE, content_type="text/plain"), "bad_response", 1),
        (page(b'{"error":{"message":"down","type":"server_error"}}', status=503), "http_error", 3),
    ],
)
async def test_a_request_that_is_refused_for_good_fails_with_a_reason(
    engine: EmbeddedEngine,
    provider: ScriptedProvider,
    person: AbstractBaseUser,
    script: Any,
    reason: str,
    requests: int,
) -> None:
    """Quota and invalid requests are not sent again; what is not a stream is not read as one; no new generation."""
    provider.script = script
    row = await until(engine, await ask(engine, person), "failed")
    assert (row.reason, len(provider.requests)) == (reason, requests)
    assert await engine.db_for_pages(Generation.objects.count) == 1


@pytest.mark.parametrize(
    ("script", "reason", "requests"),
    [
        (headless(b"SSH-2.0-OpenSSH_9.2\r\n"), "bad_response", 1),
        (headless(b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n"), "bad_response", 1),
        (headless(b"HTTP/1.1 200 OK\r\nX: " + b"y" * 1_000_000), "bad_response", 1),
        (headless(b"HTTP/1.1 200 OK\r\nContent-Type: text/ev", Cut()), "bad_response", 1),
        (headless(b"", Cut()), "connect_failed", 3),
        (headless(b"", Reset()), "connect_failed", 3),
    ],
    ids=["no HTTP", "a length that is none", "a header of a megabyte", "half a head", "nothing", "a reset"],
)
async def test_where_a_byte_of_an_answer_came_the_request_is_not_sent_again(
    engine: EmbeddedEngine,
    provider: ScriptedProvider,
    person: AbstractBaseUser,
    script: Script,
    reason: str,
    requests: int,
) -> None:
    """It has arrived, and may cost as much a second time; where none came, the line alone is to blame."""
    provider.script = script
    row = await until(engine, await ask(engine, person), "failed")
    assert (row.reason, row.requests, len(provider.requests)) == (reason, requests, requests)
    assert row.retryable is (requests > 1)
    assert await engine.db_for_pages(Generation.objects.count) == 1


async def test_who_is_turned_down_together_does_not_come_again_together(
    engine: EmbeddedEngine,
    provider: ScriptedProvider,
    person: AbstractBaseUser,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each wait is drawn anew, and none is longer than the longest that a provider may ask for."""
    asked: list[dict[str, Any]] = []
    context = stamina.retry_context

    def noted(**how: Any) -> Any:
        asked.append(how)
        return context(**how)

    monkeypatch.setattr(stamina, "retry_context", noted)
    provider.script = whole_answer("Two.")
    await until(engine, await ask(engine, person), "confirmed")
    [how] = asked
    assert (how["wait_jitter"] > 0, how["attempts"], how["wait_max"]) == (
        True,
        engine.conf.request_attempts,
        engine.conf.retry_after_max_s,
    )


async def test_a_provider_that_is_not_there_fails_with_a_reason(
    make_engine: Make, person: AbstractBaseUser
) -> None:
    with ScriptedProvider() as gone:
        base_url = gone.base_url
    engine = await make_engine(base_url=base_url)
    row = await until(engine, await ask(engine, person), "failed")
    assert row.reason == "connect_failed"


async def test_silence_and_pings_alone_are_a_stall(
    make_engine: Make, provider: ScriptedProvider, person: AbstractBaseUser
) -> None:
    """Comments keep the line alive, not the reply."""
    engine = await make_engine(no_progress_timeout_s=0.2)
    pings = [step for _ in range(100) for step in (b": ping\n\n", Wait(20))]
    provider.script = play(T("One "), *pings)
    row = await until(engine, await ask(engine, person), "incomplete")
    assert (row.reason, row.checkpoint.answer) == ("stalled", "One ")


async def test_a_flood_of_pings_is_a_stall_too(
    make_engine: Make, provider: ScriptedProvider, person: AbstractBaseUser
) -> None:
    """Though there is always something to read, and far behind it a whole answer."""
    engine = await make_engine(no_progress_timeout_s=0.2)
    packer = zlib.compressobj(wbits=31)
    packed = packer.compress(T("One ")) + packer.compress(b":\n\n" * 20_000_000)
    packed += packer.compress(FIN("stop") + DONE) + packer.flush()
    provider.script = Script((packed,), headers={**SSE_HEADERS, "Content-Encoding": "gzip"})
    row = await until(engine, await ask(engine, person), "incomplete")
    assert (row.reason, row.checkpoint.answer) == ("stalled", "One ")


async def test_silence_is_a_stall(
    make_engine: Make, provider: ScriptedProvider, person: AbstractBaseUser
) -> None:
    engine = await make_engine(idle_timeout_s=0.2)
    provider.script = play(T("One "), Stall())
    row = await until(engine, await ask(engine, person), "incomplete")
    assert (row.reason, row.checkpoint.answer) == ("stalled", "One ")


@pytest.mark.parametrize("where", ["content type", "finish reason", "error", "tool call"])
async def test_a_key_that_the_provider_echoes_is_kept_nowhere(
    make_engine: Make, provider: ScriptedProvider, person: AbstractBaseUser, where: str
) -> None:
    """Not in the row, not in the journal, in whatever field it comes back; no pattern has to know how keys look."""
    key = "open sesame"
    function = {"name": f"find {key}", "arguments": json.dumps({"with": key})}
    call = {"index": 0, "id": key, "type": "function", "function": function}
    provider.script = {
        "content type": page(b"x", content_type=f"text/{key}"),
        "finish reason": play(T("x"), FIN(key), DONE),
        "error": page(json.dumps({"error": {"message": f"no {key}"}}).encode(), status=401),
        "tool call": play(chunk({"tool_calls": [call]}), FIN("tool_calls"), DONE),
    }[where]
    engine = await make_engine(key=Secret(key))
    row = await until(engine, await ask(engine, person), "failed", "incomplete")
    told = await engine.db_for_pages(lambda: list(JournalRow.objects.values_list("reason", "detail")))
    calls = await engine.db_for_pages(lambda: list(row.tool_calls.values_list("name", "arguments")))
    assert key not in f"{row.detail} {row.provider_reason} {row.checks} {told} {calls}"
    assert "…" in f"{row.detail} {row.provider_reason}"
    assert calls == ([("find …", '{"with": "…"}')] if where == "tool call" else [])


async def test_a_locked_database_costs_no_answer(
    make_engine: Make, provider: ScriptedProvider, person: AbstractBaseUser
) -> None:
    """Another process holds the lock for longer than the lease: the stream that ended meanwhile is confirmed after it."""
    engine = await make_engine(lease_s=0.5, sweep_interval_s=0.05)
    provider.script = play(T("One "), Wait(300), T("two"), FIN("stop"), DONE)
    row = await until(engine, await ask(engine, person), "buffered")

    def lock() -> None:
        other = connection.copy()
        with contextlib.closing(other), other.cursor() as cursor:
            cursor.execute("BEGIN EXCLUSIVE" if other.vendor == "sqlite" else "BEGIN")
            if other.vendor == "postgresql":
                cursor.execute("LOCK TABLE chat_generation")
            time.sleep(1.2)  # the fault itself: real time in which nobody can write
            cursor.execute("ROLLBACK")

    await asyncio.to_thread(lock)
    row = await until(engine, row, "confirmed", "incomplete", "failed")
    assert (row.state, row.message.text) == ("confirmed", "One two")
