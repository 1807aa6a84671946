"""No body is ever an answer before its own terminal signal, wherever and however it ends."""

from __future__ import annotations

import random
import re

import pytest

from chat.providers import read
from chat.streaming.outcome import Ending
from tests.recordings.corpus import BORDER, RELAXED, Case, chat_streams, contract_cases, own_cases

CASES = [*contract_cases("openai_chat", "openai_compat"), *own_cases(), *chat_streams()]
ENDINGS: tuple[Ending, ...] = ("eof", "cut", "stalled")

DONE = re.compile(rb"data: ?\[DONE\]")
FINISH = re.compile(rb'"finish_reason": ?"')


def evidence(case: Case) -> int:
    """Where the event begins that first proves an end; the end of the body if none does."""
    relaxed = (case.profile or "").replace(".", "") in RELAXED
    signal = (FINISH if relaxed else DONE).search(case.body)
    at = signal.start() if signal else len(case.body)
    return max((border.end() for border in BORDER.finditer(case.body, 0, at)), default=0)


def early_ends(case: Case) -> list[int]:
    """Every event border before the evidence, and fifty places inside events."""
    stop = evidence(case)
    borders = {border.end() for border in BORDER.finditer(case.body, 0, stop)} | {0, stop}
    chance = random.Random(len(case.body))
    return sorted(borders | {chance.randrange(stop + 1) for _ in range(50)})


@pytest.mark.parametrize("case", CASES, ids=str)
def test_nothing_is_confirmable_before_the_terminal_signal(case: Case) -> None:
    """Half an answer shown as the answer is the one fault that this product must not have."""
    wrong = [
        (end, ending)
        for end in early_ends(case)
        for ending in ENDINGS
        if read("openai_chat", [case.body[:end]], profile=case.profile, ending=ending).confirmable
    ]
    assert wrong == []


@pytest.mark.parametrize("case", [case for case in CASES if case.expected["confirmable"]], ids=str)
def test_the_terminal_signal_survives_a_broken_end(case: Case) -> None:
    """Once the evidence is there, it does not matter how the connection ends."""
    outcomes = {
        read("openai_chat", [case.body], profile=case.profile, ending=ending).outcome for ending in ENDINGS
    }
    assert outcomes == {"complete"}
