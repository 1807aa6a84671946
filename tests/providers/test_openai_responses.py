"""The Responses wire: what is asked, resumed and cancelled."""

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
from chat.providers.openai_chat import OpenAIChat
from chat.providers.openai_responses import SETTINGS, OpenAIResponses
from chat.streaming.errors import UnknownSetting

WIRE = OpenAIResponses()
OPENAI = Endpoint("e", "E", "openai_responses", "http://127.0.0.1:9/v1/", "K", "openai", (), Secret("k"))
AZURE = Endpoint("e", "E", "openai_responses", "http://127.0.0.1:9/v1", "K", "azure", (), Secret("k"))
ASK = [Turn("user", "a")]
HEADERS = {
    "content-type": "application/json",
    "accept": "text/event-stream",
    "accept-encoding": "identity",
    "authorization": "Bearer k",
}


def asked(prompt: Prompt, model: str = "gpt-5-mini") -> dict[str, Any]:
    """The body that is sent."""
    body: dict[str, Any] = json.loads(WIRE.request(prompt, endpoint=OPENAI, model=model).body)
    return body


def test_a_request_in_full() -> None:
    """Method, address, headers and body; turns of one role are joined, what was carried goes before its answer."""
    sealed = {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "gAAA="}
    prompt = Prompt(
        "Be brief.",
        [
            Turn("user", "a"),
            Turn("user", "b"),
            Turn("assistant", "c", [sealed], "openai_responses"),
            Turn("user", "d"),
            Turn("assistant", "e", [{"type": "thinking"}], "anthropic"),
            Turn("user", "f"),
        ],
        {
            "max_tokens": 9,
            "temperature": 0.5,
            "top_p": None,
            "reasoning_effort": "low",
            "reasoning_summary": "auto",
        },
    )
    request = WIRE.request(prompt, endpoint=OPENAI, model="gpt-5-mini")
    assert (request.method, request.url, request.headers) == (
        "POST",
        "http://127.0.0.1:9/v1/responses",
        HEADERS,
    )

    def user(text: str) -> dict[str, Any]:
        return {"role": "user", "content": [{"type": "input_text", "text": text}]}

    def answer(text: str) -> dict[str, Any]:
        content = [{"type": "output_text", "text": text}]
        return {"type": "message", "role": "assistant", "content": content}

    assert json.loads(request.body) == {
        "model": "gpt-5-mini",
        "stream": True,
        "store": False,
        "instructions": "Be brief.",
        "input": [user("a\n\nb"), sealed, answer("c"), user("d"), answer("e"), user("f")],
        "max_output_tokens": 9,
        "temperature": 0.5,
        "reasoning": {"effort": "low", "summary": "auto"},
        "include": ["reasoning.encrypted_content"],
    }


def test_tools_are_offered_strictly() -> None:
    """In the flat form of this API; a chosen tool and a format too."""
    schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    chosen = {"type": "function", "function": {"name": "f"}}
    wanted = {"type": "json_schema", "json_schema": {"name": "n", "schema": schema, "strict": True}}
    settings = {"tool_choice": chosen, "parallel_tool_calls": False, "response_format": wanted}
    body = asked(Prompt("", ASK, settings, [ToolDeclaration("f", "does", schema)]))
    assert body["tools"] == [
        {"type": "function", "name": "f", "description": "does", "parameters": schema, "strict": True}
    ]
    assert (body["tool_choice"], body["parallel_tool_calls"]) == ({"type": "function", "name": "f"}, False)
    assert body["text"] == {"format": {"type": "json_schema", "name": "n", "schema": schema, "strict": True}}
    words = asked(Prompt("", ASK, {"tool_choice": "required", "response_format": {"type": "json_object"}}))
    assert (words["tool_choice"], words["text"]) == ("required", {"format": {"type": "json_object"}})


def test_nothing_is_stored_unless_it_must_be() -> None:
    """What is not stored gives its reasoning in a sealed form, where the model reasons at all."""

    def kept(model: str = "gpt-5-mini", **settings: Any) -> tuple[Any, ...]:
        body = asked(Prompt("", ASK, settings), model)
        return body["store"], body.get("background"), body.get("include")

    sealed = ["reasoning.encrypted_content"]
    assert kept() == (False, None, sealed)
    assert kept(store=True) == (True, None, None)
    assert kept(background=True) == (True, True, None)
    assert kept("gpt-4.1-mini") == kept("openai/gpt-4o") == kept("chatgpt-4o-latest") == (False, None, None)
    assert kept("o4-mini") == (False, None, sealed)
    with pytest.raises(UnknownSetting, match="to be stored"):
        kept(background=True, store=False)


def test_a_foreign_setting_is_a_bug() -> None:
    """A setting that is dropped in silence is a lie to the person who made it."""
    with pytest.raises(UnknownSetting, match="got \\['stop'\\]"):
        asked(Prompt("", ASK, {"stop": "x"}))
    assert {"max_tokens", "reasoning_effort", "background", "store"} <= SETTINGS
    assert "instructions" not in asked(Prompt("", ASK))


def test_the_rest_of_a_lost_stream_can_be_asked_for() -> None:
    """By the number of the last event; the id is the provider's, so it is quoted."""
    resumed = WIRE.resume_request(endpoint=OPENAI, response_id="resp_1/../x", last_event="41")
    assert resumed == UpstreamRequest(
        "GET",
        "http://127.0.0.1:9/v1/responses/resp_1%2F..%2Fx?stream=true&starting_after=41",
        HEADERS,
        b"",
    )
    again = WIRE.resume_request(endpoint=OPENAI, response_id="r", last_event=None)
    assert again.url == "http://127.0.0.1:9/v1/responses/r?stream=true"


def test_what_goes_on_unseen_can_be_cancelled() -> None:
    """It answers with an object, not with a stream."""
    cancelled = WIRE.cancel_request(endpoint=AZURE, response_id="r")
    assert (cancelled.method, cancelled.url, cancelled.body) == (
        "POST",
        "http://127.0.0.1:9/v1/responses/r/cancel",
        b"",
    )
    assert (cancelled.headers["accept"], cancelled.headers["api-key"]) == ("application/json", "k")


def test_only_some_wires_can_resume() -> None:
    """The engine asks for the protocol before it asks for more."""
    assert isinstance(WIRE, ResumableWire)
    assert not isinstance(OpenAIChat(), ResumableWire)


def test_an_http_error_is_judged_by_the_shared_rules() -> None:
    """Details: test_faults.py."""
    verdict = WIRE.http_error(429, {}, b'{"error":{"code":"slow_down"}}')
    assert (verdict.reason, verdict.retryable) == ("rate_limited", True)
