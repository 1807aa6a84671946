"""Google's generate wire: what is not an answer, and what is asked."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.providers.base import Endpoint, Prompt, Secret, ToolDeclaration, Turn
from chat.providers.google import SETTINGS, Google
from chat.streaming.errors import UnknownSetting
from chat.streaming.outcome import Reason
from tests.providers.google_bodies import HI, STOP, calls, data, google, judged, says

# --- what is not an answer --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "part",
    [
        b"data\n\n",
        b"data:\n\n",
        b": keep-alive\n\n",
        b"data: : PROCESSING\n\n",
        b"data: [DONE]\n\n",
        b"event: ping\n\n",
        b" {\n\n",
        data([]),
        data([{"candidates": [{"content": {"parts": [{"text": "no"}]}}]}]),
        data(7),
        data("text"),
        data(None),
        data({}),
        data({"text": "no", "content": {"parts": [{"text": "no"}]}}),
        data({"candidates": None}),
        data({"candidates": []}),
        data({"candidates": {"content": {"parts": [{"text": "no"}]}}}),
        data({"candidates": ["no", None, 5, {}]}),
        data({"candidates": [{"content": None}]}),
        data({"candidates": [{"content": "no"}]}),
        data({"candidates": [{"content": {}}]}),
        data({"candidates": [{"content": {"parts": {"text": "no"}}}]}),
        data({"candidates": [{"content": {"parts": ["no", None, 5, [], {}]}}]}),
        says({"text": "no"}, finish="SAFETY", index=1),
        says({"text": "no"}, index=-1),
        says({"text": ""}, {"text": None}, {"text": ["no"]}, {"text": 5}),
        says({"thought": True}, {"thoughtSignature": "no"}),
        says({"executableCode": {"code": "no"}}, {"codeExecutionResult": {"output": "no"}}),
        says({"inlineData": {"data": "no"}}, {"fileData": {"fileUri": "no"}}, {"hologram": {"text": "no"}}),
        says({"toolCall": {"name": "no", "args": {}}}, {"toolResponse": {"text": "no"}}),
        says({"functionCall": "no"}, {"functionResponse": {"name": "no"}}),
        data(
            {
                "candidates": [{"groundingMetadata": {"text": "no"}, "finishMessage": "no"}],
                "modelVersion": "no",
            }
        ),
        data({"choices": [{"delta": {"content": "no"}}]}),
        data({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "no"}}),
    ],
)
def test_foreign_things_add_nothing(part: bytes) -> None:
    """Before the text, inside it and after the finish."""
    reading = google(part, HI, part, says({"text": "!"}), part, STOP, part)
    assert judged(reading) == ("complete", None, "STOP", None)
    assert (reading.answer, reading.reasoning, reading.refusal, reading.tool_calls) == ("Hi!", "", "", [])


def test_thoughts_are_one_part_and_never_the_answer() -> None:
    """However they are mixed with text."""
    reading = google(
        says({"text": "t", "thought": True}, {"text": "a", "thought": False}),
        says({"text": "b"}, {"text": "u", "thought": True, "thoughtSignature": "s"}),
        STOP,
    )
    assert (reading.reasoning_parts, reading.answer) == (["tu"], "ab")


def test_the_first_id_names_the_reply() -> None:
    """It is made storable; chunks are counted, comments are not."""
    reading = google(
        data({"responseId": ""}), b": x\n\n", data({"responseId": "r\0"}), data({"responseId": "s"})
    )
    assert (reading.response_id, reading.last_event) == ("r\ufffd", "3")
    assert google().last_event is None


_NAMES_TEXT = """
    candidates content parts text thought thoughtSignature functionCall name id args partialArgs jsonPath stringValue
    numberValue willContinue finishReason index usageMetadata promptTokenCount promptFeedback blockReason error code
    continuationToken responseId
