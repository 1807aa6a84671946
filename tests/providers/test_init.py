"""`read` is the product's reading, from Python."""

from __future__ import annotations

import pytest

from chat.providers import SSE, WIRES, EventLog, read, read_events
from chat.streaming.errors import EventTooLarge
from chat.streaming.outcome import Ending
from chat.streaming.sse import Event

BODY = b'id: 7\nretry: 5\ndata: {"id":"r","choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\n'


def test_a_dialect_decides_what_is_enough() -> None:
    """The same bytes: whole for a relaxed server, cut short for the strict default."""
    endings: tuple[Ending, ...] = ("eof", "cut", "stalled")
    strict = [read("openai_chat", [BODY], profile="acme", ending=ending) for ending in endings]
    relaxed = [read("openai_chat", [BODY], profile="llamacpp", ending=ending) for ending in endings]
    assert [(found.outcome, found.reason, found.provider_reason) for found in strict] == [
        ("incomplete", "stream_truncated", "stop"),
        ("incomplete", "connection_lost", "stop"),
        ("incomplete", "stalled", "stop"),
    ]
    assert [(found.outcome, found.answer, found.last_event) for found in relaxed] == [
        ("complete", "Hi", "1")
    ] * 3


def test_bare_events() -> None:
    """The wire `sse` has no outcome: it gives the events."""
    data = '{"id":"r","choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}'
    assert read(SSE, [BODY]) == EventLog([Event("message", data, "7")], "7", 5)
    with pytest.raises(EventTooLarge):
        read_events([BODY], max_event_bytes=20)


def test_an_unknown_wire_is_an_error() -> None:
    """There is no default wire."""
    assert sorted(WIRES) == ["anthropic", "google", "google_interactions", "openai_chat", "openai_responses"]
    with pytest.raises(KeyError, match="telegraph"):
        read("telegraph", [])


def test_an_empty_body_is_no_answer() -> None:
    """Nothing came, nothing is whole."""
    reading = read("openai_chat", [])
    assert (reading.outcome, reading.reason, reading.last_event, reading.usage) == (
        "incomplete",
        "stream_truncated",
        None,
        None,
    )
