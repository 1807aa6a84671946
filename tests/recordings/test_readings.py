"""Every recorded body gives its expected reading, and the same one for every way the network may cut its bytes."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
import pytest

from chat.providers import read
from chat.providers.responses_reader import OpenAIResponsesReader
from chat.streaming.pipeline import Pipeline
from chat.streaming.reading import Reading
from tests.recordings.corpus import (
    BORDER,
    READING_KEYS,
    STREAMS,
    Case,
    chat_streams,
    contract_cases,
    hashed,
    own_cases,
    streams,
    streams_are_here,
)

SSE = contract_cases("sse")
HAND_MADE = [
    *contract_cases("openai_chat", "openai_compat", "anthropic", "gemini"),
    *contract_cases("openai_responses", "gemini_interactions"),
    *own_cases("openai_chat", "anthropic", "google", "openai_responses", "google_interactions"),
]
CHAT_STREAMS = chat_streams()
OTHER_STREAMS = [
    *streams("anthropic-messages"),
    *streams("google-generate"),
    *streams("openai-responses"),
]
STREAMED = [*CHAT_STREAMS, *OTHER_STREAMS]

SMALL_BYTES = 8 * 1024
SEEDED_CUTS = 2000
STRIDE_BYTES = 100


def cuts(body: bytes) -> Iterable[int]:
    """Every position of a small body; of a large one 2,000, with those around each event border among them."""
    if len(body) <= SMALL_BYTES:
        return range(1, len(body))
    near = {match.end() + shift for match in BORDER.finditer(body) for shift in (-1, 0, 1)}
    near &= set(range(1, len(body)))
    rest = sorted(set(range(1, len(body))) - near)
    more = random.Random(len(body)).sample(rest, max(0, min(len(rest), SEEDED_CUTS - len(near))))
    return sorted(near | set(more))


def random_pieces(body: bytes, seed: int) -> Iterator[bytes]:
    """Cut a body into pieces of 1 to 300 bytes."""
    chance = random.Random(seed)
    start = 0
    while start < len(body):
        size = chance.choice((1, 2, 3, 17, 80, 300))
        yield body[start : start + size]
        start += size


def strides(body: bytes) -> Iterator[list[bytes]]:
    """Ways of cutting that together cut at every position of the body, each into pieces of one size but the first."""
    size = min(STRIDE_BYTES, len(body))
    for first in range(1, size + 1):
        yield [body[:first], *(body[start : start + size] for start in range(first, len(body), size))]


def reading(case: Case, chunks: Iterable[bytes]) -> Reading:
    """Read a case's chunks."""
    assert case.ending in ("eof", "cut")
    if case.abridged and case.wire == "openai_responses":
        return read_abridged(chunks)
    return read(case.wire, chunks, profile=case.profile, ending="cut" if case.ending == "cut" else "eof")


def read_abridged(chunks: Iterable[bytes]) -> Reading:
    """Read a recording of Responses that leaves events out."""
    pipeline = Pipeline(OpenAIResponsesReader(abridged=True))
    for chunk in chunks:
        pipeline.feed(chunk)
    pipeline.close("eof")
    return pipeline.reading()


def shown(found: Reading) -> dict[str, Any]:
    """A reading as the JSON files beside the bodies describe it."""
    values: dict[str, Any] = msgspec.to_builtins({key: getattr(found, key) for key in READING_KEYS})
    return values


def shown_hashed(found: Reading) -> dict[str, Any]:
    """A reading as the manifest of the recorded streams describes it (it knows no response ids)."""
    values = shown(found)
    del values["response_id"]
    values["reasoning"] = "".join(found.reasoning_parts)
    for kind in ("answer", "reasoning", "refusal"):
        values[kind] = hashed(values[kind])
    values["tool_calls"] = [
        (call["name"], call["arguments_text"], call["arguments"], call["complete"])
        for call in values["tool_calls"]
    ]
    return values


def differing_cuts(case: Case, whole: Reading) -> list[int]:
    """The positions where cutting the body in two changes the reading."""
    return [cut for cut in cuts(case.body) if reading(case, (case.body[:cut], case.body[cut:])) != whole]


def differing_pieces(case: Case, whole: Reading, seeds: int = 10) -> list[str]:
    """The other ways of cutting that change the reading: byte by byte, and some random ones."""
    ways: dict[str, Iterable[bytes]] = {"bytes": (case.body[i : i + 1] for i in range(len(case.body)))}
    ways |= {f"seed {seed}": random_pieces(case.body, seed) for seed in range(seeds)}
    return [name for name, chunks in ways.items() if reading(case, chunks) != whole]


@pytest.mark.parametrize("case", HAND_MADE, ids=str)
def test_the_hand_made_answer_is_read(case: Case) -> None:
    """The contract, and our own bodies, say what must be concluded, to the last key."""
    assert shown(reading(case, [case.body])) == case.expected


@pytest.mark.parametrize("case", HAND_MADE, ids=str)
def test_no_way_of_cutting_changes_a_hand_made_body(case: Case) -> None:
    """A reading that depends on the network's cuts is a fault that nobody can reproduce."""
    whole = reading(case, [case.body])
    assert (differing_pieces(case, whole), differing_cuts(case, whole)) == ([], [])


@pytest.mark.parametrize("case", SSE, ids=str)
def test_events_are_those_of_the_standard(case: Case) -> None:
    """Bare events: whole, byte by byte, and cut at every position."""
    body = case.body
    ways: list[Iterable[bytes]] = [[body], (body[i : i + 1] for i in range(len(body)))]
    ways += [(body[:cut], body[cut:]) for cut in range(len(body) + 1)]
    logs = [msgspec.to_builtins(read("sse", chunks)) for chunks in ways]
    assert logs == [case.expected] * len(ways)


def test_the_recorded_streams_are_here() -> None:
    """Without them the tests below are empty, and look green."""
    if not streams_are_here():
        pytest.skip(
            f"no recorded streams at {STREAMS}: NOT PROVEN that real providers' streams give their expected "
            "readings, at any cut, and that none of them is confirmable before its terminal signal"
        )
    assert (len(CHAT_STREAMS) > 100, len(OTHER_STREAMS) > 170) == (True, True)


@pytest.mark.skipif(not STREAMED, reason="the recorded streams are not here")
@pytest.mark.parametrize("case", STREAMED, ids=str)
def test_a_recorded_stream_gives_its_expected_reading(case: Case) -> None:
    """What the manifest counted, with code that is not ours, is what we read."""
    assert shown_hashed(reading(case, [case.body])) == case.expected


@pytest.mark.skipif(not STREAMED, reason="the recorded streams are not here")
@pytest.mark.parametrize("case", CHAT_STREAMS, ids=str)
def test_no_way_of_cutting_changes_a_recorded_chat_stream(case: Case) -> None:
    """Real bodies hold what nobody thinks of writing by hand."""
    whole = reading(case, [case.body])
    assert (differing_pieces(case, whole), differing_cuts(case, whole)) == ([], [])


@pytest.mark.skipif(not STREAMED, reason="the recorded streams are not here")
@pytest.mark.parametrize("case", OTHER_STREAMS, ids=str)
def test_no_way_of_cutting_changes_a_recorded_stream(case: Case) -> None:
    """Every position of every body, many of them per reading: two pieces each would take minutes, and show no more."""
    whole = reading(case, [case.body])
    differing = [len(pieces[0]) for pieces in strides(case.body) if reading(case, pieces) != whole]
    assert (differing_pieces(case, whole, seeds=3), differing) == ([], [])
