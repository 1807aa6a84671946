"""What a correct reader concludes from each recorded stream of the Responses wire."""

from __future__ import annotations

import json
from typing import Any

from tests.recordings.manifest import Call, Ended, Manifest, Row


def _body(lines: list[bytes]) -> bytes:
    named = ((json.loads(line)["type"].encode(), line) for line in lines)
    return b"".join(b"event: " + name + b"\ndata: " + line + b"\n\n" for name, line in named)


def _outcome(row: Row) -> Ended:
    status, _, why = row["finish_reason"].partition(":")
    if status == "incomplete":
        assert why == "max_output_tokens", row["file"]
        return "incomplete", "max_tokens", why
    assert (row["terminal"], status) == ("response.completed", "completed"), row["file"]
    if row["refusal_chars"] != "0":
        return "refused", "model_refusal", status
    return ("complete" if row["tool_calls"] == "[]" else "tool_requested"), None, status


def _calls(told: list[list[str]], requested: bool) -> list[Call]:  # noqa: FBT001 (one row, one meaning)
    return [(name, text, json.loads(text) if requested else None, requested) for name, text in told]


def _usage(raw: dict[str, Any]) -> dict[str, int | None]:
    return {
        "input": raw["input_tokens"],
        "output": raw["output_tokens"],
        "reasoning": raw["output_tokens_details"]["reasoning_tokens"],
        "cached_input": raw["input_tokens_details"]["cached_tokens"],
    }


MANIFEST = Manifest(_body, _outcome, _calls, _usage)
