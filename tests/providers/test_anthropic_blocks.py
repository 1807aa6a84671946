"""Blocks are kept apart, and what must be sent back is kept exactly as it came."""

from __future__ import annotations

from typing import Any

import pytest

from chat.streaming.reading import ToolCall
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
    finish,
    text,
)


def thinking(words: str, signature: str = "c2ln", index: int = 0) -> bytes:
    """A whole thinking block."""
    return (
        begin(index, "thinking", thinking="", signature="")
        + add(index, "thinking_delta", thinking=words)
        + add(index, "signature_delta", signature=signature)
        + end(index)
    )


def signed(words: str, signature: str = "c2ln") -> dict[str, Any]:
    """The same block, whole."""
    return {"type": "thinking", "thinking": words, "signature": signature}


def arguments(index: int, *pieces: str) -> bytes:
    """Pieces of a call's arguments."""
    return b"".join(add(index, "input_json_delta", partial_json=piece) for piece in pieces)


def tool(index: int, *pieces: str, name: str = "f", **fields: Any) -> bytes:
    """A whole call."""
    call = begin(index, "tool_use", id=f"t{index}", name=name, **({"input": {}} | fields))
    return call + arguments(index, *pieces) + end(index)


# --- what is heard ----------------------------------------------------------------------------------------------------


def test_each_thinking_block_is_one_part() -> None:
    """Whatever stands between them; text blocks are one text."""
    reading = anthropic(
        START, thinking("a"), text("b", 1), thinking("c", index=2), text("d", 3), END_TURN, STOP
    )
    assert (reading.reasoning_parts, reading.reasoning, reading.answer) == (["a", "c"], "a\n\nc", "bd")


def test_blocks_may_interleave_and_starts_may_hold_text() -> None:
    """The index says which; some servers put the first words into the start."""
    reading = anthropic(
        *(START, begin(0, "thinking", thinking="a"), begin(1, "text", text="x")),
        *(add(1, "text_delta", text="y"), add(0, "thinking_delta", thinking="b"), end(1), end(0)),
        *(END_TURN, STOP),
    )
    assert (reading.reasoning_parts, reading.answer, reading.confirmable) == (["ab"], "xy", True)


def test_a_constant_or_missing_index_opens_a_new_block_each_time() -> None:
    """Some gateways number nothing, or everything alike."""
    constant = text("a") + tool(0, "{}") + text("b")
    missing = constant.replace(b'"index": 0, ', b"").replace(b', "index": 0', b"")
    assert b"index" not in missing
    for body in (constant, missing):
        reading = anthropic(START, body, finish("tool_use"), STOP)
        assert (reading.outcome, reading.answer, reading.tool_calls) == (
            "tool_requested",
            "ab",
            [ToolCall("t0", "f", "{}", {}, complete=True)],
        )


@pytest.mark.parametrize(
    ("block", "call"),
    [
        (tool(0), ToolCall("t0", "f", "", {}, complete=True)),
        (tool(0, "", ""), ToolCall("t0", "f", "", {}, complete=True)),
        (tool(0, "", '{"a', '":1}'), ToolCall("t0", "f", '{"a":1}', {"a": 1}, complete=True)),
        (tool(0, input={"a": 1}), ToolCall("t0", "f", "", {"a": 1}, complete=True)),
        (tool(0, '{"b":2}', input={"a": 1}), ToolCall("t0", "f", '{"b":2}', {"b": 2}, complete=True)),
        (tool(0, '{"a'), ToolCall("t0", "f", '{"a', None, complete=False)),
        (tool(0, " "), ToolCall("t0", "f", " ", None, complete=False)),
        (tool(0, '{"a":NaN}'), ToolCall("t0", "f", '{"a":NaN}', None, complete=False)),
        (tool(0, '{"a":1e999}'), ToolCall("t0", "f", '{"a":1e999}', None, complete=False)),
        (tool(0, "[]"), ToolCall("t0", "f", "[]", [], complete=False)),
        (tool(0, name=""), ToolCall("t0", "", "", {}, complete=False)),
        (begin(0, "tool_use", id=5, name=None) + end(0), ToolCall("", "", "", {}, complete=False)),
    ],
)
def test_arguments(block: bytes, call: ToolCall) -> None:
    """All empty means `{}`: this API says so. Everything else is as it came, and nothing is repaired."""
    reading = anthropic(START, block, finish("tool_use"), STOP)
    assert (reading.outcome, reading.tool_calls) == ("tool_requested", [call])


