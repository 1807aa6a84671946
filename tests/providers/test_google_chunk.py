"""A chunk is read for what is in it, and what is not as it should be is as if it were not there."""

from __future__ import annotations

import json

import pytest

from chat.providers.google_chunk import (
    Candidate,
    Chunk,
    Content,
    Counts,
    Feedback,
    _lenient_chunk,
    read_chunk,
)
from chat.streaming.errors import MalformedStream


@pytest.mark.parametrize(
    ("data", "chunk"),
    [
        ("{}", Chunk()),
        (
            '{"candidates":[{"content":{"parts":[{"text":"x"}]}}]}',
            Chunk([Candidate(Content([{"text": "x"}]))]),
        ),
        ('{"candidates":[{"finishReason":"STOP","index":0}]}', Chunk([Candidate(None, "STOP", 0)])),
        ('{"usageMetadata":{"promptTokenCount":1},"more":[{"x":1}]}', Chunk(usageMetadata=Counts(1))),
        ("[]", None),
        ("7", None),
        ("null", None),
        (
            '{"candidates":{"a":1},"usageMetadata":5,"promptFeedback":[],"responseId":5,"error":0}',
            Chunk([], error=0),
        ),
        (
            '{"candidates":[5,{"content":{"parts":"x"},"finishReason":1,"index":true}],"promptFeedback":{"blockReason":1}}',
            Chunk([Candidate(Content([]))], promptFeedback=Feedback()),
        ),
        ('{"usageMetadata":{"promptTokenCount":"1","candidatesTokenCount":2}}', Chunk([], Counts(None, 2))),
        (
            '{"candidates":[{"content":{"parts":[{"text":"\\ud800"}]}}]}',
            Chunk([Candidate(Content([{"text": "\ud800"}]))]),
        ),
    ],
)
def test_what_is_read(data: str, chunk: Chunk | None) -> None:
    """From the usual to the absurd."""
    assert read_chunk(data) == chunk


@pytest.mark.parametrize("data", ["", "{", "{}x", "[" * 10_000, '{"a":' + "[" * 100_000, '{"a":"\n"}', "<p>"])
def test_what_is_not_json_is_a_fault_of_theirs(data: str) -> None:
    """Its text says how much came, and never what."""
    with pytest.raises(
        MalformedStream, match=f"^expected a JSON object in each event, got {len(data)} characters of"
    ):
        read_chunk(data)


def test_the_lenient_reading_agrees_with_the_quick_one() -> None:
    """Two ways to read the same chunk must not differ in what they hear."""
    counts = {name: number for number, name in enumerate(Counts.__struct_fields__)}
    candidate = {
        "content": {"parts": [{"text": "x"}]},
        "finishReason": "STOP",
        "index": 0,
        "continuationToken": "t",
    }
    value = {
        "candidates": [candidate],
        "usageMetadata": counts,
        "promptFeedback": {"blockReason": "OTHER"},
        "responseId": "r",
        "error": {"code": 1},
    }
    assert set(value) == set(Chunk.__struct_fields__)
    assert set(candidate) == set(Candidate.__struct_fields__)
    assert read_chunk(json.dumps(value)) == _lenient_chunk(value)
