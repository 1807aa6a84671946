"""What the error of an OpenAI-like server means: is it worth another try, and what may be written down of it.

Takes an error object, string or HTTP answer in any of the shapes seen; gives a verdict. Does not know which
generation it ends.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from chat.streaming.deltas import storable
from chat.streaming.outcome import Outcome, Reason, Verdict

DETAIL_CHARS = 300
WORD_CHARS = 100

# Words for what passes by itself. Whatever is not known is not sent again by a machine; a person still may.
_PASSING_TEXT = """
    server_error internal_error internal_server_error api_error rate_limit rate_limit_exceeded rate_limit_error
    slow_down requests tokens overloaded overloaded_error server_overloaded server_is_overloaded engine_overloaded
    engine_overloaded_error capacity_exceeded provider_overloaded provider_unavailable service_unavailable unavailable
    service_unavailable_error timeout timeout_error gateway_timeout bad_gateway network_error connection_error
    insufficient_system_resource internalservererror serviceunavailable vector_store_timeout
"""
_PASSING = frozenset(_PASSING_TEXT.split())
# Words for what does not pass by itself; they win over a passing status such as 429.
_LASTING = re.compile(
    r"insufficient_quota|credit_balance_exhausted|spend_limit|usage_limit|billing|quota_exceeded|context_length"
    r"|exceed_context_size"
    r"|invalid_request|invalid_api_key|content_filter|model_not_found|payment"
)
_QUOTA = re.compile(
    r"insufficient_quota|credit_balance|spend_limit|usage_limit|billing|quota_exceeded|payment"
)
# OpenAI's word and its many followers'; llama.cpp's own, which is also the local model's server.
_TOO_LONG = ("context_length", "exceed_context_size")
_FILTERED = frozenset({"content_filter", "responsibleaipolicyviolation"})

# What looks like a credential: known prefixes, bearer tokens, what follows "key", long mixed strings.
_SECRET = re.compile(
    r"\b(?:sk|pk|gsk|xai|hf|key|csk|pplx|nvapi|r8)[-_][\w*.-]{4,}"
    r"|\bAIza[\w-]{10,}"
    r"|(?i:bearer)\s+\S+"
    r"|(?i:(?<=key=)|(?<=key:)|(?<=key: )|(?<=provided: )|(?<=token=))[^\s,;\"'}]+"
    r"|\b(?=[\w*-]*\d)(?=[\w*-]*[A-Za-z])(?!(?:req|chatcmpl|gen|resp)[_-])[\w*-]{28,}"
)


class Fault(msgspec.Struct, frozen=True):
    """One error as the provider worded it: its most telling word, all its words, its message."""

    word: str | None
    words: tuple[str, ...]
    message: str

    @property
    def is_lasting(self) -> bool:
        """Whether trying again cannot help."""
        return any(_LASTING.search(word) for word in self.words)

    @property
    def is_quota(self) -> bool:
        """Whether somebody has to pay first."""
        return any(_QUOTA.search(word) for word in self.words)

    @property
    def is_filtered(self) -> bool:
        """Whether the prompt itself was refused."""
        return any(word in _FILTERED for word in self.words)

    @property
    def is_too_long(self) -> bool:
        """Whether the prompt is more than the model can hold."""
        return any(told in word for word in self.words for told in _TOO_LONG)

    @property
    def is_passing(self) -> bool:
        """Whether trying again may help."""
        if self.is_lasting:
            return False
        return any(_is_passing_status(word) if word.isdigit() else word in _PASSING for word in self.words)


def read_fault(error: Any) -> Fault:
    """Read an error in any shape: an object, a string, a list of them, an object with one under `error`."""
    if isinstance(error, list) and error:
        error = error[0]
    if not isinstance(error, dict):
        return Fault(None, (), _message(error))
    inner = error.get("error")
    if inner:
        return read_fault(inner)
    nested = [error.get("metadata"), error.get("innererror")]
    candidates = [error.get("code"), error.get("type"), error.get("status"), error.get("status_code")]
    candidates += [
        item.get(name) for item in nested if isinstance(item, dict) for name in ("error_type", "code")
    ]
    words = [word for word in map(_word, candidates) if word]
    message = error.get("message") or error.get("detail") or error.get("msg") or ""
    return Fault(words[0] if words else None, tuple(word.lower() for word in words), _message(message))


def stream_fault(error: Any) -> Verdict:
    """Return what an error inside a stream means: the provider gave up after it had said 200."""
    fault = read_fault(error)
    return Verdict(Outcome.failed, Reason.provider_error, fault.word, fault.is_passing, fault.message)


def http_fault(status: int, headers: Mapping[str, str], body: bytes) -> Verdict:
    """Return what an HTTP error means; `x-should-retry` is obeyed (`Retry-After` is for whoever waits)."""
    fault = read_fault(_body(body))
    detail = f"HTTP {status}: {fault.message}" if fault.message else f"HTTP {status}"
    word = fault.word or str(status)
    if fault.is_filtered:
        return Verdict(Outcome.refused, Reason.prompt_blocked, word, None, detail)
    asked = {name.lower(): value for name, value in headers.items()}.get("x-should-retry", "").lower()
    retryable = _is_passing_status(str(status)) and not fault.is_lasting
    if asked in {"true", "false"} and not fault.is_quota:
        retryable = asked == "true"
    return Verdict(Outcome.failed, _http_reason(status, fault), word, retryable, detail)


def trim(text: str) -> str:
    """Return text that may be journalled: one line, free of what looks like a key, not long."""
    # Only the beginning is looked at, so that a page of HTML costs nothing.
    line = " ".join(storable(text[: DETAIL_CHARS * 4]).split())
    line = _SECRET.sub("[hidden]", line)
    return line if len(line) <= DETAIL_CHARS else line[: DETAIL_CHARS - 1] + "…"


def _http_reason(status: int, fault: Fault) -> Reason:
    if fault.is_quota or status == 402:
        return Reason.quota
    if fault.is_too_long:
        return Reason.context_window
    by_status = {
        401: Reason.unauthorized,
        403: Reason.unauthorized,
        404: Reason.not_found,
        429: Reason.rate_limited,
    }
    return by_status.get(status, Reason.http_error)


def _is_passing_status(word: str) -> bool:
    # Statuses have three digits; vendors' own numeric codes (GLM: 1302) say nothing that is known here.
    return len(word) == 3 and (word in {"408", "409", "429"} or word >= "500")


def _word(value: Any) -> str | None:
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    return trim(str(value))[:WORD_CHARS] or None


def _message(value: Any) -> str:
    if isinstance(value, str):
        return trim(value)
    return "" if value is None or value == {} else f"an error of type {type(value).__name__}"


def _body(body: bytes) -> Any:
    text = body[: 64 * 1024].decode("utf-8", "replace")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        # A page of HTML explains nothing in a journal.
        return "a page of HTML" if text.lstrip()[:1] == "<" else text
    return value
