"""A call that nobody offered is written down, refused, and never run; what it said goes with its conversation."""

from typing import Any

import pytest
from django.contrib.auth.models import AbstractBaseUser
from django.db import DatabaseError
from pytest_django import Settings

from chat import conversations, generations, journal, running, toolcalls
from chat.models import Generation, JournalRow, ToolCall
from chat.states.toolcall import Trigger
from chat.streaming.outcome import Reason
from chat.streaming.reading import ToolCall as Call
from tests.rows import (
    WHOLE_CALL,
    asking,
    conversation_of,
    cut,
    draft,
    ended,
    fresh,
    messages,
    opened,
    person,
    sent,
)

OBJECT = Call("", "log_set", None, {"kg": 20, "note": "fácil"}, complete=True)
EMPTY = Call("call_3", "now", "", {}, complete=True)
IN_PIECES = Call("call_4", "find_gym", '{"near": ', None, complete=False)


@pytest.fixture
def ana(db: None) -> AbstractBaseUser:
    return person()


def told(row: Generation) -> list[tuple[Any, ...]]:
    columns = (
        "position",
        "call_id",
        "name",
        "arguments",
        "arguments_chars",
        "state",
        "reason",
        "version",
        "late",
    )
    return list(row.tool_calls.order_by("position").values_list(*columns))


def call_moves() -> list[tuple[Any, ...]]:
    rows = JournalRow.objects.filter(subject="tool_call").order_by("pk")
    columns = ("subject_id", "sequence", "from_state", "trigger", "to_state", "actor", "reason", "fence")
    return list(rows.values_list(*columns))


def test_each_whole_call_is_proposed_and_denied_with_the_end_of_its_reply(ana: AbstractBaseUser) -> None:
    """As it came: text in the provider's letters, an object as JSON. One in pieces is none, and keeps its place free."""
    row = ended(sent(ana), asking(WHOLE_CALL, IN_PIECES, OBJECT, EMPTY))
    assert (row.state, row.reason, messages()) == ("failed", "unexpected_tool_call", [("user", "How long?")])
    end = ("rejected", "unexpected_tool_call", 1, 0)
    assert told(row) == [
        (0, "call_1", "find_gym", '{"near": "home"}', 16, *end),
        (2, "", "log_set", '{"kg": 20, "note": "fácil"}', 27, *end),
        (3, "call_3", "now", "", 0, *end),
    ]
    move = (1, "proposed", "denied", "rejected", "runner-1", "unexpected_tool_call", None)
    assert call_moves() == [(call.pk, *move) for call in row.tool_calls.order_by("position")]
    assert all(call.ended_at is not None for call in row.tool_calls.all())
    assert (row.checks[2]["check"], row.checks[2]["passed"]) == ("calls_were_offered", False)


@pytest.mark.parametrize(
    "result",
    [
        cut(tool_calls=[IN_PIECES]),
        cut(Reason.max_tokens, tool_calls=[Call("call_1", "find_gym", "{}", None, complete=False)]),
        asking(IN_PIECES),
    ],
    ids=["cut", "at a limit", "unreadable"],
)
def test_what_is_not_whole_is_no_call(ana: AbstractBaseUser, result: Any) -> None:
    """However complete its arguments read: only the provider's own terminal signal makes a call."""
    row = ended(sent(ana), result)
    assert (row.is_final, row.state == "confirmed", told(row), call_moves()) == (True, False, [], [])


def test_a_stream_that_contradicts_itself_is_refused_with_its_calls(ana: AbstractBaseUser) -> None:
    row = ended(sent(ana), asking(divergence="expected 3 characters, got 4"))
    assert (row.reason, [call[5:7] for call in told(row)]) == ("divergent", [("rejected", "divergent")])


def test_a_reply_that_calls_without_end_and_at_length_is_kept_within_bounds(
    ana: AbstractBaseUser, settings: Settings
) -> None:
    settings.GYMNASIA = settings.GYMNASIA.but(max_kept_calls=2, max_call_chars=5)
    long = Call("i" * 300, "n" * 300, "x" * 70, {}, complete=True)
    row = ended(sent(ana), asking(*[long] * 3))
    assert [call[:5] for call in told(row)] == [(n, "i" * 200, "n" * 200, "xxxxx", 70) for n in (0, 1)]
    assert row.checks[2]["detail"].count("n" * 80) == 3  # the verdict counts them all


def test_who_lost_the_reply_writes_down_no_call(ana: AbstractBaseUser) -> None:
    """A runner whose generation was stopped, or taken from it, knows nothing that counts."""
    row = sent(ana)
    job = opened(row)
    generations.cancel(row, by=ana)
    assert running.end(job, asking(), draft(row)).generation.state == "cancelled"
    assert (told(row), call_moves()) == ([], [])


def test_all_or_nothing(ana: AbstractBaseUser, monkeypatch: pytest.MonkeyPatch) -> None:
    """The end, the row and both journals are one transaction; the runner tries again, and finds nothing half."""
    row = sent(ana)
    job = opened(row)
    fire = journal.fire

    def broken(subject: Any, trigger: Any, **more: Any) -> Any:
        if isinstance(subject, ToolCall):
            raise DatabaseError("disk full")
        return fire(subject, trigger, **more)

    with monkeypatch.context() as patch:
        patch.setattr(journal, "fire", broken)
        with pytest.raises(DatabaseError):
            running.end(job, asking(), draft(row))
    assert (fresh(row).state, told(row)) == ("buffered", [])
    assert running.end(job, asking(), draft(row)).generation.state == "failed"
    assert len(told(row)) == len(call_moves()) == 1


def test_what_was_said_goes_with_its_conversation_and_the_row_stays(ana: AbstractBaseUser) -> None:
    row, other = (ended(sent(ana, text), asking(WHOLE_CALL)) for text in ("Here?", "There?"))
    journalled = call_moves()
    conversations.delete(conversation_of(row), by=ana)
    assert [call[1:6] for call in told(row)] == [("call_1", "find_gym", "", 16, "rejected")]
    assert told(other)[0][3] == '{"near": "home"}'
    assert call_moves() == journalled


def test_a_question_that_is_deleted_takes_along_what_its_reply_called(ana: AbstractBaseUser) -> None:
    row = ended(sent(ana), asking(WHOLE_CALL))
    assert row.parent is not None
    row.parent.delete()
    assert [call[3:5] for call in told(row)] == [("", 16)]


def test_a_refused_call_hears_no_other_word(ana: AbstractBaseUser) -> None:
    """Final is final: an approval that comes later is counted, and moves nothing."""
    call = ended(sent(ana), asking()).tool_calls.get()
    late = journal.fire(call, Trigger.approved, seen=call.state, actor="user:1")
    call.refresh_from_db()
    assert (late, call.state, call.late, len(call_moves())) == ("late", "rejected", 1, 1)


def test_refusing_gives_the_rows_as_they_stand(ana: AbstractBaseUser) -> None:
    row = sent(ana)
    made = toolcalls.refuse(row, [WHOLE_CALL], actor="test", reason=Reason.unexpected_tool_call)
    assert [(call.state, call.version, call.position) for call in made] == [("rejected", 1, 0)]