"""
NAMES = _NAMES_TEXT.split()


@settings(deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(0, 2) | st.floats() | st.sampled_from(["STOP", "$.a", "a"]),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5)
        ),
        max_leaves=14,
    )
)
def test_any_json_is_read_without_an_exception(value: Any) -> None:
    """In every place; and an orderly end is no answer without a finish reason, nor is a broken one with it."""
    shapes = [value, {"candidates": [value]}, {"candidates": [{"content": value}]}]
    shapes += [
        {"candidates": [{"content": {"parts": [value, {"functionCall": value}]}}]},
        {"usageMetadata": value},
    ]
    for parts in (map(data, shapes), [json.dumps(shapes).encode()[:-1]]):
        reading = google(*parts, STOP, ending="cut")
        assert not reading.confirmable
        json.dumps(reading.carry, allow_nan=False)


# --- what is asked ----------------------------------------------------------------------------------------------------

WIRE = Google()
SCHEMA = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
ASK = [Turn("user", "a")]


def endpoint(base_url: str = "http://127.0.0.1:9/v1beta", key: str | None = "k") -> Endpoint:
    """Some endpoint."""
    return Endpoint("e", "E", "google", base_url, "K", "google", (), Secret(key) if key else None)


def asked(prompt: Prompt, model: str = "gemini-3.8-flash") -> dict[str, Any]:
    """The body that is sent."""
    body: dict[str, Any] = json.loads(WIRE.request(prompt, endpoint=endpoint(), model=model).body)
    return body


def test_a_request_in_full() -> None:
    """Method, address, headers and body; turns of one role are joined, and the model's are called `model`."""
    prompt = Prompt(
        "Be brief.",
        [Turn("user", "a"), Turn("user", "b"), Turn("assistant", "c"), Turn("user", "é 😀")],
        {
            "max_tokens": 9,
            "temperature": 0.5,
            "top_p": 1,
            "stop": ["END"],
            "seed": 7,
            "reasoning_effort": "medium",
        },
    )
    request = WIRE.request(prompt, endpoint=endpoint(), model="gemini-3.8-flash")
    assert (request.method, request.url) == (
        "POST",
        "http://127.0.0.1:9/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse",
    )
    assert request.headers == {
        "content-type": "application/json",
        "accept": "text/event-stream",
        "accept-encoding": "identity",
        "x-goog-api-key": "k",
    }
    assert json.loads(request.body) == {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "a\n\nb"}]},
            {"role": "model", "parts": [{"text": "c"}]},
            {"role": "user", "parts": [{"text": "é 😀"}]},
        ],
        "generationConfig": {
            "maxOutputTokens": 9,
            "temperature": 0.5,
            "topP": 1,
            "seed": 7,
            "stopSequences": ["END"],
            "thinkingConfig": {"includeThoughts": True, "thinkingLevel": "medium"},
        },
    }


def test_the_least_that_is_asked() -> None:
    """No setting, no field; no key, no header."""
    assert asked(Prompt("", ASK)) == {"contents": [{"role": "user", "parts": [{"text": "a"}]}]}
    assert (
        "x-goog-api-key" not in WIRE.request(Prompt("", ASK), endpoint=endpoint(key=None), model="m").headers
    )


@pytest.mark.parametrize(
    ("base", "model", "path"),
    [
        ("http://a", "m", "/v1beta/models/m"),
        ("http://a/v1beta/", "m", "/v1beta/models/m"),
        ("http://a/v1", "models/m", "/v1/models/m"),
        ("http://a/gateway", "a/b?c", "/gateway/v1beta/models/a%2Fb%3Fc"),
    ],
)
def test_the_address_is_built_once(base: str, model: str, path: str) -> None:
    """People paste every form; a model's name is never a path."""
    url = WIRE.request(Prompt("", ASK), endpoint=endpoint(base), model=model).url
    assert url == f"http://a{path}:streamGenerateContent?alt=sse"


@pytest.mark.parametrize(
    ("model", "effort", "thinking"),
    [
        ("gemini-3.8-flash", "high", {"includeThoughts": True, "thinkingLevel": "high"}),
        ("gemini-3.8-flash", "none", None),
        ("gemini-3.8-flash", None, None),
        ("gemini-2.5-flash", "none", {"includeThoughts": False, "thinkingBudget": 0}),
        ("gemini-2.5-flash", "low", {"includeThoughts": True, "thinkingBudget": 1024}),
        ("models/gemini-2.5-pro", "new", {"includeThoughts": True, "thinkingBudget": -1}),
    ],
)
def test_thinking_as_each_generation_of_models_takes_it(
    model: str, effort: str | None, thinking: dict[str, Any] | None
) -> None:
    """The 2.5 models count tokens, the later ones have levels."""
    config = asked(Prompt("", ASK, {"reasoning_effort": effort}), model).get("generationConfig", {})
    assert config.get("thinkingConfig") == thinking


