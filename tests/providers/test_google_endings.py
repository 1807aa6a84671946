"""Google's generate wire: what each ending, and each error inside a stream, means."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chat.providers.google import FINISH_REASONS
from chat.streaming.deltas import Usage
from chat.streaming.outcome import Ending
from tests.providers.google_bodies import HI, STOP, calls, candidate, data, google, judged, says

FILTERED = [
    *("SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "RECITATION", "LANGUAGE", "IMAGE_SAFETY"),
    *("IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "MODEL_ARMOR", "ESCALATION"),
]
UNKNOWN = ["OTHER", "NO_IMAGE", "IMAGE_OTHER", "FINISH_REASON_UNSPECIFIED", "stop", "FINISHED_BY_MAGIC"]


@pytest.mark.parametrize(
    ("word", "verdict"),
    [
        ("STOP", ("complete", None, "STOP", None)),
        ("MAX_TOKENS", ("incomplete", "max_tokens", "MAX_TOKENS", None)),
        ("CONTINUATION", ("incomplete", "continuation", "CONTINUATION", None)),
        ("MALFORMED_FUNCTION_CALL", ("failed", "malformed_tool_call", "MALFORMED_FUNCTION_CALL", True)),
        ("UNEXPECTED_TOOL_CALL", ("failed", "unexpected_tool_call", "UNEXPECTED_TOOL_CALL", True)),
        ("MALFORMED_RESPONSE", ("failed", "provider_error", "MALFORMED_RESPONSE", True)),
        ("TOO_MANY_TOOL_CALLS", ("failed", "provider_error", "TOO_MANY_TOOL_CALLS", False)),
        ("MISSING_THOUGHT_SIGNATURE", ("failed", "provider_error", "MISSING_THOUGHT_SIGNATURE", False)),
        ("PUP_LIMITED_DISABLED", ("failed", "provider_error", "PUP_LIMITED_DISABLED", False)),
        *((word, ("incomplete", "content_filter", word, None)) for word in FILTERED),
        *((word, ("incomplete", "unknown", word, None)) for word in UNKNOWN),
        ("", ("incomplete", "stream_truncated", None, None)),
    ],
)
def test_each_finish_reason(word: str, verdict: object) -> None:
    """In a chunk of its own or with text; a word that nobody knows is never an answer."""
    assert judged(google(HI, says(finish=word))) == verdict
    assert judged(google(says({"text": "Hi"}, finish=word))) == verdict


def test_the_table_is_tested() -> None:
    """A new row must get its line above."""
    assert len(FINISH_REASONS) == 9 + len(FILTERED)


@pytest.mark.parametrize("text", [[HI], []])
def test_the_last_event_may_hold_no_parts(text: list[bytes]) -> None:
    """And nothing follows it: that is the usual end here, not a cut one (bug case 18)."""
    used = {"usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 1}}
    for word, outcome in (("STOP", "complete"), ("MAX_TOKENS", "incomplete")):
        last = data(candidate(finish=word) | used)
        found = [google(*text, *ends) for ends in ([last], [])]
        assert [(reading.outcome, reading.reason, reading.usage) for reading in found] == [
            (outcome, None if word == "STOP" else "max_tokens", Usage(3, 1)),
            ("incomplete", "stream_truncated", None),
        ]


@pytest.mark.parametrize(
    ("words", "verdict"),
    [
        (["STOP", "STOP"], ("complete", None, "STOP", None)),
        (["STOP", None, ""], ("complete", None, "STOP", None)),
        (["STOP", "RECITATION"], ("incomplete", "content_filter", "RECITATION", None)),
        (["FINISH_REASON_UNSPECIFIED", "STOP"], ("complete", None, "STOP", None)),
        (["MAX_TOKENS", "STOP"], ("complete", None, "STOP", None)),
        (
            ["STOP", "MALFORMED_FUNCTION_CALL"],
            ("failed", "malformed_tool_call", "MALFORMED_FUNCTION_CALL", True),
        ),
    ],
)
def test_the_last_word_counts(words: list[str | None], verdict: object) -> None:
    """Models and gateways say STOP on every chunk; text after one is text."""
    reading = google(*(says({"text": "x"}, finish=word) for word in words))
    assert (judged(reading), reading.answer) == (verdict, "x" * len(words))


@pytest.mark.parametrize(
    ("parts", "ending", "verdict"),
    [
        ([HI], "eof", ("incomplete", "stream_truncated", None, None)),
        ([HI], "cut", ("incomplete", "connection_lost", None, None)),
        ([HI], "stalled", ("incomplete", "stalled", None, None)),
        ([HI, STOP], "cut", ("incomplete", "connection_lost", "STOP", None)),
        ([HI, STOP], "stalled", ("incomplete", "stalled", "STOP", None)),
        ([HI, says(finish="MAX_TOKENS")], "cut", ("incomplete", "connection_lost", "MAX_TOKENS", None)),
        ([HI, STOP[:-1]], "eof", ("complete", None, "STOP", None)),
        ([HI, STOP[:-2]], "eof", ("incomplete", "stream_truncated", None, None)),
        ([HI, b"data: [DONE]\n\n"], "eof", ("incomplete", "stream_truncated", None, None)),
        ([HI, STOP, b"data: [DONE]\n\n"], "eof", ("complete", None, "STOP", None)),
        (
            [HI, says(finish="MALFORMED_RESPONSE")],
            "cut",
            ("failed", "provider_error", "MALFORMED_RESPONSE", True),
        ),
    ],
)
def test_the_end_must_be_proven(parts: list[bytes], ending: Ending, verdict: object) -> None:
    """A finish reason and an orderly end: after a broken one nobody knows whether STOP was the last chunk.

    STOP without the second byte of its last line end is whole: a CR alone ends a line.
    """
    assert judged(google(*parts, ending=ending)) == verdict


@pytest.mark.parametrize(
    "reason",
    ["SAFETY", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "IMAGE_SAFETY", "MODEL_ARMOR", "JAILBREAK", "NEW"],
)
def test_a_blocked_prompt_is_refused(reason: str) -> None:
    """Whatever else is said, and however it ends."""
    block = data({"promptFeedback": {"blockReason": reason}})
    for parts in ([block], [block, HI, STOP]):
        for ending in ("eof", "cut"):
            assert judged(google(*parts, ending=ending)) == ("refused", "prompt_blocked", reason, None)
    assert judged(google(data({"promptFeedback": {"safetyRatings": []}}), HI, STOP))[0] == "complete"


def test_a_continuation_carries_its_token() -> None:
    """And nothing else: the provider goes on by itself."""
    reading = google(
        HI, says({"text": "", "thoughtSignature": "s"}, finish="CONTINUATION", continuationToken="tok")
    )
    assert (judged(reading), reading.answer, reading.carry) == (
        ("incomplete", "continuation", "CONTINUATION", None),
        "Hi",
        [{"continuationToken": "tok"}],
    )


# --- calls at the end -------------------------------------------------------------------------------------------------


def test_stop_with_calls_means_tools() -> None:
    """There is no finish reason of their own."""
    call = says(calls(name="f", args={}))
    assert judged(google(call, STOP)) == ("tool_requested", None, "STOP", None)
    assert judged(google(call, says(finish="MAX_TOKENS"))) == ("incomplete", "max_tokens", "MAX_TOKENS", None)
    assert judged(google(call, STOP, ending="cut")) == ("incomplete", "connection_lost", "STOP", None)


def test_a_call_that_never_became_whole_is_a_failure() -> None:
    """Half of its arguments must not run, and are no answer either."""
    for half in (
        [calls(name="f", willContinue=True)],
        [calls(name="f", willContinue=True), calls(name="g", args={})],
        [calls(name="f", partialArgs=[{"jsonPath": "nowhere", "stringValue": "x"}])],
    ):
        reading = google(*map(says, half), STOP)
        assert judged(reading) == ("failed", "malformed_tool_call", "STOP", True)
        assert [call.complete for call in reading.tool_calls] == [False] * len(reading.tool_calls)


# --- errors -----------------------------------------------------------------------------------------------------------

UNAVAILABLE = {
    "error": {"code": 503, "message": "Overloaded.", "status": "UNAVAILABLE", "details": [{"x": "}]"}]}
}


@pytest.mark.parametrize(
    "error",
    [
        data(UNAVAILABLE),
        json.dumps(UNAVAILABLE).encode(),
        json.dumps([UNAVAILABLE], indent=1).encode() + b"\n",
    ],
)
def test_an_error_in_a_200(error: bytes) -> None:
    """As an event, or pasted into the stream; before a finish or after one."""
    for before in ([], [HI], [HI, STOP]):
        for ending in ("eof", "cut"):
            reading = google(*before, error, ending=ending)
            assert judged(reading) == ("failed", "provider_error", "UNAVAILABLE", True)
            assert (reading.answer, reading.detail) == ("Hi" if before else "", "Overloaded.")


def test_what_follows_an_error_is_late() -> None:
    """It changes nothing, and is counted."""
    reading = google(HI, data(UNAVAILABLE), says({"text": "late"}), STOP)
    assert (judged(reading)[0], reading.answer, reading.late_events, reading.last_event) == (
        "failed",
        "Hi",
        2,
        "2",
    )


@pytest.mark.parametrize("error", [None, {}, "", 0, False, []])
def test_an_empty_error_is_none(error: object) -> None:
    """Some servers put the key on every chunk."""
    assert judged(google(data(candidate({"text": "x"}, finish="STOP") | {"error": error})))[0] == "complete"


@pytest.mark.parametrize("text", ['data: {"candidates":[{"con\n\n', "data: <html>\n\n", "data: {}x\n\n"])
def test_malformed_json_is_a_failure_and_keeps_what_came(text: str) -> None:
    """A mangled event is never skipped in silence: text may be missing."""
    reading = google(HI, text.encode(), STOP)
    assert (judged(reading), reading.answer) == (("failed", "malformed_stream", None, True), "Hi")


def test_a_bare_object_that_is_no_error_is_a_failure() -> None:
    """An answer in a form that was not asked for is not half understood."""
    reading = google(json.dumps(candidate({"text": "Hi"}, finish="STOP")).encode())
    assert (judged(reading), reading.answer, reading.detail) == (
        ("failed", "malformed_stream", None, True),
        "",
        "expected server-sent events or a JSON array, got a bare JSON object",
    )


# --- the JSON array ---------------------------------------------------------------------------------------------------


def array(*values: Any, indent: int | None = None) -> bytes:
    """The form of the stream that nobody asks for with `alt=sse`."""
    return json.dumps(list(values), indent=indent).encode()


WHOLE = array(candidate({"text": "H]"}), candidate({"text": "i"}), candidate(finish="STOP"), indent=2)


@pytest.mark.parametrize(
    ("body", "ending", "verdict"),
    [
        (WHOLE, "eof", ("complete", None, "STOP", None)),
        # Its bracket is an end of its own: nothing can be missing behind it.
        (WHOLE, "cut", ("complete", None, "STOP", None)),
        (WHOLE[:-1], "eof", ("incomplete", "stream_truncated", "STOP", None)),
        (WHOLE[:-1], "cut", ("incomplete", "connection_lost", "STOP", None)),
        (WHOLE[:-1], "stalled", ("incomplete", "stalled", "STOP", None)),
        (array(candidate({"text": "Hi"})), "eof", ("incomplete", "stream_truncated", None, None)),
        (array(candidate({"text": "Hi"})), "cut", ("incomplete", "stream_truncated", None, None)),
        (b"[]", "eof", ("incomplete", "stream_truncated", None, None)),
        (
            array(candidate(finish="STOP"), UNAVAILABLE),
            "eof",
            ("failed", "provider_error", "UNAVAILABLE", True),
        ),
        (array(candidate(finish="STOP"), 5), "eof", ("failed", "malformed_stream", None, True)),
        (b'[{"candidates":oops}]', "eof", ("failed", "malformed_stream", None, True)),
        (array([], candidate(finish="STOP")), "eof", ("complete", None, "STOP", None)),
    ],
)
def test_an_array_needs_its_last_bracket(body: bytes, ending: Ending, verdict: object) -> None:
    """It is read element by element."""
    assert judged(google(body, ending=ending)) == verdict


def test_what_follows_the_array_is_late() -> None:
    """It changes nothing."""
    reading = google(WHOLE, b" \n", b"[", array(candidate({"text": "late"})))
    assert (judged(reading)[0], reading.answer, reading.late_events) == ("complete", "H]i", 1)


# --- usage ------------------------------------------------------------------------------------------------------------


def counted(*told: Any) -> Usage | None:
    """The usage after chunks with these."""
    return google(*(data({"usageMetadata": usage}) for usage in told)).usage


def test_the_last_usage_wins() -> None:
    """Each is a running total; what says nothing, or something absurd, is none."""
    full = {
        "promptTokenCount": 9,
        "candidatesTokenCount": 4,
        "thoughtsTokenCount": 3,
        "cachedContentTokenCount": 2,
    }
    assert counted({"promptTokenCount": 9}, full, {"trafficType": "ON_DEMAND"}, None, "x") == Usage(
        9, 4, 3, 2
    )
    assert counted(full, {"promptTokenCount": 9, "candidatesTokenCount": 5}) == Usage(9, 5)
    assert (counted({"promptTokenCount": "9"}), counted({"promptTokenCount": -1}), counted({})) == (
        None,
        None,
        None,
    )
