"""Streams to decode: one long reply in the words of each wire, as wide and as punctual as the real ones.

Takes how many deltas; gives the events as bytes and the two texts that they hold. The same numbers give the same
bytes. Knows no readers.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

CHUNK_BYTES = 1400
"""What one packet of an ordinary network carries."""

# The wires that are measured, by their names in the product. A fifth of each reply is reasoning.
_REASONING_SHARE = 5

_TOKENS = (
    *(
        " and",
        " the",
        "ly",
        " be",
        "ing",
        "\n\n",
        "2.",
        " of",
        " a",
        " mol",
        "ecule",
        " is",
        " what",
        "s",
        ":",
    ),
    *(" `n`", ' "so"', " não", " über", "、水", " —", " x", "ation"),
)


class Stream(NamedTuple):
    """One reply: its events, and what a reader must make of them."""

    events: list[bytes]
    answer: str
    reasoning: str

    @property
    def chunks(self) -> list[bytes]:
        """The body as the network brings it."""
        body = b"".join(self.events)
        return [body[start : start + CHUNK_BYTES] for start in range(0, len(body), CHUNK_BYTES)]


def _data(value: Any) -> bytes:
    return b"data: " + json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _chat(reasoning: list[str], answer: list[str]) -> Iterator[bytes]:
    head = {
        "id": "chatcmpl-CkW2vT0aXrZ9hQm4LdYs7UbN1eGp3",
        "object": "chat.completion.chunk",
        "created": 1760000000,
        "model": "gpt-5.4-mini-2026-03-17",
        "service_tier": "default",
        "system_fingerprint": None,
    }

    def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return _data({**head, "choices": [choice], "usage": None}) + b"\n\n"

    yield chunk({"role": "assistant", "content": "", "refusal": None})
    for text in reasoning:
        yield chunk({"reasoning_content": text})
    for text in answer:
        yield chunk({"content": text})
    yield chunk({}, "stop")
    counts = {"prompt_tokens": 21, "completion_tokens": 20_000, "total_tokens": 20_021}
    yield _data({**head, "choices": [], "usage": counts}) + b"\n\n"
    yield b"data: [DONE]\n\n"


def _responses(reasoning: list[str], answer: list[str]) -> Iterator[bytes]:
    numbers = iter(range(10_000_000))

    def event(type_: str, **fields: Any) -> bytes:
        body = {"type": type_, "sequence_number": next(numbers), **fields}
        return f"event: {type_}\n".encode() + _data(body) + b"\n\n"

    thought, message = "rs_0c1f9a7be2d84d5c", "msg_0c1f9a7be2d84d5d"
    part = {"type": "output_text", "annotations": [], "logprobs": [], "text": "".join(answer)}
    whole = {
        "id": message,
        "type": "message",
        "status": "completed",
        "role": "assistant",
        "content": [part],
    }
    summary = {"type": "summary_text", "text": "".join(reasoning)}
    thoughts = {"id": thought, "type": "reasoning", "summary": [summary]}
    response = {
        "id": "resp_0c1f9a7be2d84d5b",
        "object": "response",
        "created_at": 1760000000,
        "status": "in_progress",
        "model": "gpt-5.4-mini-2026-03-17",
        "output": [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
    yield event("response.created", response=response)
    yield event("response.in_progress", response=response)
    place: dict[str, Any] = {"item_id": thought, "output_index": 0, "summary_index": 0}
    yield event("response.output_item.added", output_index=0, item={**thoughts, "summary": []})
    yield event("response.reasoning_summary_part.added", **place, part={**summary, "text": ""})
    for text in reasoning:
        yield event("response.reasoning_summary_text.delta", **place, delta=text, obfuscation="k3Jd82Lq")
    yield event("response.reasoning_summary_text.done", **place, text=summary["text"])
    yield event("response.reasoning_summary_part.done", **place, part=summary)
    yield event("response.output_item.done", output_index=0, item=thoughts)
    place = {"item_id": message, "output_index": 1, "content_index": 0}
    yield event("response.output_item.added", output_index=1, item={**whole, "content": []})
    yield event("response.content_part.added", **place, part={**part, "text": ""})
    for text in answer:
        yield event("response.output_text.delta", **place, delta=text, logprobs=[], obfuscation="k3Jd82Lq")
    yield event("response.output_text.done", **place, text=part["text"], logprobs=[])
    yield event("response.content_part.done", **place, part=part)
    yield event("response.output_item.done", output_index=1, item=whole)
    usage = {
        "input_tokens": 21,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 20_000,
        "output_tokens_details": {"reasoning_tokens": 4_000},
        "total_tokens": 20_021,
    }
    done = {**response, "status": "completed", "output": [thoughts, whole], "usage": usage}
    yield event("response.completed", response=done)


def _anthropic(reasoning: list[str], answer: list[str]) -> Iterator[bytes]:
    def event(type_: str, **fields: Any) -> bytes:
        return f"event: {type_}\n".encode() + _data({"type": type_, **fields}) + b"\n\n"

    def delta(index: int, kind: str, **fields: str) -> bytes:
        return event("content_block_delta", index=index, delta={"type": kind, **fields})

    usage = {"input_tokens": 21, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    message: dict[str, object] = {
        "id": "msg_01T9vKq4yLr2mXc8ZbWn5HdP",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-6",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {**usage, "output_tokens": 1},
    }
    yield event("message_start", message=message)
    block = {"type": "thinking", "thinking": "", "signature": ""}
    yield event("content_block_start", index=0, content_block=block)
    yield event("ping")
    for text in reasoning:
        yield delta(0, "thinking_delta", thinking=text)
    yield delta(0, "signature_delta", signature="ErUBCkYIBxgCIkDx0h5s3S9x")
    yield event("content_block_stop", index=0)
    yield event("content_block_start", index=1, content_block={"type": "text", "text": ""})
    for text in answer:
        yield delta(1, "text_delta", text=text)
    yield event("content_block_stop", index=1)
    stop = {"stop_reason": "end_turn", "stop_sequence": None}
    yield event("message_delta", delta=stop, usage={**usage, "output_tokens": 20_000})
    yield event("message_stop")


def _google(reasoning: list[str], answer: list[str]) -> Iterator[bytes]:
    parts = [{"text": text, "thought": True} for text in reasoning] + [{"text": text} for text in answer]
    for number, part in enumerate(parts, 1):
        candidate: dict[str, Any] = {"content": {"parts": [part], "role": "model"}, "index": 0}
        if number == len(parts):
            candidate["finishReason"] = "STOP"
        chunk = {
            "candidates": [candidate],
            "usageMetadata": {
                "promptTokenCount": 21,
                "candidatesTokenCount": number,
                "totalTokenCount": number + 21,
                "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 21}],
            },
            "modelVersion": "gemini-3-flash",
            "responseId": "b1Q4aZ_xHJyTvdIPmvWk-Ao",
        }
        yield _data(chunk) + b"\r\n\r\n"


def _interactions(reasoning: list[str], answer: list[str]) -> Iterator[bytes]:
    numbers = iter(range(10_000_000))

    def event(type_: str, **fields: Any) -> bytes:
        body = {**fields, "event_type": type_, "event_id": f"CkW2vT0aXrZ9hQ{next(numbers):06d}"}
        return f"event: {type_}\n".encode() + _data(body) + b"\n\n"

    interaction: dict[str, Any] = {
        "id": "v1_ChdiMVE0YVpfeEhKeVR2ZElQbXZXay1Bbw",
        "status": "in_progress",
        "object": "interaction",
        "model": "gemini-3-flash",
    }
    yield event("interaction.created", interaction=interaction)
    yield event("interaction.status_update", interaction_id=interaction["id"], status="in_progress")
    yield event("step.start", index=0, step={"type": "thought"})
    for text in reasoning:
        thought = {"type": "thought_summary", "content": {"type": "text", "text": text}}
        yield event("step.delta", index=0, delta=thought)
    signature = {"type": "thought_signature", "signature": "ErUBCkYIBxgCIkDx0h5s3S9x"}
    yield event("step.delta", index=0, delta=signature)
    yield event("step.stop", index=0)
    yield event("step.start", index=1, step={"type": "model_output"})
    for text in answer:
        yield event("step.delta", index=1, delta={"type": "text", "text": text})
    yield event("step.stop", index=1)
    usage = {"total_input_tokens": 21, "total_output_tokens": 16_000, "total_thought_tokens": 4_000}
    yield event("interaction.completed", interaction={**interaction, "status": "completed", "usage": usage})
    yield b"event: done\ndata: [DONE]\n\n"


_WRITERS: dict[str, Callable[[list[str], list[str]], Iterator[bytes]]] = {
    "openai_chat": _chat,
    "openai_responses": _responses,
    "anthropic": _anthropic,
    "google": _google,
    "google_interactions": _interactions,
}
WIRES = tuple(_WRITERS)
"""The wires that have a stream here."""


def stream(wire: str, deltas: int) -> Stream:
    """Return one reply of that many deltas in the words of a wire."""
    chance = random.Random(deltas)
    texts = [chance.choice(_TOKENS) for _ in range(deltas)]
    border = deltas // _REASONING_SHARE
    reasoning, answer = texts[:border], texts[border:]
    return Stream(list(_WRITERS[wire](reasoning, answer)), "".join(answer), "".join(reasoning))
