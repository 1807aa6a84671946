"""The reading: everything that one stream amounted to, as plain values.

Takes nothing; gives the types that `replay`, validation and the tests compare. Does not know how it was read, and says
nothing that a database refuses (`deltas.storable`; docs/lifecycle.md, "What cannot be stored").
"""

from __future__ import annotations

from typing import Any

import msgspec

from chat.streaming.deltas import Usage, storable
from chat.streaming.outcome import Outcome, Reason, Verdict

WORDS = ("provider_reason", "response_id", "detail", "divergence", "last_event")
"""What a reading says beside the texts, often in the provider's own words."""


class ToolCall(msgspec.Struct, frozen=True):
    """One requested call: the argument text as received, parsed (None if it cannot be), and whether it may
    run.

    `complete` is true only when the outcome is `tool_requested`, the call has a name, and its arguments are a
    JSON object. Nothing is ever repaired: an empty text is no object, except where the provider says that it
    means `{}` (Anthropic). `arguments_text` is None where the provider sends objects (Google).
    """

    id: str
    name: str
    arguments_text: str | None
    arguments: Any
    complete: bool


class Reading(msgspec.Struct, frozen=True):
    """What a stream amounted to; while it is open, what it amounts to so far. Its words are storable, whoever made it:
    what a provider says beside its texts is journalled too.

    `rule` names the rule of ours that ended it; `silenced` the one for which its reasoning is not shown any further.
    """

    outcome: Outcome
    reason: Reason | None
    provider_reason: str | None
    retryable: bool | None
    answer: str
    reasoning_parts: list[str]
    refusal: str
    tool_calls: list[ToolCall]
    response_id: str | None
    usage: Usage | None
    detail: str = ""
    divergence: str | None = None
    last_event: str | None = None
    late_events: int = 0
    carry: list[Any] = []
    rule: str | None = None
    silenced: str | None = None

    def __post_init__(self) -> None:
        for word in WORDS:
            told = getattr(self, word)
            if told and (kept := storable(told)) != told:
                msgspec.structs.force_setattr(self, word, kept)

    @property
    def confirmable(self) -> bool:
        """Whether validation may look at it at all: the provider's own terminal signal said that it is whole,
        and nothing before it contradicts that.
        """
        return self.outcome is Outcome.complete and self.divergence is None

    @property
    def reasoning(self) -> str:
        """The reasoning parts, joined by one blank line."""
        return "\n\n".join(self.reasoning_parts)


def of_verdict(verdict: Verdict, *, so_far: Reading | None = None) -> Reading:
    """Return a reading that ends with this verdict, whatever had been read before; its calls are not whole."""
    return Reading(
        outcome=verdict.outcome,
        reason=verdict.reason,
        provider_reason=verdict.provider_reason,
        retryable=verdict.retryable,
        detail=verdict.detail,
        answer=so_far.answer if so_far else "",
        reasoning_parts=so_far.reasoning_parts if so_far else [],
        refusal=so_far.refusal if so_far else "",
        tool_calls=[],
        response_id=so_far.response_id if so_far else None,
        usage=so_far.usage if so_far else None,
        last_event=so_far.last_event if so_far else None,
        rule=so_far.rule if so_far else None,
        silenced=so_far.silenced if so_far else None,
    )
