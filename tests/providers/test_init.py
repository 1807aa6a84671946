"""`read` is the product's reading, from Python."""

from __future__ import annotations

import pytest

from chat.providers import SSE, WIRES, EventLog, read, read_events
from chat.providers.profiles import STRICT
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


TALK: dict[str, list[tuple[str, int]]] = {
    "openai_chat": [('{"choices":[{"delta":{"content":"a"}}]}', 1), (": PROCESSING", 1)],
    "openai_responses": [
        ('{"type":"response.output_text.delta","output_index":0,"sequence_number":4,"delta":"a"}', 1),
        ('{"type":"response.output_text.delta","output_index":0,"sequence_number":4,"delta":"a"}', 1),
        ('{"type":"keepalive","sequence_number":5}', 1),
        ('{"type":"response.output_text.delta","output_index":0,"delta":"b"}', 2),
    ],
    "anthropic": [
        ('{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}', 1),
        ('{"type":"ping"}', 1),
        ('{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}', 2),
    ],
    "google": [('{"candidates":[{"content":{"parts":[{"text":"a"}]}}]}', 1), (": ping", 1)],
    "google_interactions": [
        (
            '{"event_type":"step.delta","event_id":"same","index":0,"delta":{"type":"text","text":"a"}}',
            number + 1,
        )
        for number in range(2)
    ],
}


@pytest.mark.parametrize("wire", WIRES)
def test_only_what_says_something_is_progress(wire: str) -> None:
    """Not comments, pings and repeated events; and whatever does not move the cursor is: a reply that is being written must
    not be taken for stalled because its events have no numbers, or all the same one.
    """
    reader = WIRES[wire].reader(STRICT)
    for data, accepted in TALK[wire]:
        reader.feed(Event("message", data, ""))
        assert reader.accepted == accepted, data
