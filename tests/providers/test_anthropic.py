"""The Anthropic wire: what is not an answer, and what is asked."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.providers.anthropic import DEFAULT_MAX_TOKENS, SETTINGS, Anthropic
from chat.providers.base import Endpoint, Prompt, Secret, ToolDeclaration, Turn
from chat.streaming.errors import UnknownSetting
from chat.streaming.outcome import Outcome, Reason, Verdict
from tests.providers.anthropic_bodies import (
    END_TURN,
    HI,
    START,
    STOP,
    add,
    anthropic,
    begin,
    end,
    event,
    judged,
)

# --- what is not an answer --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "part",
    [
        b"data\n\n",
        b"data:\n\n",
        b": keep-alive\n\n",
        b"data: : OPENROUTER PROCESSING\n\n",
        b"data: [DONE]\n\n",
        b"event: ping\n\n",
        b'event: ping\ndata: {"type": "ping"}\n\n',
        b'data: {"type": "ping"}\n\n',
        b"event: ping\ndata: {}\n\n",
        b"data: []\n\n",
        b"data: 7\n\n",
        b'data: "text"\n\n',
        b"data: null\n\n",
        b"data: {}\n\n",
        b'data: {"type": 5, "text": "no"}\n\n',
        event("weather_report", text="no", delta={"type": "text_delta", "text": "no"}, index=0),
        event("content_block_delta"),
        event("content_block_delta", index=9, delta="no"),
        event("content_block_stop", index=9),
        event("message_start"),
        event("message_start", message={"id": "other", "content": [{"type": "text", "text": "no"}]}),
        event("message_delta"),
        event("message_delta", delta={"text": "no", "stop_reason": None, "stop_details": "no"}),
        b'data: {"type": "x", "error": null}\n\n',
        begin(8, "hologram", text="no") + add(8, "text_delta", text="no") + end(8),
        begin(8, "server_tool_use", name="no") + add(8, "input_json_delta", partial_json="no") + end(8),
        begin(8, "web_search_tool_result", content=[{"type": "text", "text": "no"}]) + end(8),
        begin(8, "redacted_thinking", data="no") + end(8),
        begin(8, "fallback", text="no") + end(8),
        begin(8, "compaction", content="no") + add(8, "compaction_delta", content="no") + end(8),
        begin(8, "text") + add(8, "citations_delta", citation={"cited_text": "no"}) + end(8),
        begin(8, "thinking") + add(8, "signature_delta", signature="no") + end(8),
        event("content_block_start", index=8, content_block="no") + end(8),
        b'data: {"choices":[{"delta":{"content":"no"}}]}\n\n',
        b'data: {"candidates":[{"content":{"parts":[{"text":"no"}]}}]}\n\n',
    ],
)
def test_foreign_things_add_nothing(part: bytes) -> None:
    """Before the text, inside it and after the stop reason; new kinds of events, blocks and deltas may come any day."""
    halves = (
        begin(0, "text", text="") + add(0, "text_delta", text="H"),
        add(0, "text_delta", text="i") + end(0),
    )
    reading = anthropic(START, part, halves[0], part, halves[1], END_TURN, part, STOP, part)
    assert judged(reading) == ("complete", None, "end_turn", None)
    assert (reading.answer, reading.reasoning, reading.refusal, reading.tool_calls) == ("Hi", "", "", [])


def test_pings_are_no_progress_and_unknown_events_are_counted() -> None:
    """The no-progress limit looks at this number."""
    ping, new = event("ping"), event("weather_report")
    assert [
        anthropic(*parts).last_event for parts in ([], [ping], [START, ping], [START, new], [START, HI])
    ] == [*(None, None, "1", "2", "4")]


def test_the_first_id_names_the_reply() -> None:
    """It is made storable; a later start does not rename it."""
    starts = (event("message_start", message={"id": id_}) for id_ in ("", "m\0", "n"))
    assert anthropic(*starts).response_id == "m\ufffd"


_NAMES_TEXT = """
    type index delta content_block message usage error id text thinking signature partial_json input name citation
    stop_reason stop_details category output_tokens output_tokens_details input_tokens
