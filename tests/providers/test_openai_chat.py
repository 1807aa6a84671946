"""The chat wire: what is heard of each chunk, and what is asked."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.providers.base import Endpoint, Prompt, Secret, ToolDeclaration, Turn
from chat.providers.openai_chat import SETTINGS, OpenAIChat
from chat.streaming.deltas import Usage
from chat.streaming.errors import UnknownSetting
from chat.streaming.reading import ToolCall
from tests.providers.chat_bodies import DONE, HI, STOP, Chunk, chat, delta, event, judged

# --- what is not an answer --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "part",
    [
        b"data\n\n",
        b"data:\n\n",
        b"data: \ndata:\n\n",
        b": OPENROUTER PROCESSING\n\n",
        b"data: : OPENROUTER PROCESSING\n\n",
        b"id: 5\n\n",
        b"event: ping\n\n",
        event({"type": "ping"}, "ping"),
        event([]),
        event([{"choices": [{"delta": {"content": "no"}}]}]),
        event("7"),
        event('"text"'),
        event("null"),
        event({}),
        event({"content": "no", "text": "no", "message": {"content": "no"}}),
        event({"choices": None}),
        event({"choices": []}),
        event({"choices": {"index": 0, "delta": {"content": "no"}}}),
        event({"choices": ["no", None, 5]}),
        event({"choices": [{"index": 0, "delta": None}]}),
        event({"choices": [{"index": 0, "delta": "no"}]}),
        event({"choices": [{"index": 0, "text": "no", "message": {"content": "no"}}]}),
        event({"choices": [{"index": 1, "delta": {"content": "no"}, "finish_reason": "length"}]}),
        event({"choices": [{"index": -1, "delta": {"content": "no"}}]}),
        event({"candidates": [{"content": {"parts": [{"text": "no"}]}}]}),
        event(
            {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "no"}},
            "content_block_delta",
        ),
        delta(content=None, role="", refusal=None),
        delta(content={"text": "no"}),
        delta(content=[{"type": "image_url", "text": 5}, "no", None, {"type": "reference", "text": "no"}]),
        delta(content=7, tool_calls="no", reasoning=["no"], audio={"transcript": "no"}),
        delta(reasoning_details=["no", {"summary": "no"}, {"text": 5}]),
        delta(tool_calls=[]),
        delta(tool_calls=["no", 5]),
        event({"choices": [], "prompt_filter_results": []}),
        event({"choices": [{"index": 0, "finish_reason": None, "content_filter_results": {}}]}),
        event({"choices": [{"index": 0, "delta": {}}], "obfuscation": "aaaa"}),
    ],
)
def test_foreign_things_add_nothing(part: bytes) -> None:
    """Before the text, inside it and after the finish."""
    reading = chat(part, HI, part, delta(content="!"), STOP, part, DONE, part)
    assert judged(reading) == ("complete", None, "stop", None)
    assert (reading.answer, reading.reasoning, reading.refusal, reading.tool_calls) == ("Hi!", "", "", [])


# --- what is heard ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("deltas", "reasoning"),
    [
        ([{"reasoning_content": "a", "reasoning": "a"}, {"reasoning": "b"}], "ab"),
        ([{"reasoning_content": "", "reasoning": "b"}, {"reasoning_content": None, "reasoning": "c"}], "bc"),
        (
            [
                {"reasoning": "a", "reasoning_details": [{"text": "a"}]},
                {"reasoning_details": [{"text": "all"}]},
            ],
            "a",
        ),
        (
            [{"reasoning_details": [{"text": "a"}, {"text": "b"}]}, {"reasoning_details": [{"text": "c"}]}],
            "abc",
        ),
        ([{"content": [{"type": "thinking", "thinking": "a"}]}], "a"),
        ([{"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "a"}, 5]}]}], "a"),
    ],
)
def test_reasoning_is_heard_once(deltas: list[Chunk], reasoning: str) -> None:
    """Whatever its field is called, and never from two fields at a time; it is never the answer."""
    found = chat(*(delta(**fields) for fields in deltas), HI, STOP, DONE)
    assert (found.reasoning_parts, found.answer) == ([reasoning], "Hi")


def call(
    index: int | None = None, id_: str | None = None, name: str | None = None, arguments: str | None = None
) -> Chunk:
    """One fragment of a tool call."""
    found: Chunk = {"index": index, "id": id_, "function": {"name": name, "arguments": arguments}}
    return {key: value for key, value in found.items() if value is not None}


def whole(id_: str, name: str, text: str) -> ToolCall:
    """A call that may run."""
    return ToolCall(id_, name, text, json.loads(text), complete=True)


@pytest.mark.parametrize(
    ("fragments", "calls"),
    [
        ([[call(0, "a", "f", "{}")]], [whole("a", "f", "{}")]),
        ([[call(0, "a", "f", "")], [call(0, None, None, "{}")]], [whole("a", "f", "{}")]),
        ([[call(1, "b", "g", "[")], [call(0, "a", "f", "{}")], [call(1, None, None, "]")]], None),
        (
            [[call(0, "a", "f", "{}"), call(1, "b", "g", "{}")]],
            [whole("a", "f", "{}"), whole("b", "g", "{}")],
        ),
        (
            [[call(0, "a", "f", "{}")], [call(0, "b", "f", "{}")]],
            [whole("a", "f", "{}"), whole("b", "f", "{}")],
        ),
        ([[call(0, "a", "f", "{")], [call(0, "a", "f", "}")]], [whole("a", "f", "{}")]),
        ([[call(0, "a", "f", "{")], [call(0, "b", None, "}")]], [whole("a", "f", "{}")]),
        ([[call(None, "a", "f", "{")], [call(None, None, None, "}")]], [whole("a", "f", "{}")]),
        ([[call(None, "a", "f", "{")], [call(None, "a", None, "}")]], [whole("a", "f", "{}")]),
        (
            [[call(None, "a", "f", "{}"), call(None, "b", "g", "{}")]],
            [whole("a", "f", "{}"), whole("b", "g", "{}")],
        ),
        (
            [[call(None, "x", "f", "{}")], [call(None, "x", "g", "{}")]],
            [whole("x", "f", "{}"), whole("x", "g", "{}")],
        ),
        ([[call(0, None, None, "{}")], [call(0, "a", None)], [call(0, None, "f")]], [whole("a", "f", "{}")]),
        (
            [[{"index": 0, "id": "a", "function": {"name": "f"}}]],
            [ToolCall("a", "f", "", None, complete=False)],
        ),
        ([[{"index": 0, "id": "a"}]], [ToolCall("a", "", "", None, complete=False)]),
        ([[call(0, "a", None, "{}")]], [ToolCall("a", "", "{}", {}, complete=False)]),
    ],
)
def test_fragments_find_their_call(fragments: list[list[Chunk]], calls: list[ToolCall] | None) -> None:
    """By index; without one, by id; a constant index with a new id and name opens a new call."""
    found = chat(*(delta(tool_calls=calls) for calls in fragments), delta("tool_calls"), DONE)
    if calls is None:
        calls = [whole("a", "f", "{}"), ToolCall("b", "g", "[]", [], complete=False)]
    assert (found.outcome, found.tool_calls) == ("tool_requested", calls)


def test_the_old_function_call() -> None:
    """It has no id, and comes in pieces as well."""
    pieces = [{"name": "f", "arguments": '{"a'}, {"arguments": '":1}'}]
    found = chat(*(delta(function_call=piece) for piece in pieces), delta("function_call"), DONE)
    assert (found.outcome, found.tool_calls) == ("tool_requested", [whole("", "f", '{"a":1}')])


@pytest.mark.parametrize(
    ("finish", "outcome"),
    [("stop", "tool_requested"), ("length", "incomplete"), ("content_filter", "incomplete")],
)
def test_a_call_runs_only_when_it_was_requested_whole(finish: str, outcome: str) -> None:
    """Some dialects always say stop; after a limit the arguments are cut, even if they happen to parse."""
    found = chat(delta(tool_calls=[call(0, "a", "f", "{}")]), delta(finish), DONE)
    assert (found.outcome, found.tool_calls[0].complete) == (outcome, outcome == "tool_requested")


def test_usage_the_last_one_wins() -> None:
    """Totals are replaced, never added; Groq's own place counts only where there is no other."""
    totals = {"prompt_tokens": 10, "completion_tokens": 4, "prompt_cache_hit_tokens": 2}
    groq = event({"x_groq": {"usage": {"prompt_tokens": 1, "completion_tokens": 1}}})
    running = [event({"usage": {"prompt_tokens": 10, "completion_tokens": n}}) for n in range(3)]
    assert chat(*running, groq, event({"usage": totals}), event({"usage": None})).usage == Usage(
        10, 4, None, 2
    )
    assert chat(groq).usage == Usage(1, 1)
    assert chat(DONE, event({"usage": totals})).usage is None
    absurd: list[Any] = [{}, {"prompt_tokens": "5"}, {"prompt_tokens": -1, "completion_tokens": 2**40}, [], 5]
    assert [chat(event({"usage": usage})).usage for usage in absurd] == [None] * 5


