"""What whole items and responses of the Responses wire say: raw objects -> texts by kind, arguments, usage.

Takes the objects of `.done` and terminal events; gives what is in them to be compared with the deltas. Does not
know what came before.
"""

from __future__ import annotations

import json
from typing import Any

from chat.providers.chat_chunk import as_count, as_dict, as_list, as_text
from chat.streaming.deltas import PartKind, Usage, storable

# The kinds of text, each with the letter that keeps its parts apart within one item.
ANSWER, REFUSAL, SUMMARY, RAW = "t", "f", "s", "r"
KINDS = {
    ANSWER: PartKind.answer,
    REFUSAL: PartKind.refusal,
    SUMMARY: PartKind.reasoning,
    RAW: PartKind.reasoning,
}
LETTERS = {
    "output_text": ANSWER,
    "refusal": REFUSAL,
    "summary_text": SUMMARY,
    "reasoning_text": RAW,
}


def same_text(ours: str, theirs: str) -> bool:
    """Say whether two texts are the same once they are storable (halves of pairs may come in two deltas)."""
    return ours == theirs or storable(ours) == storable(theirs)


def told_texts(items: list[dict[str, Any]]) -> dict[str, list[str]]:
    """Return the texts of whole items by kind; a kind of which nothing is told is absent."""
    told: dict[str, list[str]] = {}
    for item in items:
        for part in as_list(item.get("summary")) + as_list(item.get("content")):
            if isinstance(part, dict):
                letter = LETTERS.get(as_text(part.get("type")) or "")
                text = part_text(part)
                if letter is not None and text is not None:
                    told.setdefault(letter, []).append(text)
    return told


def part_text(part: dict[str, Any]) -> str | None:
    return as_text(part.get("refusal")) if part.get("type") == "refusal" else as_text(part.get("text"))


def call_arguments(raw: dict[str, Any]) -> str | None:
    return as_text(raw.get("input" if raw.get("type") == "custom_tool_call" else "arguments"))


def same_arguments(ours: str, theirs: str) -> bool:
    """Say whether two argument texts mean the same: some servers lay the JSON out anew."""
    if same_text(ours, theirs):
        return True
    try:
        return bool(json.loads(ours) == json.loads(theirs))
    except (ValueError, RecursionError):
        return False


def read_usage(raw: Any) -> Usage | None:
    usage = as_dict(raw) or {}
    read, written = as_count(usage.get("input_tokens")), as_count(usage.get("output_tokens"))
    if read is None and written is None:
        return None
    reasoning = as_count((as_dict(usage.get("output_tokens_details")) or {}).get("reasoning_tokens"))
    cached = as_count((as_dict(usage.get("input_tokens_details")) or {}).get("cached_tokens"))
    return Usage(read, written, reasoning, cached)