"""
NAMES = _NAMES_TEXT.split()
_TYPES_TEXT = """
    message_start message_delta message_stop content_block_start content_block_delta content_block_stop error text
    thinking tool_use text_delta thinking_delta input_json_delta signature_delta citations_delta end_turn tool_use refusal
"""
TYPES = _TYPES_TEXT.split()


@settings(deadline=None)
@given(
    st.lists(
        st.recursive(
            st.none()
            | st.booleans()
            | st.integers(0, 2)
            | st.floats()
            | st.sampled_from(TYPES)
            | st.text(max_size=2),
            lambda inner: (
                st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5)
            ),
            max_leaves=10,
        ),
        max_size=6,
    )
)
def test_any_json_is_read_without_an_exception(values: list[Any]) -> None:
    """And never makes an answer out of a stream without its terminal signal."""
    kinds = [
        {"type": kind, "index": 0, "delta": value, "content_block": value}
        for kind in TYPES[:6]
        for value in values
    ]
    shapes = [*values, *(kind for kind in kinds if kind["type"] != "message_stop")]
    body = [f"data: {json.dumps(shape)}\n\n".encode() for shape in shapes]
    stopped = any(isinstance(value, dict) and value.get("type") == "message_stop" for value in values)
    reading = anthropic(*body)
    assert stopped or not reading.confirmable
    json.dumps(reading.carry, allow_nan=False)


# --- what is asked ----------------------------------------------------------------------------------------------------

WIRE = Anthropic()
SCHEMA = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
ASK = [Turn("user", "a")]


def endpoint(base_url: str = "http://127.0.0.1:9/v1", key: str | None = "k") -> Endpoint:
    """Some endpoint."""
    return Endpoint("e", "E", "anthropic", base_url, "K", "anthropic", (), Secret(key) if key else None)


def asked(prompt: Prompt, model: str = "claude-opus-5-5") -> dict[str, Any]:
    """The body that is sent."""
    body: dict[str, Any] = json.loads(WIRE.request(prompt, endpoint=endpoint(), model=model).body)
    return body


def test_a_request_in_full() -> None:
    """Method, address, headers and body; turns of one role are joined."""
    prompt = Prompt(
        "Be brief.",
        [Turn("user", "a"), Turn("user", "b"), Turn("assistant", "c"), Turn("user", "é 😀")],
        {"max_tokens": 9, "stop": "END", "reasoning_effort": None},
    )
    request = WIRE.request(prompt, endpoint=endpoint(), model="m")
    assert (request.method, request.url) == ("POST", "http://127.0.0.1:9/v1/messages")
    assert request.headers == {
        "content-type": "application/json",
        "accept": "text/event-stream",
        "accept-encoding": "identity",
        "anthropic-version": "2026-10-21",
        "x-api-key": "k",
    }
    assert json.loads(request.body) == {
        "model": "m",
        "max_tokens": 9,
        "stream": True,
        "system": "Be brief.",
        "messages": [
            {"role": "user", "content": "a\n\nb"},
            {"role": "assistant", "content": "c"},
            {"role": "user", "content": "é 😀"},
        ],
        "stop_sequences": ["END"],
    }


def test_the_least_that_is_asked() -> None:
    """The limit is required; no key, no header; no system text, no field."""
    assert asked(Prompt("", ASK)) == {
        "model": "claude-opus-5-5",
        "max_tokens": DEFAULT_MAX_TOKENS,
        "stream": True,
        "messages": [{"role": "user", "content": "a"}],
    }
    assert "x-api-key" not in WIRE.request(Prompt("", ASK), endpoint=endpoint(key=None), model="m").headers


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("http://a", "http://a/v1/messages"),
        ("http://a/", "http://a/v1/messages"),
        ("http://a/v1", "http://a/v1/messages"),
        ("http://a/v1/", "http://a/v1/messages"),
        ("http://a/v1/messages", "http://a/v1/messages"),
        ("http://a/anthropic", "http://a/anthropic/v1/messages"),
    ],
)
def test_the_address_is_built_once(base: str, url: str) -> None:
    """People paste every form; the provider's own client adds the version itself."""
    assert WIRE.request(Prompt("", ASK), endpoint=endpoint(base), model="m").url == url


