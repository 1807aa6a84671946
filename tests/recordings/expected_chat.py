"""What a correct reader concludes from each recorded stream of the chat wire."""

from __future__ import annotations

import json
from typing import Any

from tests.recordings.manifest import Call, Ended, Manifest, Row

# Servers that are known to omit or mis-frame `[DONE]`.
RELAXED = {"llamacpp", "ollama", "perplexity", "writer", "gpustack", "huggingface"}


def _body(lines: list[bytes]) -> bytes:
    return b"".join(b"data: " + line + b"\n\n" for line in [*lines, b"[DONE]"])


def _outcome(row: Row) -> Ended:
    finish = row["finish_reason"] or None
    done = row["terminal"] == "[DONE]" or row["file"].startswith("chunks/")
    if row["error"]:
        error = json.loads(row["error"])
        return "failed", "provider_error", str(error["code"])
    if finish is None or not (done or row["vendor"].replace(".", "") in RELAXED):
        return "incomplete", "stream_truncated", finish
    if row["refusal_chars"] != "0":
        return "refused", "model_refusal", finish
    if finish == "length":
        return "incomplete", "max_tokens", finish
    if finish == "tool_calls" or row["tool_calls"] != "[]":
        return "tool_requested", None, finish
    assert finish == "stop", row["file"]
    return "complete", None, finish


def _calls(told: list[list[str]], requested: bool) -> list[Call]:  # noqa: FBT001 (one row, one meaning)
    calls: list[Call] = []
    for name, text in told:
        arguments = json.loads(text) if requested and text else None
        calls.append((name, text, arguments, isinstance(arguments, dict)))
    return calls


def _usage(raw: dict[str, Any]) -> dict[str, int | None]:
    cached = (raw.get("prompt_tokens_details") or {}).get("cached_tokens", raw.get("prompt_cache_hit_tokens"))
    reasoning = (raw.get("completion_tokens_details") or {}).get("reasoning_tokens")
    return {
        "input": raw["prompt_tokens"],
        "output": raw["completion_tokens"],
        "reasoning": reasoning,
        "cached_input": cached,
    }


MANIFEST = Manifest(_body, _outcome, _calls, _usage)
