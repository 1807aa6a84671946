"""The chat wire: what each ending, and each error inside a stream, means."""

from __future__ import annotations

import pytest

from chat.providers.openai_chat import FINISH_REASONS
from chat.streaming.deltas import Usage
from chat.streaming.outcome import Ending
from tests.providers.chat_bodies import DONE, HI, STOP, chat, delta, event, judged

# --- endings ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "verdict"),
    [
        ("stop", ("complete", None, "stop", None)),
        ("tool_calls", ("tool_requested", None, "tool_calls", None)),
        ("function_call", ("tool_requested", None, "function_call", None)),
        ("length", ("incomplete", "max_tokens", "length", None)),
        ("model_length", ("incomplete", "context_window", "model_length", None)),
        ("content_filter", ("incomplete", "content_filter", "content_filter", None)),
        ("sensitive", ("incomplete", "content_filter", "sensitive", None)),
        ("abort", ("incomplete", "cancelled", "abort", None)),
        ("aborted", ("incomplete", "cancelled", "aborted", None)),
        ("error", ("failed", "provider_error", "error", True)),
        ("network_error", ("failed", "provider_error", "network_error", True)),
        ("insufficient_system_resource", ("failed", "provider_error", "insufficient_system_resource", True)),
        ("load", ("incomplete", "unknown", "load", None)),
        ("STOP", ("incomplete", "unknown", "STOP", None)),
        ("eos", ("incomplete", "unknown", "eos", None)),
        ("", ("incomplete", "stream_truncated", None, None)),
    ],
)
def test_each_finish_reason(word: str, verdict: object) -> None:
    """A word that nobody knows is never an answer."""
    assert judged(chat(HI, delta(word), DONE)) == verdict


def test_the_table_is_tested() -> None:
    """A new row must get its line above."""
    assert len(FINISH_REASONS) == 12


@pytest.mark.parametrize(
    ("words", "verdict"),
    [
        (["stop", "stop"], ("complete", None, "stop", None)),
        (["stop", "content_filter"], ("incomplete", "content_filter", "content_filter", None)),
        (["content_filter", "stop"], ("incomplete", "content_filter", "content_filter", None)),
        (["length", "length"], ("incomplete", "max_tokens", "length", None)),
        (["tool_calls", "stop"], ("tool_requested", None, "tool_calls", None)),
        (["error", "stop"], ("failed", "provider_error", "error", True)),
        (["stop", None, ""], ("complete", None, "stop", None)),
    ],
)
def test_the_reason_furthest_from_an_answer_counts(words: list[str | None], verdict: object) -> None:
    """Text already sent may be condemned later; a later friendly word does not heal it, an annotation reopens nothing."""
    assert judged(chat(HI, *map(delta, words), DONE)) == verdict


@pytest.mark.parametrize(
    ("parts", "profile", "ending", "verdict"),
    [
        ([HI], None, "eof", ("incomplete", "stream_truncated", None, None)),
        ([HI], None, "cut", ("incomplete", "connection_lost", None, None)),
        ([HI], "ollama", "stalled", ("incomplete", "stalled", None, None)),
        ([HI, DONE], "ollama", "eof", ("incomplete", "stream_truncated", None, None)),
        ([HI, DONE], None, "cut", ("incomplete", "stream_truncated", None, None)),
        ([HI, STOP], None, "eof", ("incomplete", "stream_truncated", "stop", None)),
        ([HI, STOP], None, "cut", ("incomplete", "connection_lost", "stop", None)),
        ([HI, STOP], None, "stalled", ("incomplete", "stalled", "stop", None)),
        ([HI, STOP], "perplexity", "cut", ("complete", None, "stop", None)),
        ([HI, STOP, DONE[:-1]], None, "eof", ("incomplete", "stream_truncated", "stop", None)),
        ([HI, STOP, DONE[:-1]], "llama.cpp", "eof", ("complete", None, "stop", None)),
        ([HI, STOP, b"data:[DONE]\n\n"], None, "cut", ("complete", None, "stop", None)),
        ([HI, STOP, b"data: [DONE] \n\n"], None, "eof", ("complete", None, "stop", None)),
        ([HI, STOP, b'data: "[DONE]"\n\n'], None, "eof", ("incomplete", "stream_truncated", "stop", None)),
        ([HI, STOP, b"[DONE]\n\n"], None, "eof", ("incomplete", "stream_truncated", "stop", None)),
        ([HI, delta("length")], None, "eof", ("incomplete", "stream_truncated", "length", None)),
        ([HI, delta("error")], None, "eof", ("failed", "provider_error", "error", True)),
        ([delta(refusal="No.")], None, "cut", ("incomplete", "connection_lost", None, None)),
        ([delta(refusal="No."), STOP, DONE], None, "eof", ("refused", "model_refusal", "stop", None)),
        (
            [delta(refusal="No."), delta("length"), DONE],
            None,
            "eof",
            ("refused", "model_refusal", "length", None),
        ),
        ([HI, delta(refusal=""), STOP, DONE], None, "eof", ("complete", None, "stop", None)),
    ],
)
def test_the_end_must_be_proven(
    parts: list[bytes], profile: str | None, ending: Ending, verdict: object
) -> None:
    """A finish and `[DONE]`; a relaxed server may omit the latter, nobody the former."""
    assert judged(chat(*parts, profile=profile, ending=ending)) == verdict


# --- errors -----------------------------------------------------------------------------------------------------------