@pytest.mark.parametrize(
    ("model", "effort", "limit", "sent"),
    [
        (
            "claude-opus-5-5",
            "medium",
            None,
            {
                "thinking": {"type": "adaptive", "display": "summarized"},
                "output_config": {"effort": "medium"},
            },
        ),
        (
            "claude-sonnet-4-6",
            "low",
            None,
            {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": "low"}},
        ),
        ("claude-opus-5-5", "none", None, {}),
        ("claude-haiku-4-5-20251001", "low", None, {"thinking": {"type": "enabled", "budget_tokens": 2048}}),
        (
            "claude-sonnet-4-20250514",
            "high",
            30_000,
            {"thinking": {"type": "enabled", "budget_tokens": 16_000}},
        ),
        ("claude-opus-4-5", "high", 8000, {"thinking": {"type": "enabled", "budget_tokens": 7999}}),
        ("claude-3-7-sonnet-latest", "new", None, {"thinking": {"type": "enabled", "budget_tokens": 4096}}),
        ("claude-haiku-4-5", "low", 1024, {}),
        ("claude-3-5-haiku-20241022", "high", None, {}),
        ("claude-3-haiku-20240307", "high", None, {}),
    ],
)
def test_thinking_as_each_generation_of_models_takes_it(
    model: str, effort: str, limit: int | None, sent: dict[str, Any]
) -> None:
    """Asked in the wrong way, it is a 400; a budget must leave room for an answer."""
    body = asked(Prompt("", ASK, {"reasoning_effort": effort, "max_tokens": limit}), model)
    assert {name: body[name] for name in ("thinking", "output_config") if name in body} == sent


@pytest.mark.parametrize(
    ("made", "choice"),
    [
        ({}, {"type": "auto"}),
        ({"tool_choice": "none", "parallel_tool_calls": False}, {"type": "none"}),
        (
            {"tool_choice": "required", "parallel_tool_calls": False},
            {"type": "any", "disable_parallel_tool_use": True},
        ),
        (
            {"tool_choice": {"type": "function", "function": {"name": "f"}}, "parallel_tool_calls": True},
            {"type": "tool", "name": "f"},
        ),
    ],
)
def test_tools_are_strict(made: dict[str, Any], choice: dict[str, Any]) -> None:
    """Every tool that the prompt offers, in the API's own form."""
    body = asked(Prompt("", ASK, made, [ToolDeclaration("f", "Does it.", SCHEMA)]))
    assert (body["tools"], body["tool_choice"]) == (
        [{"name": "f", "description": "Does it.", "input_schema": SCHEMA, "strict": True}],
        choice,
    )


def test_a_json_answer_stands_beside_the_effort() -> None:
    """Both live in one field."""
    form = {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}}
    assert asked(Prompt("", ASK, {"response_format": form, "reasoning_effort": "low"}))["output_config"] == {
        "effort": "low",
        "format": {"type": "json_schema", "schema": SCHEMA},
    }


def test_what_was_carried_goes_back_unchanged() -> None:
    """Its blocks instead of the text, beside plain neighbours; another wire's carry is only text."""
    blocks = [{"type": "thinking", "thinking": "t", "signature": "s"}, {"type": "text", "text": "b"}]
    turns = [
        *(Turn("user", "a"), Turn("assistant", "b", blocks, "anthropic"), Turn("assistant", "c")),
        *(
            Turn("user", "d"),
            Turn("assistant", "e", [{"thoughtSignature": "x"}], "google"),
            Turn("user", "f"),
        ),
    ]
    assert asked(Prompt("", turns))["messages"] == [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": [*blocks, {"type": "text", "text": "c"}]},
        {"role": "user", "content": "d"},
        {"role": "assistant", "content": "e"},
        {"role": "user", "content": "f"},
    ]