def test_parallel_calls_stay_apart_and_in_order() -> None:
    """Interleaved by index; the server's own tools are not for us."""
    reading = anthropic(
        *(
            START,
            begin(0, "tool_use", id="a", name="f"),
            begin(1, "server_tool_use", id="s", name="web_search"),
        ),
        *(
            begin(2, "tool_use", id="b", name="g"),
            arguments(2, '{"x":'),
            arguments(0, "{"),
            arguments(1, '{"q":1}'),
        ),
        *(arguments(2, "2}"), arguments(0, "}"), end(2), end(1), end(0)),
        *(begin(3, "web_search_tool_result", tool_use_id="s", content=[{"title": "no"}]), end(3)),
        *(finish("tool_use"), STOP),
    )
    assert reading.tool_calls == [
        ToolCall("a", "f", "{}", {}, complete=True),
        ToolCall("b", "g", '{"x":2}', {"x": 2}, complete=True),
    ]


def test_a_limit_runs_no_call() -> None:
    """The last call may be cut although its block got a stop, and although it parses."""
    reading = anthropic(START, tool(0, "{}"), tool(1), finish("max_tokens"), STOP)
    assert [(call.arguments, call.complete) for call in reading.tool_calls] == [(None, False)] * 2


# --- what is carried --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("blocks", "carry"),
    [
        (HI, []),
        (text("a") + text("b", 1), []),
        (thinking("a") + text("b", 1), [signed("a"), {"type": "text", "text": "b"}]),
        # The newest models may send thinking without its text.
        (thinking("") + text("b", 1), [signed(""), {"type": "text", "text": "b"}]),
        (
            begin(0, "redacted_thinking", data="eHg=") + end(0) + text("", 1),
            [{"type": "redacted_thinking", "data": "eHg="}],
        ),
        (
            tool(0, '{"a":', "1}", caller={"type": "direct"}),
            [{"type": "tool_use", "id": "t0", "name": "f", "input": {"a": 1}, "caller": {"type": "direct"}}],
        ),
        (tool(0), [{"type": "tool_use", "id": "t0", "name": "f", "input": {}}]),
        (
            begin(0, "text", text="", citations=[])
            + add(0, "citations_delta", citation={"url": "u"})
            + add(0, "text_delta", text="b")
            + end(0)
            + begin(1, "web_search_tool_result", content=[1])
            + end(1),
            [
                {"type": "text", "text": "b", "citations": [{"url": "u"}]},
                {"type": "web_search_tool_result", "content": [1]},
            ],
        ),
        (
            begin(0, "compaction", content=None) + add(0, "compaction_delta", content="c") + end(0),
            [{"type": "compaction", "content": "c"}],
        ),
        # Compatible servers sign nothing: such thinking would be refused.
        (thinking("a", "") + text("b", 1), []),
        (thinking("a", "") + tool(1), [{"type": "tool_use", "id": "t1", "name": "f", "input": {}}]),
        # What could not be kept exactly is not sent back at all.
        (thinking("a") + begin(1, "hologram") + add(1, "hologram_delta", x=1) + end(1), []),
        (thinking("a\0") + text("b", 1), []),
        (thinking("a\ud800") + text("b", 1), []),
        (tool(0, '{"a'), []),
        (begin(0, "redacted_thinking", data=float("nan")) + end(0), []),
        (begin(0, "text", text=5) + add(0, "text_delta", text="b") + end(0), []),
    ],
)
def test_what_goes_back_unchanged(blocks: bytes, carry: list[Any]) -> None:
    """Signatures are worthless to a person and needed by the provider: they are in no text."""
    reading = anthropic(START, blocks, END_TURN, STOP)
    assert reading.carry == carry
    assert "c2ln" not in reading.answer + reading.reasoning


def test_halves_of_a_pair_are_joined_in_what_goes_back() -> None:
    """As they are in the text."""
    halves = add(1, "text_delta", text="\ud83d") + add(1, "text_delta", text="\ude00")
    reading = anthropic(START, thinking("a"), begin(1, "text", text=""), halves, end(1), END_TURN, STOP)
    assert reading.carry == [signed("a"), {"type": "text", "text": "😀"}]


@pytest.mark.parametrize(
    ("ends", "kept"),
    [
        ([END_TURN, STOP], True),
        ([finish("pause_turn"), STOP], True),
        ([finish("tool_use"), STOP], True),
        ([finish("max_tokens"), STOP], False),
        # A refused turn must not stay in the history, or refusals go on.
        ([finish("refusal"), STOP], False),
        ([END_TURN], False),
        ([STOP], False),
        ([event("error", error={"type": "api_error"})], False),
    ],
)
def test_only_a_whole_reply_is_carried(ends: list[bytes], *, kept: bool) -> None:
    """Half a thought has no signature; a paused reply goes on from its own blocks."""
    assert anthropic(START, thinking("a"), *ends).carry == ([signed("a")] if kept else [])
