"""How a generation ended: the outcomes, one enum of reasons, and the verdict that joins them.

Takes nothing; gives the words. Does not know which provider's word means which of them: that is each wire's
table.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

import msgspec

Ending = Literal["eof", "cut", "stalled"]
"""How the body ended: in order, by a transport error, or not at all (the idle limit passed)."""


class Outcome(StrEnum):
    """What the provider's bytes amount to; only `complete` may become an answer."""

    complete = "complete"
    tool_requested = "tool_requested"
    incomplete = "incomplete"
    refused = "refused"
    failed = "failed"
    open = "open"


class Reason(StrEnum):
    """Why it ended short of an answer, in our word; each has one meaning wherever it appears."""

    # The provider stopped short, and said so.
    max_tokens = "max_tokens"
    context_window = "context_window"
    content_filter = "content_filter"
    paused = "paused"
    continuation = "continuation"
    cancelled = "cancelled"
    incomplete = "incomplete"
    provider_notice = "provider_notice"
    unknown = "unknown"
    # The end was never seen.
    stream_truncated = "stream_truncated"
    connection_lost = "connection_lost"
    stalled = "stalled"
    worker_lost = "worker_lost"
    # The provider, or a rule of ours, said no.
    model_refusal = "model_refusal"
    refusal = "refusal"
    prompt_blocked = "prompt_blocked"
    policy = "policy"
    ungrounded = "ungrounded"
    invalid_plan = "invalid_plan"
    # Something is broken.
    provider_error = "provider_error"
    malformed_tool_call = "malformed_tool_call"
    unexpected_tool_call = "unexpected_tool_call"
    empty_answer = "empty_answer"
    divergent = "divergent"
    event_too_large = "event_too_large"
    malformed_stream = "malformed_stream"
    bad_response = "bad_response"
    connect_failed = "connect_failed"
    http_error = "http_error"
    rate_limited = "rate_limited"
    quota = "quota"
    unauthorized = "unauthorized"
    not_found = "not_found"
    # We ended it.
    shutdown = "shutdown"
    deadline = "deadline"
    deleted = "deleted"
    internal = "internal"


ENDING_REASONS: dict[Ending, Reason] = {
    "eof": Reason.stream_truncated,
    "cut": Reason.connection_lost,
    "stalled": Reason.stalled,
}
"""Why a stream without its terminal signal is incomplete."""


class Verdict(msgspec.Struct, frozen=True):
    """One judgement: the outcome, our reason, the provider's own word.

    `retryable` is said for failures only; `retry_after_s` where a provider says in its body how long to wait. `detail` is
    for the journal: it holds no prompt text and no keys.
    """

    outcome: Outcome
    reason: Reason | None = None
    provider_reason: str | None = None
    retryable: bool | None = None
    detail: str = ""
    retry_after_s: float | None = None
