"""One run: its clocks, its checkpoints, and the draft that it takes over."""

import uuid
from typing import Any

import pytest

from chat.engine.run import Diverged, Run
from chat.models import Generation
from chat.running import Job
from chat.streaming.frames import Paint, Snapshot
from chat.streaming.pipeline import Append


class Reader:
    accepted = 0


def run() -> Run:
    return Run(Generation(number=1, fence=4), uuid.uuid4(), paint_interval_ms=40)


def test_a_stream_has_stalled_when_its_events_stand_still() -> None:
    """Comments and pings are not counted; each event begins the wait anew."""
    one: Any = run()
    begun = one.progress_at
    assert not one.has_stalled(begun + 500, limit_s=3)  # nothing is open yet: another limit holds
    one.reader = Reader()
    one.reader.accepted = 1
    assert not one.has_stalled(begun + 501, limit_s=3)
    assert not one.has_stalled(begun + 504, limit_s=3)
    assert one.has_stalled(begun + 504.1, limit_s=3)
    one.reader.accepted = 2
    assert not one.has_stalled(begun + 505, limit_s=3)


def test_time_in_which_nobody_could_look_is_no_silence() -> None:
    """A process that was frozen wakes up long after every limit: the provider gets the time that it was not heard."""
    one: Any = run()
    begun = one.progress_at
    one.reader = Reader()
    one.reader.accepted = 1
    assert not one.has_stalled(begun + 1, limit_s=3)
    one.excuse(60)
    assert not one.has_stalled(begun + 64, limit_s=3)
    assert one.has_stalled(begun + 64.1, limit_s=3)


def test_a_draft_is_saved_once_per_growth_and_not_while_it_ends() -> None:
    """What is appended but not painted is in no checkpoint."""
    one: Any = run()
    one.append([Append("reasoning", "Think."), Append("answer", "Two")])
    assert one.save() is None  # not claimed
    one.job = Job(Generation(number=1, fence=4), one.conversation_id, None, None)  # type: ignore[arg-type]
    assert one.save() is None  # not painted
    one.draft.paint()
    save = one.save()
    assert (save.generation_id, save.fence, save.text) == (
        one.generation_id,
        4,
        Snapshot(1, 2, "Two", "Think.", ""),
    )
    assert one.save() is None
    one.append([Append("answer", " minutes")])
    one.draft.paint()
    one.ending = True
    assert one.save() is None


def test_what_people_have_seen_must_come_again_to_the_letter() -> None:
    """A generation that is taken over paints only what is new, and its numbers go on; it never says something else."""
    one = run()
    one.restore(Snapshot(1, 7, "Two min", "Think.", ""))
    one.append([Append("reasoning", "Thi"), Append("reasoning", "nk."), Append("answer", "Two ")])
    assert one.draft.paint() == []
    one.append([Append("answer", "minutes"), Append("answer", ".")])
    assert one.draft.paint() == [Paint(1, 8, "utes.", "answer")]
    assert one.draft.snapshot() == Snapshot(1, 8, "Two minutes.", "Think.", "")
    assert (one.draft.covers(6), one.draft.covers(7), one.draft.covers(9)) == (False, True, False)
    other = run()
    other.restore(Snapshot(1, 7, "Two min", "", ""))
    with pytest.raises(Diverged):
        other.append([Append("answer", "Three")])