def test_the_first_id_that_is_one_names_the_reply() -> None:
    """Azure sends empty ones first; a joined second response does not rename the first."""
    found = chat(event({"id": ""}), event({"id": "a\0"}), event({"id": "b"}))
    assert (found.response_id, found.last_event) == ("a\ufffd", "3")


@settings(deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
        lambda children: (
            st.lists(children, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "choices",
                        "delta",
                        "content",
                        "tool_calls",
                        "function",
                        "index",
                        "id",
                        "error",
                        "usage",
                        "x_groq",
                        "finish_reason",
                        "reasoning",
                        "reasoning_details",
                        "text",
                        "type",
                        "refusal",
                        "arguments",
                    ]
                ),
                children,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_any_json_is_read_without_an_exception(value: Any) -> None:
    """And never makes an answer out of a stream without its terminal signal."""
    assert not chat(
        event(value), event({"choices": [value]}), event({"choices": [{"delta": value}]})
    ).confirmable


# --- what is asked ----------------------------------------------------------------------------------------------------

WIRE = OpenAIChat()


def endpoint(profile: str, key: str | None = "k") -> Endpoint:
    """Some endpoint."""
    return Endpoint(
        "e", "E", "openai_chat", "http://127.0.0.1:9/v1", "K", profile, (), Secret(key) if key else None
    )


def asked(prompt: Prompt, profile: str = "strict") -> Chunk:
    """The body that is sent."""
    body: Chunk = json.loads(WIRE.request(prompt, endpoint=endpoint(profile), model="m").body)
    return body


def test_a_request_in_full() -> None:
    """Method, address, headers and body; turns of one role are joined."""
    prompt = Prompt(
        "Be brief.",
        [Turn("user", "a"), Turn("user", "b"), Turn("assistant", "c"), Turn("user", "d")],
        {"max_tokens": 9, "temperature": 0.5, "stop": None},
    )
    request = WIRE.request(prompt, endpoint=endpoint("openai"), model="m")
    assert (request.method, request.url) == ("POST", "http://127.0.0.1:9/v1/chat/completions")
    assert request.headers == {
        "content-type": "application/json",
        "accept": "text/event-stream",
        "accept-encoding": "identity",
        "authorization": "Bearer k",
    }
    assert json.loads(request.body) == {
        "model": "m",
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_completion_tokens": 9,
        "temperature": 0.5,
        "messages": [
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": "a\n\nb"},
            {"role": "assistant", "content": "c"},
            {"role": "user", "content": "d"},
        ],
    }


def test_what_dialects_want() -> None:
    """The limit's name, the system role, whether usage can be asked for."""
    prompt = Prompt("S", [Turn("user", "a")], {"max_tokens": 9})
    seen = {name: asked(prompt, name) for name in ("strict", "openai", "mistral")}
    assert {
        name: (body.get("max_tokens"), body["messages"][0]["role"], "stream_options" in body)
        for name, body in seen.items()
    } == {
        "strict": (9, "system", True),
        "openai": (None, "developer", True),
        "mistral": (9, "system", False),
    }


@pytest.mark.parametrize(
    ("profile", "key", "header"),
    [
        ("strict", None, None),
        ("azure", "k", ("api-key", "k")),
        ("strict", "k", ("authorization", "Bearer k")),
    ],
)
def test_the_key_goes_where_the_server_wants_it(
    profile: str, key: str | None, header: tuple[str, str] | None
) -> None:
    """And nowhere if there is none."""
    headers = WIRE.request(Prompt("", []), endpoint=endpoint(profile, key), model="m").headers
    plain = {"content-type": "application/json", "accept": "text/event-stream", "accept-encoding": "identity"}
    assert headers == plain | (dict([header]) if header else {})


@pytest.mark.parametrize("base", ["http://a/v1", "http://a/v1/", "http://a/v1/chat/completions"])
def test_the_address_is_built_once(base: str) -> None:
    """People paste all three forms."""
    where = Endpoint("e", "E", "openai_chat", base, None, "strict", ())
    assert WIRE.request(Prompt("", []), endpoint=where, model="m").url == "http://a/v1/chat/completions"


def test_no_system_text_is_no_message_and_a_foreign_setting_is_a_bug() -> None:
    """A setting that is dropped in silence is a lie to the person who made it."""
    assert asked(Prompt("", [Turn("user", "é 😀")]))["messages"] == [{"role": "user", "content": "é 😀"}]
    with pytest.raises(UnknownSetting, match="got \\['top_k'\\]"):
        asked(Prompt("", [], {"top_k": 5, "top_p": 1}))
    function = {"name": "f", "description": "does", "parameters": {"type": "object"}, "strict": True}
    body = asked(Prompt("", [], {"tool_choice": "auto"}, [ToolDeclaration("f", "does", {"type": "object"})]))
    assert (body["tools"], body["tool_choice"]) == ([{"type": "function", "function": function}], "auto")
    assert {"max_tokens", "reasoning_effort", "response_format"} <= SETTINGS


def test_an_http_error_is_judged_by_the_shared_rules() -> None:
    """Details: test_faults.py."""
    verdict = WIRE.http_error(429, {}, b'{"error":{"code":"slow_down"}}')
    assert (verdict.reason, verdict.retryable) == ("rate_limited", True)
