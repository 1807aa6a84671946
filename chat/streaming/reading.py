"""The reading: everything that one stream amounted to, as plain values.

Takes nothing; gives the types that `replay`, validation and the tests compare. Does not know how it was read, and says
nothing that a database refuses (`deltas.storable`; docs/lifecycle.md, "What cannot be stored").
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

from chat.streaming.deltas import Usage, storable
from chat.streaming.outcome import Outcome, Reason, Verdict

WORDS = ("provider_reason", "response_id", "detail", "divergence", "last_event")
"""What a reading says beside the texts, often in the provider's own words."""

HIDDEN = "…"


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

    @property
    def said(self) -> str:
        """The arguments in the provider's own letters; where it sent an object, that object as JSON."""
        if self.arguments_text is not None:
            return self.arguments_text
        try:
            return "" if self.arguments is None else json.dumps(self.arguments, ensure_ascii=False)
        except RecursionError:  # it was just not too deep where it was read
            return ""


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


def without(reading: Reading, secret: str) -> Reading:
    """Return the reading with that secret in none of its words and in none of its calls: a provider may echo what it was
    asked with, and both are kept for the audit."""
    told = {word: text.replace(secret, HIDDEN) for word in WORDS if (text := getattr(reading, word))}
    calls = [_call_without(call, secret) for call in reading.tool_calls]
    return msgspec.structs.replace(reading, **told, tool_calls=calls)


def _call_without(call: ToolCall, secret: str) -> ToolCall:
    if not any(secret in word for word in (call.id, call.name, call.said)):
        return call
    return ToolCall(
        id=call.id.replace(secret, HIDDEN),
        name=call.name.replace(secret, HIDDEN),
        arguments_text=call.said.replace(secret, HIDDEN),
        arguments=None,  # it can be looked at, and nothing can be done with it
        complete=call.complete,
    )
