"""A million broken streams: nothing but the core's own exceptions leaves a stage, and nothing at all leaves a pipeline.

Each input is a body and a way of cutting it. Some bodies are recordings that were mangled, some are pieced together
from the words of a wire, some are bytes. `GYMNASIA_FUZZ_INPUTS` says how many in all (unless told: a million);
`GYMNASIA_FUZZ_SEED` where to begin. What was run is told at the end of each test: see docs/runs/.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import resource
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from chat.providers import WIRES, read_events
from chat.providers.profiles import profile
from chat.streaming.errors import ProviderFault
from chat.streaming.outcome import ENDING_REASONS, Ending
from chat.streaming.pipeline import Pipeline
from chat.streaming.reading import Reading
from chat.streaming.sse import Event
from tests.recordings.corpus import contract_cases, own_cases

pytestmark = pytest.mark.slow

INPUTS = int(os.environ.get("GYMNASIA_FUZZ_INPUTS", "1000000"))
SEED = int(os.environ.get("GYMNASIA_FUZZ_SEED", "1"))
BATCH = 5000  # hypothesis remembers every example of one run
LIMIT_BYTES = 4096
EVERYWHERE_BYTES = 300
GROWTH_KB = 300 * 1024

KINDS = {
    "openai_chat": ("openai_chat", "openai_compat"),
    "openai_responses": ("openai_responses",),
    "anthropic": ("anthropic",),
    "google": ("gemini",),
    "google_interactions": ("gemini_interactions",),
}
TARGETS = ("sse", *KINDS)
PROFILES = (None, "llama.cpp", "azure", "mistral", "tai")
ENDINGS: tuple[Ending, ...] = tuple(ENDING_REASONS)

# What is rare in recordings, and what readers of lines, of UTF-8 and of JSON have stumbled over.
ODD = (
    *(
        b"\n",
        b"\r",
        b"\r\n",
        b"\n\n",
        b"\r\r",
        b"data:",
        b"data: ",
        b"event: error\n",
        b"id: 7\n",
        b": ping\n",
    ),
    *(
        b"retry: 1\n",
        b"\xef\xbb\xbf",
        b"\xe2\x80\xa8",
        b"\xc2\x85",
        b"\xff",
        b"\xe2\x82",
        b"\xf0\x9f\x98",
        b"\0",
    ),
    *(
        b"{",
        b"}",
        b"[",
        b"]",
        b'"',
        b"\\",
        b",",
        b":",
        b"\\ud83d",
        b"\\u0000",
        b"NaN",
        b"-0",
        b"1e999",
        b"9" * 400,
    ),
    *(
        b"null",
        b"true",
        b"{}",
        b"[]",
        b'""',
        b"[" * 300,
        b'{"a":' * 300,
        b"[DONE]",
        b"data: [DONE]\n\n",
        b"x" * 5000,
    ),
)


def recordings(target: str) -> list[bytes]:
    """The small bodies of a wire: those that were made by hand, and our own."""
    kinds = KINDS.get(target, ("sse",))
    cases = [*contract_cases(*kinds), *(own_cases(target) if target in KINDS else ())]
    return [case.body for case in cases if len(case.body) <= 8 * 1024]


def words(bodies: list[bytes]) -> list[bytes]:
    """What a wire's bodies are made of: their events, their lines, the names and the values in their JSON."""
    found: set[bytes] = set()
    for body in bodies:
        found |= {
            event + b"\n\n" for event in body.replace(b"\r\n", b"\n").split(b"\n\n") if len(event) < 800
        }
        for line in body.splitlines():
            try:
                value = json.loads(line.partition(b":")[2] if line.startswith(b"data") else line)
            except ValueError:
                continue
            found |= {json.dumps(word).encode() for word in leaves(value)}
    return sorted(found)


def leaves(value: object) -> Iterator[object]:
    """Every key and every plain value, and each object by itself."""
    if isinstance(value, dict):
        yield from value
        if len(value) < 6:
            yield value
        for item in value.values():
            yield from leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item)
    else:
        yield value


def bodies(target: str) -> st.SearchStrategy[bytes]:
    """Mangled recordings, patchwork, and bytes."""
    whole = recordings(target)
    piece = st.sampled_from(ODD) | st.sampled_from(words(whole)) | st.binary(max_size=6)
    edit = st.tuples(st.integers(0, 8 * 1024), st.integers(0, 40), piece)
    mangled = st.builds(mangle, st.sampled_from(whole), st.lists(edit, max_size=5))
    patchwork = st.lists(piece, max_size=25).map(b"".join)
    as_events = st.lists(piece, max_size=12).map(
        lambda parts: b"".join(b"data: " + one + b"\n\n" for one in parts)
    )
    return mangled | patchwork | as_events | st.binary(max_size=60)


