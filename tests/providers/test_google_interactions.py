"""The Interactions wire: what is asked, resumed and cancelled."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chat.providers.base import (
    Endpoint,
    Prompt,
    ResumableWire,
    Secret,
    ToolDeclaration,
    Turn,
    UpstreamRequest,
)
from chat.providers.google_interactions import SETTINGS, GoogleInteractions
from chat.streaming.errors import UnknownSetting

WIRE = GoogleInteractions()
BASE = "http://127.0.0.1:9/v1beta"
GOOGLE = Endpoint("e", "E", "google_interactions", BASE, "K", "google", (), Secret("k"))
ASK = [Turn("user", "a")]
HEADERS = {
    "content-type": "application/json",
    "accept": "text/event-stream",
    "accept-encoding": "identity",
    "x-goog-api-key": "k",
}


def asked(prompt: Prompt) -> dict[str, Any]:
    """The body that is sent."""
    body: dict[str, Any] = json.loads(WIRE.request(prompt, endpoint=GOOGLE, model="m").body)
    return body


def step(type_: str, text: str) -> dict[str, Any]:
    """One input step."""
    return {"type": type_, "content": [{"type": "text", "text": text}]}


def test_a_request_in_full() -> None:
    """Method, address, headers and body; turns of one role are joined, carried steps stand for their answer."""
    carried = [{"type": "thought", "signature": "c2ln"}, step("model_output", "c")]
    prompt = Prompt(
        "Be brief.",
        [
            Turn("user", "a"),
            Turn("user", "b"),
            Turn("assistant", "c", carried, "google_interactions"),
            Turn("user", "d"),
            Turn("assistant", "e", [{"type": "thinking"}], "anthropic"),
            Turn("user", "f"),
        ],
        {
            "max_tokens": 9,
            "temperature": 0.5,
            "top_p": None,
            "seed": 7,
            "reasoning_effort": "low",
            "reasoning_summary": "auto",
            "stop": "END",
        },
    )
    request = WIRE.request(prompt, endpoint=GOOGLE, model="m")
    assert (request.method, request.url, request.headers) == ("POST", f"{BASE}/interactions", HEADERS)
    assert json.loads(request.body) == {
        "model": "m",
        "stream": True,
        "store": False,
        "system_instruction": "Be brief.",
        "input": [
            step("user_input", "a\n\nb"),
            *carried,
            step("user_input", "d"),
            step("model_output", "e"),
            step("user_input", "f"),
        ],
        "generation_config": {
            "max_output_tokens": 9,
            "temperature": 0.5,
            "seed": 7,
            "thinking_level": "low",
            "thinking_summaries": "auto",
            "stop_sequences": ["END"],
        },
    }


def test_tools_and_formats() -> None:
    """In this API's form, from the words of the chat wire."""
    schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}

    def config(choice: Any) -> Any:
        body = asked(Prompt("", ASK, {"tool_choice": choice}, [ToolDeclaration("f", "does", schema)]))
        assert body["tools"] == [
            {"type": "function", "name": "f", "description": "does", "parameters": schema}
        ]
        return body["generation_config"]["tool_choice"]

    assert [config(word) for word in ("auto", "none", "required")] == ["auto", "none", "any"]
    chosen = {"type": "function", "function": {"name": "f"}}
    assert config(chosen) == {"allowed_tools": {"mode": "any", "tools": ["f"]}}
    wanted = {"type": "json_schema", "json_schema": {"name": "n", "schema": schema, "strict": True}}
    json_text = {"type": "text", "mime_type": "application/json"}
    assert asked(Prompt("", ASK, {"response_format": wanted}))["response_format"] == json_text | {
        "schema": schema
    }
    assert (
        asked(Prompt("", ASK, {"response_format": {"type": "json_object"}}))["response_format"] == json_text
    )
    assert asked(Prompt("", ASK, {"stop": ["a", "b"]}))["generation_config"] == {"stop_sequences": ["a", "b"]}


def test_nothing_is_stored_unless_it_must_be() -> None:
    """The provider's own default is to store."""

    def kept(**settings: Any) -> tuple[Any, Any]:
        body = asked(Prompt("", ASK, settings))
        return body["store"], body.get("background")

    assert (kept(), kept(store=True), kept(background=True)) == ((False, None), (True, None), (True, True))
    with pytest.raises(UnknownSetting, match="to be stored"):
        kept(background=True, store=False)


def test_a_foreign_setting_is_a_bug() -> None:
    """A setting that is dropped in silence is a lie to the person who made it."""
    with pytest.raises(UnknownSetting, match="got \\['presence_penalty'\\]"):
        asked(Prompt("", ASK, {"presence_penalty": 1}))
    assert {"max_tokens", "reasoning_effort", "background", "store"} <= SETTINGS
    assert asked(Prompt("", ASK)).keys() == {"model", "stream", "store", "input"}


def test_what_goes_on_unseen_can_be_resumed_and_cancelled() -> None:
    """By the id of the last event."""
    resumed = WIRE.resume_request(endpoint=GOOGLE, response_id="v1/x", last_event="e 1")
    assert resumed == UpstreamRequest(
        "GET", f"{BASE}/interactions/v1%2Fx?stream=true&last_event_id=e+1", HEADERS, b""
    )
    again = WIRE.resume_request(endpoint=GOOGLE, response_id="v1", last_event=None)
    assert again.url == f"{BASE}/interactions/v1?stream=true"
    cancelled = WIRE.cancel_request(endpoint=GOOGLE, response_id="v1")
    assert (cancelled.method, cancelled.url, cancelled.headers["accept"], cancelled.body) == (
        "POST",
        f"{BASE}/interactions/v1/cancel",
        "application/json",
        b"",
    )
    assert isinstance(WIRE, ResumableWire)


def test_an_http_error_is_judged_by_the_rules_of_google() -> None:
    """Details: test_google_faults.py."""
    verdict = WIRE.http_error(429, {}, b'{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"m"}}')
    assert (verdict.reason, verdict.retryable) == ("rate_limited", True)
