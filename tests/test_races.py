"""A thousand races of Stop against the terminal event, on a real file, each side on a thread and a connection of its own."""

import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Barrier, Event

import pytest
from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from pytest_django import Settings

from chat import generations, running
from chat.models import Generation, JournalRow, Message
from chat.running import Job
from chat.states.generation import GENERATION, State, Trigger
from chat.streaming.outcome import Outcome, Reason
from chat.streaming.reading import Reading
from tests.rows import claimed, closing, cut, draft, opened, person, reading, sent

SEED, RACES, CLICKS = 20261130, 1000, 2
STEP_MS = 0.25

ENDS: dict[str, Reading] = {
    "whole": reading(),
    "a check says no": reading(" "),
    "cut": cut(),
    "line lost": cut(Reason.connection_lost),
    "provider broke": reading("", Outcome.failed, reason=Reason.provider_error, retryable=True),
    "refused": reading("", Outcome.refused, reason=Reason.refusal, refusal="No."),
}
"""What the runner has read in the moment of the click; two of them are followed by a new generation."""


@dataclass(frozen=True)
class Race:
    """One reply that a person, by double click, and its own end want at the same time."""

    job: Job
    end: str
    delays_ms: tuple[float, ...]


def prepared(rng: random.Random, user: AbstractBaseUser, number: int) -> Race:
    """Mostly in mid-text and mostly whole, for that is where it matters; some were never opened."""
    row = sent(user, f"{number}?")
    if rng.random() < 0.1:  # the request was refused for good: no stream, so no end of one
        job, end = claimed(row), rng.choice(("provider broke", "refused"))
    else:
        job, end = opened(row), rng.choice(("whole", "whole", "whole", *ENDS))
    return Race(job, end, tuple(rng.uniform(0, 1.5) for _ in range(CLICKS + 1)))


def replayed(moves: list[JournalRow]) -> str:
    """The state to which a journal leads, link by link."""
    state = GENERATION.initial
    for number, move in enumerate(moves, 1):
        following = GENERATION.next_state(state, Trigger(move.trigger))
        assert (move.sequence, move.from_state, move.to_state) == (number, state, following)
        assert following is not None
        state = following
    return str(state)


@pytest.mark.django_db(transaction=True)
def test_a_thousand_stops_against_the_end_have_one_final_state_each(settings: Settings) -> None:
    """Whoever is first, the other one changes nothing; a message exists if and only if the end of a whole stream won."""
    settings.GYMNASIA = settings.GYMNASIA.but(messages_per_hour=0)  # a thousand are nobody's in an hour
    rng, ana = random.Random(SEED), person()
    with transaction.atomic():
        races = [prepared(rng, ana, number) for number in range(RACES)]
    start, never = Barrier(CLICKS + 1), Event()
    later_ms = [
        0.0
    ]  # by how much the clicks come later; whoever was first is held back a little more the next time

    def run(thread: int) -> list[bool]:
        """The runner is number 0, the others press Stop; True: it was told that it was first."""
        told = []
        for race in races:
            start.wait(30)
            never.wait(max(0, race.delays_ms[thread] + (later_ms[0] if thread else -later_ms[0])) / 1000)
            if thread:
                told.append(generations.cancel(race.job.generation, by=ana))
                continue
            after = running.end(race.job, ENDS[race.end], draft(race.job.generation)).generation
            told.append(after.state != State.cancelled)
            later_ms[0] += -STEP_MS if told[-1] else STEP_MS
        return told

    with ThreadPoolExecutor(CLICKS + 1) as pool:
        answers = list(zip(*pool.map(lambda number: closing(run, number), range(CLICKS + 1)), strict=True))

    journal: dict[object, list[JournalRow]] = {}
    for move in JournalRow.objects.order_by("subject_id", "sequence"):
        journal.setdefault(move.subject_id, []).append(move)
    rows = Generation.objects.in_bulk()
    spoken = dict(Message.objects.filter(kind="answer").values_list("generation_id", "text"))
    followed = {row.retry_of_id: row for row in rows.values() if row.retry_of_id}
    winners: Counter[str] = Counter()
    for race, (ended, *stopped) in zip(races, answers, strict=True):
        row = rows[race.job.generation.pk]
        assert row.state in GENERATION.finals
        assert (replayed(journal[row.pk]), len(journal[row.pk])) == (row.state, row.version)
        assert [move.to_state in GENERATION.finals for move in journal[row.pk]].count(True) == 1
        assert (row.pk in spoken) == (row.state == State.confirmed) == (ended and race.end == "whole")
        assert ended == (row.state != State.cancelled)
        # One click is told that it stopped something, or none is; of a double click never both.
        successor = followed.get(row.pk)
        stops = [row.state == State.cancelled, successor is not None and successor.state == State.cancelled]
        assert sum(stopped) == sum(stops) <= 1
        winners[row.state] += 1
    assert min(winners["cancelled"], winners["confirmed"]) >= RACES // 8, winners
