"""One provider that speaks every wire: the address that is asked says which, as at the vendors.

Takes requests, gives a short reply in that wire's own events, a word at a time, with the number of the question in it. Keeps
the records of the scripted provider. Written from the contract, without the product's code.
"""

import json
from typing import Any

from tests.fakes import responses
from tests.fakes.anywhere import AnywhereProvider
from tests.fakes.provider import Record
from tests.fakes.script import DONE, FIN, REASON, USAGE, Script, Step, T, Wait, play

PAUSE, REST = Wait(20), Wait(500)  # in mid-reply, long enough for a busy page to show the draft
PATHS = {
    "/tai/v1/chat/completions": "tai",
    "/v1/chat/completions": "openai_chat",
    "/v1/responses": "openai_responses",
    "/v1/messages": "anthropic",
    ":streamGenerateContent": "google",
    "/interactions": "google_interactions",
}


def wire_of(record: Record) -> str:
    """The wire that is asked for at this address."""
    path = record.path.partition("?")[0]
    return next(wire for end, wire in PATHS.items() if path.endswith(end))


def questions(wire: str, body: dict[str, Any]) -> int:
    """How many times the person has spoken, so far."""
    turns = body.get("messages") or body.get("contents") or body["input"]
    return sum(1 for turn in turns if turn.get("role") == "user" or turn.get("type") == "user_input")


def words_of(wire: str, number: int) -> list[str]:
    """The reply to that question, in the pieces in which it is sent."""
    return ["Resposta ", f"{number} ", "por ", f"{wire.replace('_', '-')}: ", "3 × 12 🏋️ ", "está ", "pronto."]


class EveryWire(AnywhereProvider):
    """Answers each question, whatever it is."""

    def take(self, record: Record) -> Script:
        self.requests.append(record)
        wire = wire_of(record)
        said = _SAID[wire](words_of(wire, questions(wire, json.loads(record.body))))
        steps: list[Step] = [step for piece in said for step in (piece, PAUSE)]
        steps.insert(len(said), REST)
        return play(*steps)


def _event(value: dict[str, Any], name: str = "") -> bytes:
    return (f"event: {name}\n" if name else "").encode() + f"data: {json.dumps(value)}\n\n".encode()


def _chat(words: list[str]) -> list[bytes]:
    return [REASON("Conto."), *map(T, words), FIN("stop"), USAGE(9, len(words)), DONE]


def _anthropic(words: list[str]) -> list[bytes]:
    def block(index: int, name: str, **fields: Any) -> bytes:
        kind = f"content_block_{name}"
        return _event({"type": kind, "index": index, **fields}, kind)

    usage = {"input_tokens": 9, "output_tokens": 1}
    ended = {"delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": len(words)}}
    return [
        _event({"type": "message_start", "message": {"id": "msg_1", "usage": usage}}, "message_start"),
        block(0, "start", content_block={"type": "thinking", "thinking": "", "signature": ""}),
        block(0, "delta", delta={"type": "thinking_delta", "thinking": "Conto."}),
        block(0, "delta", delta={"type": "signature_delta", "signature": "c2lnbmVk"}),
        block(0, "stop"),
        block(1, "start", content_block={"type": "text", "text": ""}),
        *(block(1, "delta", delta={"type": "text_delta", "text": word}) for word in words),
        block(1, "stop"),
        _event({"type": "message_delta", **ended}, "message_delta"),
        _event({"type": "message_stop"}, "message_stop"),
    ]


def _google(words: list[str]) -> list[bytes]:
    def chunk(*parts: dict[str, Any], **fields: Any) -> bytes:
        return _event({"candidates": [{"content": {"role": "model", "parts": list(parts)}, **fields}]})

    usage = {"promptTokenCount": 9, "candidatesTokenCount": len(words)}
    end = {
        "candidates": [{"content": {"role": "model", "parts": []}, "finishReason": "STOP"}],
        "usageMetadata": usage,
    }
    return [
        chunk({"text": "Conto.", "thought": True}),
        *(chunk({"text": word}) for word in words[:-1]),
        chunk({"text": words[-1], "thoughtSignature": "c2lnbmVk"}),
        _event(end),
    ]


def _interactions(words: list[str]) -> list[bytes]:
    def step(name: str, index: int, **fields: Any) -> bytes:
        return _event({"event_type": f"step.{name}", "index": index, **fields}, f"step.{name}")

    usage = {"total_input_tokens": 9, "total_output_tokens": len(words)}
    began = {"interaction": {"id": "v1_1", "status": "in_progress"}, "event_type": "interaction.created"}
    whole = {"interaction": {"id": "v1_1", "status": "completed", "usage": usage}}
    summary = {"type": "thought_summary", "content": {"type": "text", "text": "Conto."}}
    return [
        _event(began, "interaction.created"),
        step("start", 0, step={"type": "thought"}),
        step("delta", 0, delta=summary),
        step("delta", 0, delta={"type": "thought_signature", "signature": "c2lnbmVk"}),
        step("stop", 0),
        step("start", 1, step={"type": "model_output"}),
        *(step("delta", 1, delta={"type": "text", "text": word}) for word in words),
        step("stop", 1),
        _event({**whole, "event_type": "interaction.completed"}, "interaction.completed"),
        b"event: done\ndata: [DONE]\n\n",
    ]


_SAID = {
    "openai_chat": _chat,
    "tai": _chat,
    "openai_responses": responses.events,
    "anthropic": _anthropic,
    "google": _google,
    "google_interactions": _interactions,
}