def mangle(body: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
    """Put pieces in the place of stretches."""
    for place, length, piece in edits:
        at = place % (len(body) + 1)
        body = body[:at] + piece + body[at + length :]
    return body


def cut(body: bytes, places: list[int]) -> list[bytes]:
    """Cut a body at places."""
    borders = sorted({0, len(body), *(place % (len(body) + 1) for place in places)})
    return [body[start:end] for start, end in itertools.pairwise(borders)]


def read_through(target: str, name: str | None, chunks: list[bytes], ending: Ending) -> Reading:
    """Read as the product does; whatever the bytes are, nothing is raised."""
    wire = WIRES[target]
    pipeline = Pipeline(wire.reader(profile(name)), max_event_bytes=LIMIT_BYTES, framing=wire.framing)
    for chunk in chunks:
        pipeline.feed(chunk)
    pipeline.close(ending)
    pipeline.release()
    return pipeline.reading()


def ways(body: bytes, places: list[int]) -> list[list[bytes]]:
    """The ways of cutting that each body is tried with: not at all, at some places, and short ones at every place."""
    found = [[body], cut(body, places)]
    if len(body) <= EVERYWHERE_BYTES:
        found.append([body[at : at + 1] for at in range(len(body))])
    return found


def check_wire(target: str, body: bytes, places: list[int], name: str | None, ending: Ending) -> int:
    """The same reading for every way of cutting; the reader by itself raises only what the pipeline expects."""
    tried = ways(body, places)
    readings = [read_through(target, name, chunks, ending) for chunks in tried]
    assert readings[1:] == readings[:1] * (len(tried) - 1)
    reader = WIRES[target].reader(profile(name))
    with contextlib.suppress(ProviderFault):
        reader.feed(Event("message", body.decode("utf-8", "replace"), ""))
    reader.close(ending)
    return len(tried)


def check_sse(body: bytes, places: list[int]) -> int:
    """The same events for every way of cutting, or the one exception that a giant is."""
    found, tried = [], ways(body, places)
    for chunks in tried:
        try:
            found.append(repr(read_events(chunks, max_event_bytes=LIMIT_BYTES)))
        except ProviderFault as error:
            found.append(repr(error))
    assert found[1:] == found[:1] * (len(tried) - 1)
    return len(tried)


def run(target: str, inputs: int, first_seed: int) -> int:
    """Try that many inputs, in batches with seeds of their own."""
    tried = 0
    body, places = bodies(target), st.lists(st.integers(0, 8 * 1024), max_size=4)
    name, ending = st.sampled_from(PROFILES), st.sampled_from(ENDINGS)

    def one(body: bytes, places: list[int], name: str | None, ending: Ending) -> None:
        nonlocal tried
        if target == "sse":
            tried += check_sse(body, places)
        else:
            tried += check_wire(target, body, places, name, ending)

    how = settings(
        max_examples=BATCH,
        database=None,
        deadline=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    number = 0
    while tried < inputs:
        # Each batch is a test of its own: hypothesis keeps what it tried for as long as one test runs.
        batch: Callable[[], None] = seed(first_seed + number)(how(given(body, places, name, ending)(one)))
        batch()
        number += 1
    return tried


@pytest.mark.parametrize("target", TARGETS)
def test_no_bytes_break_a_reader(target: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Providers, gateways and proxies send what nobody thinks of; a reader that raises loses a person's draft."""
    began, before_kb = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    tried = run(target, -(-INPUTS // len(TARGETS)), SEED)
    grown_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kb
    with capsys.disabled():
        taken = time.monotonic() - began
        sys.stdout.write(
            f"\n{target}: {tried} inputs from seed {SEED} in {taken:.0f} s; memory grew by {grown_kb / 1024:.0f} MB\n"
        )
    assert grown_kb < GROWTH_KB


ENDLESS = {
    "a line without an end": (b"data: ", b"x" * 65536),
    "data lines without a blank one": (b"", b"data: xxxxxxxxxxxx\n" * 4096),
    "a comment without an end": (b":", b"x" * 65536),
    "comments": (b"", b": ping\n\n" * 8192),
    "blank lines": (b"", b"\n" * 65536),
    "an array without an end": (b"[", b"[" * 65536),
    "a string without an end": (b'[{"a":"', b"x" * 65536),
    "half characters": (b"", b"\xf0\x9f\x98" * 20000),
    "bytes that are no text": (b"", b"\xff" * 65536),
    "ids": (b"", b"id: 12345678\nevent: some\n" * 2600),
}


@pytest.mark.parametrize("target", KINDS)
@pytest.mark.parametrize("kind", ENDLESS)
def test_no_endless_event_fills_the_memory(target: str, kind: str) -> None:
    """Four megabytes through a limit of 64 KB leave less than one behind."""
    head, piece = ENDLESS[kind]
    wire = WIRES[target]
    pipeline = Pipeline(wire.reader(profile(None)), max_event_bytes=65536, framing=wire.framing)
    tracemalloc.start()
    pipeline.feed(head)
    for _ in range(64):
        pipeline.feed(piece)
    kept_bytes, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept_bytes < 1024 * 1024
    assert peak_bytes < 12 * 1024 * 1024
    assert not pipeline.reading().confirmable


def test_the_recordings_are_the_dictionary() -> None:
    """A fuzz without the words of the wires finds nothing: they must be there."""
    found = {target: (len(recordings(target)) > 5, len(words(recordings(target))) > 30) for target in KINDS}
    assert found == dict.fromkeys(KINDS, (True, True))
    assert Path(__file__).parents[2].joinpath("docs", "runs").is_dir()
