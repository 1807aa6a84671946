"""No body is ever an answer before its own terminal signal, wherever and however it ends."""

from __future__ import annotations

import copy
import random
import re
from itertools import pairwise

import msgspec
import pytest

from chat.providers import WIRES, read
from chat.providers.profiles import profile
from chat.streaming.outcome import Ending
from chat.streaming.pipeline import Pipeline
from tests.recordings.corpus import (
    BORDER,
    RELAXED,
    Case,
    chat_streams,
    contract_cases,
    own_cases,
    streams,
)

CASES = [
    *contract_cases("openai_chat", "openai_compat", "anthropic", "gemini"),
    *contract_cases("openai_responses", "gemini_interactions"),
    *own_cases("openai_chat", "anthropic", "google", "openai_responses", "google_interactions"),
    *chat_streams(),
    *streams("anthropic-messages"),
    *streams("google-generate"),
    *streams("openai-responses"),
]
ENDINGS: tuple[Ending, ...] = ("eof", "cut", "stalled")

SIGNALS = {
    "openai_chat": re.compile(rb"data: ?\[DONE\]"),
    "anthropic": re.compile(rb"(?:event: ?message_stop[\r\n]+)?data: ?\{[^\r\n]*\"type\": ?\"message_stop\""),
    "google": re.compile(rb'"finishReason"'),
    "openai_responses": re.compile(rb'"type": ?"response\.(?:completed|incomplete|failed)"'),
    "google_interactions": re.compile(rb'"event_type": ?"interaction\.completed?"'),
}
FINISH = re.compile(rb'"finish_reason": ?"')
ARRAY_END = re.compile(rb"\](?=\s*\Z)")


def is_array(case: Case) -> bool:
    """Whether the body is Google's other form, which has an end of its own."""
    return case.wire == "google" and case.body.startswith(b"[")


def evidence(case: Case) -> int:
    """Where the event begins that first proves an end; the end of the body if none does."""
    relaxed = case.wire == "openai_chat" and (case.profile or "").replace(".", "") in RELAXED
    signals = ARRAY_END if is_array(case) else FINISH if relaxed else SIGNALS[case.wire]
    signal = signals.search(case.body)
    at = signal.start() if signal else len(case.body)
    return (
        at
        if is_array(case)
        else max((border.end() for border in BORDER.finditer(case.body, 0, at)), default=0)
    )


def early_ends(case: Case, stop: int) -> list[int]:
    """Every event border before that place, and one place, anywhere, inside every event."""
    borders = sorted({border.end() for border in BORDER.finditer(case.body, 0, stop)} | {0, stop})
    chance = random.Random(len(case.body))
    return sorted({*borders, *(chance.randrange(a + 1, b) for a, b in pairwise(borders) if b - a > 1)})


def too_early(case: Case, stop: int, endings: tuple[Ending, ...]) -> list[tuple[int, Ending]]:
    """Where the body, ended there and so, might become an answer.

    It is read once, and a copy of what has read it is closed at each place: to read it anew for each would take minutes,
    and how it is cut changes nothing (test_readings.py).
    """
    wire = WIRES[case.wire]
    pipeline = Pipeline(wire.reader(profile(case.profile)), framing=wire.framing)
    found: list[tuple[int, Ending]] = []
    fed = 0
    for end in early_ends(case, stop):
        pipeline.feed(case.body[fed:end])
        fed = end
        for ending in endings:
            ended = copy.deepcopy(pipeline)
            ended.close(ending)
            if ended.reading().confirmable:
                found.append((end, ending))
    return found


@pytest.mark.parametrize("case", CASES, ids=str)
def test_nothing_is_confirmable_before_the_terminal_signal(case: Case) -> None:
    """Half an answer shown as the answer is the one fault that this product must not have."""
    assert too_early(case, evidence(case), ENDINGS) == []


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.wire == "google" and not is_array(case)], ids=str
)
def test_an_event_stream_of_google_needs_an_orderly_end(case: Case) -> None:
    """No chunk is its last by itself: after a broken connection, or a silence, nobody knows what was still to come."""
    assert too_early(case, len(case.body), ENDINGS[1:]) == []


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case.expected["confirmable"] and (case.wire != "google" or is_array(case))],
    ids=str,
)
def test_the_terminal_signal_survives_a_broken_end(case: Case) -> None:
    """Once the evidence is there, it does not matter how the connection ends."""
    outcomes = {
        read(case.wire, [case.body], profile=case.profile, ending=ending).outcome for ending in ENDINGS
    }
    assert outcomes == {"complete"}


def goes_on(case: Case) -> bool:
    """Whether nothing in the body ends it: Google's events, and chat streams without [DONE], end with their connection."""
    return (
        not is_array(case) if case.wire == "google" else SIGNALS[case.wire].search(case.body) is None
    ) or case.abridged


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.expected["confirmable"] and not goes_on(case)], ids=str
)
def test_what_follows_the_terminal_signal_is_counted_and_changes_nothing(case: Case) -> None:
    """The whole reply once more, with its end: not a letter is added, no total doubled."""
    whole = case.body + b"\n\n"  # one was recorded without its last blank line
    once = read(case.wire, [whole], profile=case.profile)
    twice = read(case.wire, [whole, case.body], profile=case.profile)
    assert twice.late_events > once.late_events
    assert msgspec.structs.replace(twice, late_events=once.late_events) == once
