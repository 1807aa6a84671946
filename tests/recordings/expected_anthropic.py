"""What a correct reader concludes from each recorded stream of Anthropic's Messages wire."""

from __future__ import annotations

import json
from typing import Any

from tests.recordings.manifest import Call, Ended, Manifest, Row

SHORT = {
    "max_tokens": ("incomplete", "max_tokens"),
    "pause_turn": ("incomplete", "paused"),
    "refusal": ("refused", "refusal"),
}


def _body(lines: list[bytes]) -> bytes:
    return b"".join(b"event: %s\ndata: %s\n\n" % (json.loads(line)["type"].encode(), line) for line in lines)


def _outcome(row: Row) -> Ended:
    assert (row["terminal"], row["error"]) == ("message_stop", ""), row["file"]
    finish = row["finish_reason"]
    if finish in SHORT:
        return *SHORT[finish], finish
    if finish == "tool_use":
        return "tool_requested", None, finish
    assert finish in {"end_turn", "stop_sequence"}, row["file"]
    return "complete", None, finish


def _calls(told: list[list[str]], requested: bool) -> list[Call]:  # noqa: FBT001 (one row, one meaning)
    # An empty text means `{}` on this wire.
    found = [(name, text, json.loads(text or "{}") if requested else None) for name, text in told]
    return [(name, text, arguments, isinstance(arguments, dict)) for name, text, arguments in found]


def _usage(raw: dict[str, Any]) -> dict[str, int | None]:
    return {
        "input": raw["input_tokens"],
        "output": raw["output_tokens"],
        "reasoning": raw.get("output_tokens_details", {}).get("thinking_tokens"),
        "cached_input": raw.get("cache_read_input_tokens"),
    }


MANIFEST = Manifest(_body, _outcome, _calls, _usage)
