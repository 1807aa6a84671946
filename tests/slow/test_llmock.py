"""A check from outside: llmock, a server that breaks what clients rely on and judges them, against the whole engine.

Each wire meets each fault. What must come of it stands in `FAULTS`; what llmock finds fault with, and we refuse to
change, in `REFUSED`, each with its reason. Needs `requirements/outside.txt`.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import AsyncIterator, Iterator
from functools import partial
from typing import Any, NamedTuple

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractBaseUser

from chat import drafts
from chat.engine.embedded import EmbeddedEngine
from chat.models import Generation, Message
from tests.engine.conftest import ask, endpoint_at, until
from tests.engine.staging import FINALS

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]

# Our wire -> the name under which llmock serves it, and what follows the address that llmock gives.
WIRES = {
    "openai_chat": ("openai", ""),
    "openai_responses": ("openai", ""),
    "anthropic": ("anthropic", ""),
    "google": ("gemini", ""),
}


class Fault(NamedTuple):
    """What llmock is told (a behaviour, in its own JSON), and what must come of it.

    `first` is the end of the generation that met the fault; `answered` whether an answer was kept in the end, be it that
    of a generation that followed by itself; `requests` how many were sent in all; `found` what llmock says of it.
    """

    behaviour: dict[str, Any]
    first: tuple[str, str]
    answered: bool
    requests: int
    found: tuple[str, ...] = ()


CONFIRMED = ("confirmed", "")
PASSING = (408, 409, 429, 500, 502, 503, 504, 529)
LASTING = {
    400: "http_error",
    401: "unauthorized",
    403: "unauthorized",
    404: "not_found",
    422: "http_error",
}

FAULTS: dict[str, Fault] = {
    "nothing": Fault({"type": "delay", "seconds": 0.0}, CONFIRMED, answered=True, requests=1),
    "slow head": Fault({"type": "delay", "seconds": 0.3}, CONFIRMED, answered=True, requests=1),
    "slow first token": Fault(
        {"type": "slow_first_token", "seconds": 0.3}, CONFIRMED, answered=True, requests=1
    ),
    **{
        f"HTTP {status}": Fault({"type": "fail", "status": status}, CONFIRMED, answered=True, requests=2)
        for status in PASSING
    },
    **{
        f"HTTP {status}": Fault(
            {"type": "fail", "status": status}, ("failed", reason), answered=False, requests=1
        )
        for status, reason in LASTING.items()
    },
    "Retry-After": Fault(
        {"type": "fail", "status": 429, "retry_after": 0.7, "times": 2}, CONFIRMED, answered=True, requests=3
    ),
    "a wait that nobody waits for": Fault(
        {"type": "fail", "status": 429, "retry_after": 3600},
        ("failed", "rate_limited"),
        answered=False,
        requests=1,
        found=("gave_up",),
    ),
    "outage": Fault(
        {"type": "fail", "status": 503, "times": None}, ("failed", "http_error"), answered=False, requests=3
    ),
    "disconnect": Fault(
        {"type": "stream_fault", "kind": "disconnect", "after_chunks": 3},
        ("incomplete", "connection_lost"),
        answered=True,
        requests=2,
    ),
    "truncate": Fault(
        {"type": "stream_fault", "kind": "truncate", "after_chunks": 3},
        ("incomplete", "stream_truncated"),
        answered=False,
        requests=1,
        found=("truncated_stream_accepted",),
    ),
    "malformed": Fault(
        {"type": "stream_fault", "kind": "malformed", "after_chunks": 3},
        ("failed", "malformed_stream"),
        answered=True,
        requests=2,
    ),
    "a call of a tool that nobody offered": Fault(
        {"type": "reply", "tool_calls": [{"name": "get_weather", "arguments": {"city": "Paris"}}]},
        ("failed", "unexpected_tool_call"),
        answered=False,
        requests=1,
    ),
    "stall": Fault(
        {"type": "stream_fault", "kind": "stall", "after_chunks": 3, "stall_seconds": 5.0},
        ("incomplete", "stalled"),
        answered=False,
        requests=1,
    ),
}

REFUSED = {
    "truncated_stream_accepted": "It is not accepted: the generation is incomplete, no message exists, the draft is "
    "labelled, and a person is offered another try. llmock sees only that nothing was sent again. A polite end is the "
    "provider's own doing, and would be paid for again at each try: what follows by itself is for broken lines.",
    "gave_up": "A provider that asks for an hour is believed: the reply fails at once and says so, instead of holding "
    "a person for longer than `retry_after_max_s`.",
}


@pytest.fixture
def server() -> Iterator[Any]:
    pytest.importorskip("llmock")
    with importlib.import_module("llmock.testing").LLMockServer() as running:
        # Paced: a stream that is sent to its end before we have hung up counts as one that we read to its end.
        running.state.stream_chaos = importlib.import_module("llmock.chaos").StreamChaos(chunk_delay_ms=20)
        yield running


@pytest.fixture
def person(transactional_db: None) -> AbstractBaseUser:
    return get_user_model().objects.create_user("ana", password="right-horse-battery")


@pytest.fixture
async def engines(
    server: Any, transactional_db: None, settings: Any
) -> AsyncIterator[dict[str, EmbeddedEngine]]:
    """One engine for each wire, each before the same server."""
    settings.SYSTEM_PROMPT = "Answer."  # the flow that shows each word at once
    quick = {"retry_backoff_s": 0.2, "checkpoint_interval_ms": 50, "idle_timeout_s": 1.0}
    conf = settings.GYMNASIA = settings.GYMNASIA.but(**quick)
    made = {}
    for wire, (name, rest) in WIRES.items():
        where = {"scripted": endpoint_at(server.base_url(name) + rest, wire=wire)}
        made[wire] = EmbeddedEngine(conf, store=drafts.STORE, endpoints=partial(dict, where))
    yield made
    for engine in made.values():
        if hasattr(engine, "upstream") and not engine.draining:
            await engine.drain()


async def settled(engine: EmbeddedEngine, first: Generation) -> list[Generation]:
    """The generations of a conversation, once the last of them has ended."""
    rows: list[Generation] = []
    for _ in range(2000):
        rows = await engine.db_for_pages(
            lambda: list(Generation.objects.filter(conversation=first.conversation_id).order_by("number"))
        )
        if all(row.state in FINALS for row in rows):
            return rows
        await asyncio.sleep(0.005)
    raise TimeoutError(f"not all have ended: {[(row.state, row.reason) for row in rows]}")


async def meet(engine: EmbeddedEngine, person: AbstractBaseUser, server: Any, fault: Fault) -> Fault:
    """Let the engine meet a fault; give what came of it, in the same form."""
    scenarios = importlib.import_module("llmock.scenarios")
    verdicts = importlib.import_module("llmock.verdict")
    server.state.scenarios.clear()
    server.state.journal.clear()
    server.state.scenarios.add(scenarios.behavior_from_dict(fault.behaviour))
    first = await until(engine, await ask(engine, person), *FINALS)
    await settled(engine, first)
    answers = await engine.db_for_pages(
        lambda: Message.objects.filter(conversation=first.conversation_id, kind="answer").count()
    )
    records = []
    for _ in range(1000):  # a request is recorded when the server has done with it
        records = server.state.journal.records()
        if len(records) >= fault.requests:
            break
        await asyncio.sleep(0.005)
    found = tuple(sorted({finding.code for finding in verdicts.judge(records).findings}))
    end = (first.state, first.reason)
    return Fault(fault.behaviour, end, answers == 1, len(records), found)


@pytest.mark.parametrize("wire", WIRES)
async def test_every_fault_comes_to_what_it_must(
    engines: dict[str, EmbeddedEngine], server: Any, person: AbstractBaseUser, wire: str
) -> None:
    """No Retry-After that is not waited for, no storm of requests, no half answer that is kept."""
    engine = engines[wire]
    await engine.start()
    found = {name: await meet(engine, person, server, fault) for name, fault in FAULTS.items()}
    assert found == FAULTS


def test_what_is_refused_has_its_reason() -> None:
    assert {code for fault in FAULTS.values() for code in fault.found} == set(REFUSED)