OVERLOADED = {"message": "Overloaded", "type": "overloaded_error"}


@pytest.mark.parametrize(
    ("part", "word", "retryable", "detail"),
    [
        (event({"error": OVERLOADED}), "overloaded_error", True, "Overloaded"),
        (event({"error": OVERLOADED}, "error"), "overloaded_error", True, "Overloaded"),
        (event({"object": "error", **OVERLOADED}, "error"), "overloaded_error", True, "Overloaded"),
        (event({"message": "gone", "code": 503}, "error"), "503", True, "gone"),
        (event("upstream timed out", "error"), None, False, "upstream timed out"),
        (event("", "error"), None, False, ""),
        (event({"error": "boom"}), None, False, "boom"),
        (event({"x_groq": {"error": "groq boom"}}), None, False, "groq boom"),
        (
            event(
                {"choices": [{"delta": {"content": ""}, "finish_reason": "error"}], "error": {"code": 502}}
            ),
            "502",
            True,
            "",
        ),
        (event({"error": {"code": 10**30}}), str(10**30), False, ""),
    ],
)
def test_an_error_in_a_200(part: bytes, word: str | None, detail: str, *, retryable: bool) -> None:
    """It fails the stream at once, before a finish or after one; what follows is late."""
    for before in (HI, HI + STOP):
        reading = chat(before, part, delta(content=" late"), STOP, DONE)
        assert judged(reading) == ("failed", "provider_error", word, retryable)
        assert (reading.answer, reading.detail, reading.late_events) == ("Hi", detail, 3)


@pytest.mark.parametrize("error", [None, {}, "", 0, False, []])
def test_an_empty_error_is_none(error: object) -> None:
    """Some servers put the key on every chunk."""
    part = event({"choices": [{"delta": {"content": "x"}}], "error": error, "x_groq": {"error": error}})
    assert judged(chat(part, STOP, DONE)) == ("complete", None, "stop", None)


def test_malformed_json_is_a_failure_and_keeps_what_came() -> None:
    """A mangled event is never skipped in silence: text may be missing."""
    reading = chat(HI, b'data: {"choices":[{"delta":{"con\n\n', HI, STOP, DONE)
    assert judged(reading) == ("failed", "malformed_stream", None, True)
    assert (reading.answer, reading.detail) == (
        "Hi",
        "expected a JSON object in each event, got 26 characters of other text",
    )


# --- tAI --------------------------------------------------------------------------------------------------------------

NOTICE = ("incomplete", "provider_notice", "stop", None)
WHOLE = ("complete", None, "stop", None)
USAGE = event({"choices": [], "usage": {"prompt_tokens": 2, "completion_tokens": 3, "total_tokens": 5}})


@pytest.mark.parametrize(
    ("parts", "verdict"),
    [
        ([delta(content="[the generation failed]"), STOP, USAGE, DONE], NOTICE),
        ([HI, delta(content="\n\n[a falha foi nossa]\n"), delta(content=""), STOP, DONE], NOTICE),
        ([HI, delta(content="[error [code 5] here]"), STOP, DONE], NOTICE),
        ([HI, delta(content="[süre doldu]"), delta(), STOP, USAGE, DONE], NOTICE),
        # Citations, links, several brackets, a notice that is not the last word: all of them are answers.
        ([HI, delta(content="[2]"), STOP, DONE], WHOLE),
        ([HI, delta(content="[2 3]"), STOP, DONE], WHOLE),
        ([HI, delta(content="[note]"), STOP, DONE], WHOLE),
        ([HI, delta(content="[a b] or [c d]"), STOP, DONE], WHOLE),
        ([HI, delta(content="[a link](http://a)"), STOP, DONE], WHOLE),
        ([HI, delta(content="[a b]]"), STOP, DONE], WHOLE),
        ([HI, delta(content="[[a b]"), STOP, DONE], WHOLE),
        ([delta(content="[it is so]"), delta(content=" indeed"), STOP, DONE], WHOLE),
        ([HI, delta(reasoning="[hm hm]"), STOP, DONE], WHOLE),
        ([HI, delta(content="a"), delta(content="[one "), delta(content="two]"), STOP, DONE], WHOLE),
        # Only the end that looks well is suspect; the other ends say themselves what they are.
        ([delta(content="[it failed]"), delta("length"), DONE], ("incomplete", "max_tokens", "length", None)),
        ([delta(content="[it failed]"), STOP], ("incomplete", "stream_truncated", "stop", None)),
        ([delta(content="[it failed]"), DONE], ("incomplete", "stream_truncated", None, None)),
    ],
)
def test_tai_tells_its_failure_in_brackets(parts: list[bytes], verdict: object) -> None:
    """A last delta wholly in brackets, with a letter and a space, then `stop` and `[DONE]`: no answer, there alone."""
    assert judged(chat(*parts, profile="tai")) == verdict
    if verdict == NOTICE:
        assert judged(chat(*parts)) == WHOLE
        assert chat(*parts, profile="tai").answer == chat(*parts).answer


def test_tai_usage_comes_after_the_end_and_before_done() -> None:
    """In a chunk without choices; only `[DONE]` is the end."""
    reading = chat(HI, STOP, USAGE, DONE, profile="tai")
    assert (reading.usage, judged(reading)) == (Usage(2, 3), WHOLE)
    cut = chat(HI, STOP, USAGE, profile="tai", ending="cut")
    assert judged(cut) == ("incomplete", "connection_lost", "stop", None)
