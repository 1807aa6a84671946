"""The runner's small pure parts; the whole of it is walked in test_embedded.py."""

import uuid
from typing import Any

import pytest
import time_machine

from chat.engine.runner import Refusal, Run, Runner, final_frame, of_verdict, retry_after_s, turn_notice
from chat.models import Generation
from chat.running import Job
from chat.streaming.frames import Final, Snapshot, Turn
from chat.streaming.outcome import Outcome, Reason, Verdict
from chat.streaming.pipeline import Append
from tests.rows import reading


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("", None),
        ("  ", None),
        ("3", 3.0),
        (" 0.5 ", 0.5),
        ("-1", 0.0),
        ("Mon, 30 Nov 2026 12:00:05 GMT", 5.0),
        ("Mon, 30 Nov 2026 11:59:00 GMT", 0.0),
        ("Mon, 30 Nov 2026 12:00:05 -0000", 5.0),
        ("soon", None),
        ("Mon, 99 Nov 2026", None),
        ("nan", None),
        ("inf", None),
    ],
)
@time_machine.travel("2026-11-30T12:00:00Z", tick=False)
def test_retry_after_is_seconds_or_a_date(value: str, seconds: float | None) -> None:
    """RFC 9110, 10.2.3; what is neither says nothing, and nobody waits for ever."""
    assert retry_after_s(value) == seconds


def runner(**knobs: Any) -> Runner:
    parts: Any = type("Parts", (), {"conf": type("Conf", (), {"retry_after_max_s": 60.0, **knobs})})
    return Runner(parts)


@pytest.mark.parametrize(
    ("error", "answer"),
    [
        (ValueError("no"), False),
        (Refusal(Verdict(Outcome.failed, Reason.quota, retryable=False)), False),
        (Refusal(Verdict(Outcome.failed, Reason.quota, retryable=False), 1.0), False),
        (Refusal(Verdict(Outcome.failed, Reason.http_error, retryable=None)), False),
        (Refusal(Verdict(Outcome.failed, Reason.http_error, retryable=True)), True),
        (Refusal(Verdict(Outcome.failed, Reason.rate_limited, retryable=True), 1.5), 1.5),
        (Refusal(Verdict(Outcome.failed, Reason.rate_limited, retryable=True), 60.0), 60.0),
        (Refusal(Verdict(Outcome.failed, Reason.rate_limited, retryable=True), 61.0), False),
    ],
)
def test_who_is_asked_again_and_when(error: Exception, answer: object) -> None:
    """Only what passes by itself, and only within a minute: a person would have gone."""
    assert runner()._wait_before_next(error) == answer
    assert type(runner()._wait_before_next(error)) is type(answer)


def test_a_verdict_keeps_what_had_been_read() -> None:
    """The label of a stopped reply stands under its text, not in its place."""
    so_far = reading("Two", Outcome.open, refusal="No.")
    found = of_verdict(Verdict(Outcome.incomplete, Reason.stalled, detail="silence"), so_far=so_far)
    assert found == reading(
        "Two",
        Outcome.incomplete,
        reason=Reason.stalled,
        refusal="No.",
        detail="silence",
        provider_reason=None,
    )
    assert of_verdict(Verdict(Outcome.failed, Reason.connect_failed, "E", True, "no answer")) == reading(
        "",
        Outcome.failed,
        reason=Reason.connect_failed,
        provider_reason="E",
        retryable=True,
        detail="no answer",
        reasoning_parts=[],
        response_id=None,
        usage=None,
        last_event=None,
    )


def row(**values: Any) -> Generation:
    return Generation(number=3, state="incomplete", reason="stalled", attempt=2, **values)


def test_frames_say_how_a_row_stands() -> None:
    parent, first = uuid.uuid4(), uuid.uuid4()
    ended, following = row(parent_id=parent, retry_of_id=first), Generation(number=4)
    assert turn_notice(ended) == Turn(str(ended.pk), 3, str(parent), "incomplete", "stalled", 2, str(first))
    assert final_frame(ended, seq=8, successor=following) == Final(
        str(ended.pk), 3, 8, "incomplete", "stalled", "", str(following.pk)
    )
    fine = Generation(number=1, state="confirmed")
    assert turn_notice(fine) == Turn(str(fine.pk), 1, None, "confirmed", None, 1, None)
    assert final_frame(fine, seq=1) == Final(str(fine.pk), 1, 1, "confirmed", None, "", None)


class Reader:
    last_event: str | None = None


def run() -> Run:
    return Run(Generation(number=1, fence=4), uuid.uuid4(), paint_interval_ms=40)


def test_a_stream_has_stalled_when_its_events_stand_still() -> None:
    """Comments and pings do not move `last_event`; each event begins the wait anew."""
    one: Any = run()
    begun = one.progress_at
    assert not one.has_stalled(begun + 500, limit_s=3)  # nothing is open yet: another limit holds
    one.reader = Reader()
    one.reader.last_event = "1"
    assert not one.has_stalled(begun + 501, limit_s=3)
    assert not one.has_stalled(begun + 504, limit_s=3)
    assert one.has_stalled(begun + 504.1, limit_s=3)
    one.reader.last_event = "2"
    assert not one.has_stalled(begun + 505, limit_s=3)


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