@pytest.mark.parametrize(
    ("choice", "calling"),
    [
        (None, {"mode": "VALIDATED"}),
        ("auto", {"mode": "VALIDATED"}),
        ("none", {"mode": "NONE"}),
        ("required", {"mode": "ANY"}),
        ({"type": "function", "function": {"name": "f"}}, {"mode": "ANY", "allowedFunctionNames": ["f"]}),
    ],
)
def test_tools_are_strict(choice: Any, calling: dict[str, Any]) -> None:
    """This API has no flag for it, but a mode."""
    body = asked(Prompt("", ASK, {"tool_choice": choice}, [ToolDeclaration("f", "Does it.", SCHEMA)]))
    declared = {"name": "f", "description": "Does it.", "parametersJsonSchema": SCHEMA}
    assert (body["tools"], body["toolConfig"]) == (
        [{"functionDeclarations": [declared]}],
        {"functionCallingConfig": calling},
    )


def test_a_json_answer_is_asked_for_in_its_own_way() -> None:
    """With the schema as it is."""
    form = {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}}
    assert asked(Prompt("", ASK, {"response_format": form}))["generationConfig"] == {
        "responseMimeType": "application/json",
        "responseJsonSchema": SCHEMA,
    }


def test_what_was_carried_goes_back_unchanged() -> None:
    """Its parts instead of the text; another wire's carry is only text."""
    parts = [{"text": "b"}, {"text": "", "thoughtSignature": "s"}]
    turns = [
        *(
            Turn("user", "a"),
            Turn("assistant", "b", parts, "google"),
            Turn("assistant", "c"),
            Turn("user", "d"),
        ),
        *(Turn("assistant", "e", [{"type": "thinking", "signature": "x"}], "anthropic"), Turn("user", "f")),
    ]
    assert asked(Prompt("", turns))["contents"] == [
        {"role": "user", "parts": [{"text": "a"}]},
        {"role": "model", "parts": [*parts, {"text": "c"}]},
        {"role": "user", "parts": [{"text": "d"}]},
        {"role": "model", "parts": [{"text": "e"}]},
        {"role": "user", "parts": [{"text": "f"}]},
    ]


def test_what_is_read_can_be_sent_back() -> None:
    """The whole way round: a reading's carry is the next request's parts."""
    call = calls(name="f", args={"a": 1}) | {"thoughtSignature": "s"}
    reading = google(says({"text": "b"}), says(call), STOP)
    turn = Turn("assistant", reading.answer, reading.carry, "google")
    assert asked(Prompt("", [turn]))["contents"] == [{"role": "model", "parts": [{"text": "b"}, call]}]


def test_a_reply_goes_on_by_its_token() -> None:
    """In a field of the next request, and in no turn; later turns make it void."""
    carry = google(HI, says(finish="CONTINUATION", continuationToken="tok")).carry
    going_on = [*ASK, Turn("assistant", "", carry, "google")]
    assert asked(Prompt("", going_on)) == asked(Prompt("", ASK)) | {"continuationToken": "tok"}
    assert "continuationToken" not in asked(Prompt("", [*going_on, *ASK]))


def test_a_foreign_setting_is_a_bug() -> None:
    """A setting that is dropped in silence is a lie to the person who made it."""
    foreign: list[dict[str, Any]] = [{"parallel_tool_calls": True}, {"tools": []}]
    for made in foreign:
        with pytest.raises(UnknownSetting):
            asked(Prompt("", ASK, made))
    with pytest.raises(UnknownSetting):
        asked(Prompt("", ASK, {"tool_choice": "perhaps"}, [ToolDeclaration("f", "", SCHEMA)]))
    assert {"max_tokens", "reasoning_effort", "response_format"} <= SETTINGS


def test_an_http_error_is_judged_by_this_providers_rules() -> None:
    """Details: test_google_faults.py."""
    verdict = WIRE.http_error(429, {}, b'[{"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}]')
    assert (verdict.reason, verdict.provider_reason, verdict.retryable) == (
        Reason.rate_limited,
        "RESOURCE_EXHAUSTED",
        True,
    )
