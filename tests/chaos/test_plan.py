"""The plan follows from the seed, holds every kind, and says the truth about its own scripts."""

from collections import Counter

import pytest

from chat import providers
from chat.streaming.outcome import Ending
from tests.chaos.plan import KINDS, RESPONSES, SIGNALS, Run, plan, response, told
from tests.chaos.scripts import Told
from tests.fakes.script import Cut, End, Reset, Stall


def runs(seed: int, count: int) -> list[Run]:
    return [run for wave in plan(seed, count) for run in wave.runs]


@pytest.mark.parametrize("count", [80, 200, 333, 1000])
def test_every_kind_is_there_and_no_run_too_many(count: int) -> None:
    made = runs(3, count)
    assert [run.number for run in made] == list(range(count))
    assert set(Counter(run.kind for run in made)) == set(KINDS)


def test_the_same_seed_gives_the_same_plan() -> None:
    """A fault that was found must be found again."""
    assert plan(5, 200) == plan(5, 200)
    assert plan(5, 200) != plan(6, 200)
    for run in runs(5, 200):
        assert told_or_response(run) == told_or_response(run)
        assert run.stops() == run.stops()


def told_or_response(run: Run) -> object:
    return response(run, 0, "resp_1") if run.wire == "responses" else told(run, 0)


def test_the_signals_have_waves_of_their_own() -> None:
    for wave in plan(1, 500):
        kinds = {run.kind for run in wave.runs}
        assert kinds == {wave.signal} if wave.signal else not kinds & set(SIGNALS)


def played(said: Told) -> tuple[list[bytes], Ending]:
    """The bytes of a script up to its end, and how it ends; a script that says nothing more has stalled."""
    body: list[bytes] = []
    for step in said.script.steps:
        match step:
            case bytes():
                body.append(step)
            case Stall():
                return body, "stalled"
            case Cut() | Reset():
                return body, "cut"
            case End():
                return body, "eof"
    return body, "eof"


@pytest.mark.parametrize("seed", range(3))
def test_what_is_called_whole_is_read_as_whole_and_nothing_else(seed: int) -> None:
    """The oracle against the product's reader, without network: the two were written apart."""
    for run in runs(seed, 300):
        if run.kind in RESPONSES or run.wire == "responses":
            continue
        said = told(run, 0)
        if said.script.status != 200 or "event-stream" not in said.script.headers["Content-Type"]:
            continue
        body, ending = played(said)
        reading = providers.read("openai_chat", body, ending=ending)
        whole = said.whole_at is not None
        assert (run.kind, reading.confirmable and bool(reading.answer)) == (run.kind, whole)
        if whole:
            assert (reading.answer, reading.reasoning) == (said.text, said.reasoning)
