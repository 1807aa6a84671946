"""The only writer of any `state`: one door, `fire`.

It takes a subject as its caller saw it and a trigger, looks the next state up in the subject's table, and moves the row by
compare-and-set together with a journal row. It does not know why anything moves.
"""

from enum import StrEnum
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet

from chat.models import Generation, JournalRow, Subject, ToolCall
from chat.states import generation, toolcall
from chat.states.machine import Machine
from chat.streaming.outcome import Reason

SUBJECTS: dict[type[Generation | ToolCall], tuple[Subject, Machine[Any, Any]]] = {
    Generation: (Subject.GENERATION, generation.GENERATION),
    ToolCall: (Subject.TOOL_CALL, toolcall.TOOL_CALL),
}
"""What has a state: its name in the journal, and its table."""


class Fired(StrEnum):
    """What became of a trigger. Losing is an answer, not an exception."""

    MOVED = "moved"
    LATE = "late"  # the state is final: counted, nothing changed
    LOST = "lost"  # someone else moved the row first, or the fence is stale
    GONE = "gone"  # there is no such row any more


def fire(
    subject: Generation | ToolCall,
    trigger: generation.Trigger | toolcall.Trigger,
    *,
    seen: str,
    actor: str,
    reason: Reason | None = None,
    detail: str = "",
    fence: int | None = None,
    supersede: bool = False,
    **changes: Any,
) -> Fired:
    """Move `subject` out of the state `seen` by `trigger`; `changes` are written with the move.

    A runner must pass its `fence`. With `supersede` the row is taken from its runner: the fence moves on and the lease
    ends, so that nothing which that runner still writes counts. On MOVED the subject in hand holds the new state and
    version. Raises `IllegalTransition` where a non-final state has no cell for the trigger: that is a bug of ours. A tool
    call has no runner and no lease of its own: it knows neither `fence` nor `supersede`.
    """
    model = type(subject)
    name, machine = SUBJECTS[model]
    target = machine.next_state(machine.states(seen), machine.triggers(trigger))
    if target is None:
        return _late(subject)
    rows: QuerySet[Any] = model.objects.filter(pk=subject.pk, state=seen, version=subject.version)
    if fence is not None:
        rows = rows.filter(fence=fence)
    values: dict[str, Any] = {**changes, "state": str(target), "version": subject.version + 1}
    if supersede and isinstance(subject, Generation):
        values |= {"fence": subject.fence + 1, "owner": "", "lease_until": None}
    if reason is not None:
        values["reason"] = str(reason)
    if detail:
        values["detail"] = detail
    with transaction.atomic():
        if rows.update(**values) == 0:
            return _lost(subject)
        JournalRow.objects.create(
            subject=name,
            subject_id=subject.pk,
            sequence=subject.version + 1,
            trigger=str(trigger),
            from_state=seen,
            to_state=str(target),
            actor=actor,
            reason=str(reason or ""),
            detail=detail,
            fence=fence,
        )
    for column, value in values.items():
        setattr(subject, column, value)
    return Fired.MOVED


def _lost(subject: Generation | ToolCall) -> Fired:
    """Tell apart why no row matched: gone, final by now, or moved on by someone else."""
    _, machine = SUBJECTS[type(subject)]
    now = type(subject).objects.filter(pk=subject.pk).values_list("state", flat=True).first()
    if now is None:
        return Fired.GONE
    return _late(subject) if machine.is_final(machine.states(now)) else Fired.LOST


def _late(subject: Generation | ToolCall) -> Fired:
    rows: QuerySet[Any] = type(subject).objects.filter(pk=subject.pk)
    return Fired.LATE if rows.update(late=F("late") + 1) else Fired.GONE