def test_another_model_gets_the_text_alone() -> None:
    """Its signature would be refused, and with it every later request of the conversation."""
    turns = [
        Turn("assistant", model, [{"type": "thinking", "signature": "s"}], "anthropic", f"claude-{model}")
        for model in ("opus-5-5", "sonnet-5")
    ]
    assert asked(Prompt("", turns), "claude-opus-5-5")["messages"] == [
        {
            "role": "assistant",
            "content": [{"type": "thinking", "signature": "s"}, {"type": "text", "text": "sonnet-5"}],
        }
    ]


def test_what_is_read_can_be_sent_back() -> None:
    """The whole way round: a reading's carry is the next request's content."""
    thought = (
        begin(0, "thinking", thinking="", signature="")
        + add(0, "thinking_delta", thinking="t")
        + add(0, "signature_delta", signature="s")
        + end(0)
    )
    reading = anthropic(START, thought, begin(1, "text", text="b") + end(1), END_TURN, STOP)
    turn = Turn("assistant", reading.answer, reading.carry, "anthropic")
    assert asked(Prompt("", [turn]))["messages"][0]["content"] == [
        {"type": "thinking", "thinking": "t", "signature": "s"},
        {"type": "text", "text": "b"},
    ]


def test_a_foreign_setting_is_a_bug() -> None:
    """The current version answers `temperature` with an error, so it is none of the settings."""
    foreign: list[dict[str, Any]] = [{"temperature": 1}, {"tools": []}]
    for made in foreign:
        with pytest.raises(UnknownSetting):
            asked(Prompt("", ASK, made))
    with pytest.raises(UnknownSetting):
        asked(Prompt("", ASK, {"tool_choice": "perhaps"}, [ToolDeclaration("f", "", SCHEMA)]))
    assert {"max_tokens", "reasoning_effort", "response_format"} <= SETTINGS


@pytest.mark.parametrize(
    ("status", "word", "message", "reason", "retryable"),
    [
        (429, "rate_limit_error", "m", Reason.rate_limited, True),
        (500, "api_error", "m", Reason.http_error, True),
        (504, "timeout_error", "m", Reason.http_error, True),
        (529, "overloaded_error", "m", Reason.http_error, True),
        (408, "timeout_error", "m", Reason.http_error, True),
        (409, "conflict", "m", Reason.http_error, True),
        (400, "invalid_request_error", "m", Reason.http_error, False),
        (
            *(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
            *(Reason.context_window, False),
        ),
        (401, "authentication_error", "m", Reason.unauthorized, False),
        (402, "billing_error", "m", Reason.quota, False),
        (403, "permission_error", "m", Reason.unauthorized, False),
        (404, "not_found_error", "m", Reason.not_found, False),
        (413, "request_too_large", "m", Reason.http_error, False),
    ],
)
def test_http_errors(status: int, word: str, message: str, reason: Reason, *, retryable: bool) -> None:
    """By the shared rules; what passes by itself is asked again."""
    body = json.dumps(
        {"type": "error", "error": {"type": word, "message": message}, "request_id": "r"}
    ).encode()
    assert WIRE.http_error(status, {}, body) == Verdict(
        Outcome.failed, reason, word, retryable, f"HTTP {status}: {message}"
    )


def test_a_spending_limit_is_not_retried() -> None:
    """It answers 429 like a rate limit, and will answer it all month."""
    error = {"type": "rate_limit_error", "code": "enforced_spend_limit_reached", "message": "m"}
    verdict = WIRE.http_error(
        429, {"retry-after": "3"}, json.dumps({"type": "error", "error": error}).encode()
    )
    assert (verdict.reason, verdict.retryable) == (Reason.quota, False)
