"""Google's stream means the same as events and as the JSON array that it is without them."""

from __future__ import annotations

import json

import msgspec
import pytest

from chat.providers import read
from chat.streaming.reading import Reading
from tests.recordings.corpus import Case, contract_cases, own_cases, streams

# An error that was pasted into the events has no place in an array.
CASES = [
    case
    for case in [*contract_cases("gemini"), *own_cases("google"), *streams("google-generate")]
    if b"\n{" not in case.body and not case.body.startswith(b"[")
]


def as_array(case: Case, indent: int | None) -> bytes:
    """The same chunks, laid out as one array."""
    events = read("sse", [case.body]).events
    values = [json.loads(event.data) for event in events]
    return json.dumps(values, indent=indent, ensure_ascii=False).encode()


def meant(reading: Reading) -> Reading:
    """A reading without its count of accepted events: the array's end is one more."""
    return msgspec.structs.replace(reading, last_event=None)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_both_forms_are_read_alike(case: Case) -> None:
    """Whole, laid out over lines, and byte by byte."""
    whole = meant(read("google", [case.body]))
    for indent in (None, 2):
        body = as_array(case, indent)
        assert meant(read("google", [body])) == whole
        assert meant(read("google", (body[at : at + 1] for at in range(len(body))))) == whole


@pytest.mark.parametrize("case", [case for case in CASES if case.expected["confirmable"]], ids=str)
def test_an_array_without_its_end_is_no_answer(case: Case) -> None:
    """However late it breaks off, and however orderly the body ends."""
    body = as_array(case, 1)
    ends = {len(body) - 1, len(body) - 2, len(body) // 2, *range(0, len(body), max(1, len(body) // 100))}
    assert [end for end in sorted(ends) if read("google", [body[:end]]).confirmable] == []
