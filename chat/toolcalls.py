"""What becomes of the tool calls of a reply. No tool is offered to any model yet: each call is written down and refused.

Takes a generation that is being ended, with its calls as they were read; gives rows. Only whole calls are proposed: with a
name and arguments that are an object, of a stream whose provider said in its own terminal signal that it wants them. One in
pieces, or one that cannot be read, is none: the end of its generation tells of it. It runs nothing, and knows no tool.
"""

from collections.abc import Sequence

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from chat import journal
from chat.models import Generation, ToolCall
from chat.states.toolcall import Trigger
from chat.streaming.outcome import Reason
from chat.streaming.reading import ToolCall as Call

NAME_CHARS = 200


def refuse(generation: Generation, calls: Sequence[Call], *, actor: str, reason: Reason) -> list[ToolCall]:
    """Propose each whole call and deny it in one breath, in the transaction that ends the generation. Of a reply that calls
    without end the first ones are kept: its verdict tells how many there were."""
    conf, rows = settings.GYMNASIA, []
    whole = [(position, call) for position, call in enumerate(calls) if call.complete]
    for position, call in whole[: conf.max_kept_calls]:
        row = ToolCall.objects.create(
            generation=generation,
            position=position,
            call_id=call.id[:NAME_CHARS],
            name=call.name[:NAME_CHARS],
            arguments=call.said[: conf.max_call_chars],
            arguments_chars=len(call.said),
        )
        journal.fire(row, Trigger.denied, seen=row.state, actor=actor, reason=reason, ended_at=timezone.now())
        rows.append(row)
    return rows


def forget(generations: QuerySet[Generation]) -> None:
    """Take away what was said in the calls of these. That they were made, and what became of them, stays for the audit."""
    ToolCall.objects.filter(generation__in=generations).exclude(arguments="").update(arguments="")
