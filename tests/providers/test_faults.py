"""Errors of providers: what may be tried again, and what may be written down."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chat.providers.faults import DETAIL_CHARS, http_fault, stream_fault, trim
from chat.streaming.outcome import Outcome, Reason, Verdict


def failed(
    word: str | None, detail: str, reason: Reason = Reason.provider_error, *, retryable: bool
) -> Verdict:
    """A failure."""
    return Verdict(Outcome.failed, reason, word, retryable, detail)


@pytest.mark.parametrize(
    ("error", "word", "detail", "retryable"),
    [
        ({"message": "m", "type": "server_error", "code": None}, "server_error", "m", True),
        ({"message": "m", "type": "tokens", "code": "rate_limit_exceeded"}, "rate_limit_exceeded", "m", True),
        (
            {"message": "m", "type": "insufficient_quota", "code": "insufficient_quota"},
            "insufficient_quota",
            "m",
            False,
        ),
        ({"message": "m", "code": 429, "type": "insufficient_quota"}, "429", "m", False),
        ({"code": "organization_spend_limit_exceeded"}, "organization_spend_limit_exceeded", "", False),
        (
            {"code": "context_length_exceeded", "type": "invalid_request_error"},
            "context_length_exceeded",
            "",
            False,
        ),
        (
            {"code": 502, "message": "gone", "metadata": {"error_type": "provider_unavailable"}},
            "502",
            "gone",
            True,
        ),
        ({"code": 400, "message": "m"}, "400", "m", False),
        ({"code": "503"}, "503", "", True),
        ({"code": 1302, "message": "busy"}, "1302", "busy", False),
        ({"type": "overloaded_error"}, "overloaded_error", "", True),
        ({"error": {"error": {"type": "server_error"}}}, "server_error", "", True),
        ([{"error": {"code": 503, "status": "UNAVAILABLE"}}], "503", "", True),
        ({"detail": "Not Found"}, None, "Not Found", False),
        ({"detail": [{"loc": 1}]}, None, "an error of type list", False),
        ("an error was encountered", None, "an error was encountered", False),
        (5, None, "an error of type int", False),
        ({"code": True, "type": ["x"]}, None, "", False),
        ({}, None, "", False),
    ],
)
def test_an_error_inside_a_stream(error: Any, word: str | None, detail: str, *, retryable: bool) -> None:
    """Only what is known to pass by itself is tried again by a machine."""
    assert stream_fault(error) == failed(word, detail, retryable=retryable)


@pytest.mark.parametrize(
    ("status", "body", "verdict"),
    [
        (408, b"", failed("408", "HTTP 408", Reason.http_error, retryable=True)),
        (409, b"{}", failed("409", "HTTP 409", Reason.http_error, retryable=True)),
        (
            500,
            b"<html>x</html>",
            failed("500", "HTTP 500: a page of HTML", Reason.http_error, retryable=True),
        ),
        (529, b"busy", failed("529", "HTTP 529: busy", Reason.http_error, retryable=True)),
        (429, b"", failed("429", "HTTP 429", Reason.rate_limited, retryable=True)),
        (
            429,
            b'{"error":{"message":"m","type":"requests","code":"slow_down"}}',
            failed("slow_down", "HTTP 429: m", Reason.rate_limited, retryable=True),
        ),
        (
            429,
            b'{"error":{"message":"m","type":"insufficient_quota","code":"insufficient_quota"}}',
            failed("insufficient_quota", "HTTP 429: m", Reason.quota, retryable=False),
        ),
        (
            429,
            b'{"error":{"code":"project_spend_limit_exceeded"}}',
            failed("project_spend_limit_exceeded", "HTTP 429", Reason.quota, retryable=False),
        ),
        (402, b"", failed("402", "HTTP 402", Reason.quota, retryable=False)),
        (
            401,
            b'{"error":{"message":"Incorrect API key provided: sk-abc**xyz. Look","code":"invalid_api_key"}}',
            failed(
                "invalid_api_key",
                "HTTP 401: Incorrect API key provided: [hidden] Look",
                Reason.unauthorized,
                retryable=False,
            ),
        ),
        (403, b"no", failed("403", "HTTP 403: no", Reason.unauthorized, retryable=False)),
        (
            404,
            b'{"error":"no such model"}',
            failed("404", "HTTP 404: no such model", Reason.not_found, retryable=False),
        ),
        (
            400,
            b'{"error":{"message":"m","type":"invalid_request_error","code":"context_length_exceeded"}}',
            failed("context_length_exceeded", "HTTP 400: m", Reason.context_window, retryable=False),
        ),
        (
            400,
            b'{"error":{"code":400,"message":"m","type":"exceed_context_size_error","n_prompt_tokens":9,"n_ctx":4}}',
            failed("400", "HTTP 400: m", Reason.context_window, retryable=False),
        ),
        (422, b'{"detail":"m"}', failed("422", "HTTP 422: m", Reason.http_error, retryable=False)),
        (413, b"[" * 10_000, failed("413", f"HTTP 413: {'[' * 299}…", Reason.http_error, retryable=False)),
        (302, b"", failed("302", "HTTP 302", Reason.http_error, retryable=False)),
        (
            400,
            b'{"error":{"message":"m","code":"content_filter","innererror":{"code":"ResponsibleAIPolicyViolation"}}}',
            Verdict(Outcome.refused, Reason.prompt_blocked, "content_filter", None, "HTTP 400: m"),
        ),
    ],
)
def test_an_http_error(status: int, body: bytes, verdict: Verdict) -> None:
    """By its status, unless its words know better."""
    assert http_fault(status, {}, body) == verdict


@pytest.mark.parametrize(
    ("asked", "body", "retryable"),
    [
        ("true", b"", True),
        ("false", b"", False),
        ("maybe", b"", False),
        ("true", b'{"error":{"code":"insufficient_quota"}}', False),
    ],
)
def test_the_provider_may_say_whether_to_retry(asked: str, body: bytes, *, retryable: bool) -> None:
    """But nobody retries into an empty account."""
    assert http_fault(418, {"X-Should-Retry": asked}, body).retryable is retryable


@pytest.mark.parametrize(
    ("before", "key"),
    [
        ("", "sk-proj-abcdefghijklmnop"),
        ("", "gsk_0123456789abcdef"),
        ("", "AIzaSyA0123456789abcdefghij"),
        ("Bearer ", "abc.def.ghi"),
        ("", "0123456789abcdef0123456789abcdef"),
        ("api_key=", "Zx9"),
        ("token=", "Zx9"),
        ("key: ", "Zx9"),
    ],
)
def test_no_key_is_written_down(before: str, key: str) -> None:
    """Providers quote the key that they refuse."""
    shown = trim(f"refused {before}{key} here")
    assert (key in shown, shown.startswith("refused "), shown.endswith(" here")) == (False, True, True)


def test_what_is_written_down_is_short_and_one_line() -> None:
    """Ids stay (people need them), line ends and NUL do not."""
    assert trim("a\nb\r\n\tc\0") == "a b c\ufffd"
    assert (
        trim("request req_0123456789abcdef0123456789abcdef") == "request req_0123456789abcdef0123456789abcdef"
    )
    long = trim("word " * 5000)
    assert (len(long), long[-1]) == (DETAIL_CHARS, "…")
    assert json.dumps(trim("\ud800")) == '"\\ufffd"'
