"""What a correct reader concludes from each recorded stream of Google's generate wire."""

from __future__ import annotations

import json
from typing import Any

from tests.recordings.manifest import Call, Ended, Manifest, Row

SHORT = {"MAX_TOKENS": "max_tokens", "RECITATION": "content_filter"}

# One stream ends in an error that was pasted, unframed, after its last event. The manifest counts events only; the
# contract says that such an error fails the stream.
PASTED_ERRORS = {"google-generate/vertex-error-firebase.sse": "CANCELLED"}


def _body(lines: list[bytes]) -> bytes:
    return b"".join(b"data: " + line + b"\r\n\r\n" for line in lines)


def _outcome(row: Row) -> Ended:
    finish = row["finish_reason"] or None
    if row["file"] in PASTED_ERRORS:
        return "failed", "provider_error", PASTED_ERRORS[row["file"]]
    if finish is None:
        return "incomplete", "stream_truncated", None
    if finish.startswith("blocked:"):
        return "refused", "prompt_blocked", finish.removeprefix("blocked:")
    if finish in SHORT:
        return "incomplete", SHORT[finish], finish
    assert finish == "STOP", row["file"]
    return ("complete" if row["tool_calls"] == "[]" else "tool_requested"), None, finish


def _calls(told: list[list[str]], requested: bool) -> list[Call]:  # noqa: FBT001 (one row, one meaning)
    # The manifest writes the objects down as text; the wire sends no text.
    return [(name, None, json.loads(text) if requested else None, requested) for name, text in told]


def _usage(raw: dict[str, Any]) -> dict[str, int | None] | None:
    counts = {
        "input": raw.get("promptTokenCount"),
        "output": raw.get("candidatesTokenCount"),
        "reasoning": raw.get("thoughtsTokenCount"),
        "cached_input": raw.get("cachedContentTokenCount"),
    }
    return counts if counts["input"] is not None or counts["output"] is not None else None


MANIFEST = Manifest(_body, _outcome, _calls, _usage)
