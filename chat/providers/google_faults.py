"""What an error of Google's APIs means: theirs have a status word, a code, and details that know more.

Takes an error object or an HTTP answer; gives a verdict, by the rules of `faults.py`. Does not know which generation
it ends.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from chat.providers.chat_chunk import as_dict, as_list
from chat.providers.faults import http_fault, stream_fault
from chat.streaming.outcome import Reason, Verdict

_DELAY = re.compile(r"(\d{1,6}(?:\.\d{1,9})?)s")


def google_stream_fault(error: Any) -> Verdict:
    """Return what an error inside a stream means; its status word is the provider's reason, its code decides."""
    return stream_fault(_reworded(error))


def google_http_fault(status: int, headers: Mapping[str, str], body: bytes) -> Verdict:
    """Return what an HTTP error means; without `alt=sse` its body is a list with one error in it."""
    try:
        told = msgspec.json.decode(body)
    except (msgspec.MsgspecError, RecursionError):
        return http_fault(status, headers, body)
    if isinstance(told, list) and told:
        told = told[0]
    error = told.get("error") if isinstance(told, dict) else None
    verdict = http_fault(status, headers, msgspec.json.encode({"error": _reworded(error)}) if error else body)
    verdict = msgspec.structs.replace(verdict, retry_after_s=_retry_delay_s(error))
    if "API_KEY_INVALID" in _detail_words(error):
        # This API answers a wrong key with 400.
        return msgspec.structs.replace(verdict, reason=Reason.unauthorized)
    return verdict


def _retry_delay_s(error: Any) -> float | None:
    """Return the wait that the details ask for (`RetryInfo.retryDelay`, such as "13.5s"); None if they say nothing."""
    for detail in as_list((as_dict(error) or {}).get("details")):
        delay = (as_dict(detail) or {}).get("retryDelay")
        if isinstance(delay, str) and (found := _DELAY.fullmatch(delay)):
            return float(found[1])
    return None


def _reworded(error: Any) -> Any:
    """Say it in the words that `faults.py` looks for: the status first, and a used-up day as a lasting quota."""
    told = as_dict(error)
    if told is None:
        return error
    plain: dict[str, Any] = {
        "code": told.get("status") or told.get("code"),
        "status_code": told.get("code"),
        "message": told.get("message"),
    }
    if any("PerDay" in word for word in _detail_words(told)):
        plain["metadata"] = {"code": "quota_exceeded"}
    return plain


def _detail_words(error: Any) -> list[str]:
    """Return the reasons and the names of the quotas that the details give."""
    words: list[Any] = []
    for detail in as_list((as_dict(error) or {}).get("details")):
        told = as_dict(detail) or {}
        words.append(told.get("reason"))
        words += [(as_dict(item) or {}).get("quotaId") for item in as_list(told.get("violations"))]
    return [word for word in words if isinstance(word, str)]
