"""Google's errors have a word, a code, and details that know better."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chat.providers.google_faults import google_http_fault, google_stream_fault
from chat.streaming.outcome import Outcome, Reason, Verdict


def told(code: Any, status: Any, *details: Any) -> dict[str, Any]:
    """An error as this provider words it."""
    return {"code": code, "message": "m", "status": status, "details": list(details)}


A_DAY = {"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}
A_MINUTE = {"violations": [{"quotaId": "GenerateRequestsPerMinutePerProject"}], "retryDelay": "37s"}


@pytest.mark.parametrize(
    ("error", "word", "retryable"),
    [
        (told(503, "UNAVAILABLE"), "UNAVAILABLE", True),
        (told(500, "INTERNAL"), "INTERNAL", True),
        (told(504, "DEADLINE_EXCEEDED"), "DEADLINE_EXCEEDED", True),
        (told(429, "RESOURCE_EXHAUSTED"), "RESOURCE_EXHAUSTED", True),
        (told(429, "RESOURCE_EXHAUSTED", A_MINUTE), "RESOURCE_EXHAUSTED", True),
        (told(429, "RESOURCE_EXHAUSTED", A_MINUTE, A_DAY), "RESOURCE_EXHAUSTED", False),
        (told(400, "INVALID_ARGUMENT"), "INVALID_ARGUMENT", False),
        (told(499, "CANCELLED"), "CANCELLED", False),
        (told(403, "PERMISSION_DENIED", None, 5, {"violations": [7]}), "PERMISSION_DENIED", False),
        ({"code": 503, "message": "m"}, "503", True),
        ({"message": "m", "details": "x"}, None, False),
        ("m", None, False),
    ],
)
def test_an_error_inside_a_stream(error: Any, word: str | None, *, retryable: bool) -> None:
    """Its code decides, its status is the word; a day's quota does not come back in a minute."""
    assert google_stream_fault(error) == Verdict(Outcome.failed, Reason.provider_error, word, retryable, "m")


@pytest.mark.parametrize(
    ("status", "error", "reason", "retryable"),
    [
        (408, told(408, "CANCELLED"), Reason.http_error, True),
        (429, told(429, "RESOURCE_EXHAUSTED", A_MINUTE), Reason.rate_limited, True),
        (429, told(429, "RESOURCE_EXHAUSTED", A_DAY), Reason.quota, False),
        (500, told(500, "INTERNAL"), Reason.http_error, True),
        (502, told(502, "UNAVAILABLE"), Reason.http_error, True),
        (503, told(503, "UNAVAILABLE"), Reason.http_error, True),
        (504, told(504, "DEADLINE_EXCEEDED"), Reason.http_error, True),
        (400, told(400, "INVALID_ARGUMENT"), Reason.http_error, False),
        (400, told(400, "FAILED_PRECONDITION"), Reason.http_error, False),
        (400, told(400, "INVALID_ARGUMENT", {"reason": "API_KEY_INVALID"}), Reason.unauthorized, False),
        (401, told(401, "UNAUTHENTICATED"), Reason.unauthorized, False),
        (402, told(402, "FAILED_PRECONDITION"), Reason.quota, False),
        (403, told(403, "PERMISSION_DENIED"), Reason.unauthorized, False),
        (404, told(404, "NOT_FOUND"), Reason.not_found, False),
    ],
)
def test_an_http_error(status: int, error: Any, reason: Reason, *, retryable: bool) -> None:
    """As an object, or as the list with one object that the stream without events is."""
    waits = 37.0 if A_MINUTE in error["details"] else None
    for body in ({"error": error}, [{"error": error}]):
        verdict = google_http_fault(status, {}, json.dumps(body).encode())
        assert verdict == Verdict(
            Outcome.failed, reason, error["status"], retryable, f"HTTP {status}: m", retry_after_s=waits
        )


@pytest.mark.parametrize(
    ("body", "word", "detail"),
    [
        (b"", "500", "HTTP 500"),
        (b"<html>", "500", "HTTP 500: a page of HTML"),
        (b"{}", "500", "HTTP 500"),
        (b"[]", "500", "HTTP 500: an error of type list"),
        (b"[5]", "500", "HTTP 500: an error of type int"),
        (b'{"error":"gone"}', "500", "HTTP 500: gone"),
        (b'{"error":{"message":"\\ud800"}}', "500", "HTTP 500: \ufffd"),
        (b"[" * 20_000, "500", f"HTTP 500: {'[' * 299}…"),
    ],
)
def test_bodies_of_others(body: bytes, word: str, detail: str) -> None:
    """Proxies answer too."""
    assert google_http_fault(500, {}, body) == Verdict(Outcome.failed, Reason.http_error, word, True, detail)


@pytest.mark.parametrize(
    ("delay", "seconds"),
    [("13.5s", 13.5), ("2s", 2.0), ("soon", None), ("-1s", None), (7, None), ("1e9s", None)],
)
def test_the_wait_that_the_details_ask_for_is_kept(delay: object, seconds: float | None) -> None:
    """Google says it in the body, not in a header."""
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}]
    error = {
        "error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "Slow down.", "details": details}
    }
    found = google_http_fault(429, {}, json.dumps(error).encode())
    assert (found.retryable, found.retry_after_s) == (True, seconds)
