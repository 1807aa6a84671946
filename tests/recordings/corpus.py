"""Recorded bodies and what a correct reader must conclude from each, from three places.

`contract/`: hand-made cases with their answer beside them. `own/`: long streams of our own, with the same kind of
answer. The recorded streams of real providers are not part of this repository: they lie in `../shared/streams` (or
where `GYMNASIA_STREAMS` says), with hashes in a manifest; the outcomes are derived here, on purpose without the
product's code. Under `CI=true` it is an error if they are absent.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
STREAMS = Path(os.environ.get("GYMNASIA_STREAMS") or HERE.parents[2] / "shared" / "streams")

READING_KEYS = [
    *("outcome", "reason", "provider_reason", "retryable", "confirmable", "answer", "reasoning", "refusal"),
    *("tool_calls", "response_id", "usage"),
]

# Servers that are known to omit or mis-frame `[DONE]`.
RELAXED = {"llamacpp", "ollama", "perplexity", "writer", "gpustack", "huggingface"}

Expected = dict[str, Any]

BORDER = re.compile(rb"\r\n\r\n|\n\n|\r\r")
"""The end of an event in a body whose line ends are all of one kind."""


@dataclass(frozen=True)
class Case:
    """One body, how it ended, in which dialect, and its expected reading (some or all keys)."""

    name: str
    body: bytes
    expected: Expected = field(repr=False)
    profile: str | None = None
    ending: str = "eof"

    def __str__(self) -> str:
        return self.name


def contract_cases(*folders: str) -> list[Case]:
    """Return the hand-made cases of these folders of `contract/`."""
    return [_case(path) for folder in folders for path in sorted((HERE / "contract" / folder).glob("*.json"))]


def own_cases() -> list[Case]:
    """Return our own long streams."""
    return [_case(path) for path in sorted((HERE / "own").glob("*.json"))]


def _case(path: Path) -> Case:
    told = json.loads(path.read_text(encoding="utf-8"))
    body = path.with_suffix(".sse").read_bytes()
    keys = READING_KEYS if "outcome" in told else ["events", "last_event_id", "retry"]
    expected = {key: told[key] for key in keys}
    return Case(
        f"{path.parent.name}/{path.stem}", body, expected, told.get("dialect"), told.get("ending", "eof")
    )


def streams_are_here() -> bool:
    """Say whether the recorded streams can be read; raise under CI, where nothing may be skipped."""
    if (STREAMS / "MANIFEST.tsv").is_file():
        return True
    if os.environ.get("CI", "").lower() in {"1", "true", "yes"}:
        raise FileNotFoundError(
            f"CI is set, and no recorded streams at {STREAMS}: nothing about them would be proven"
        )
    return False


def chat_streams() -> list[Case]:
    """Return every recorded stream whose wire is Chat Completions; empty when they are not here."""
    if not streams_are_here():
        return []
    with (STREAMS / "MANIFEST.tsv").open(encoding="utf-8", newline="") as manifest:
        rows = list(csv.DictReader(manifest, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [_stream(row) for row in rows if row["wire_api"] == "openai-chat"]


def _stream(row: dict[str, str]) -> Case:
    path = STREAMS / row["file"]
    body = path.read_bytes()
    if row["file"].startswith("chunks/"):
        lines = [line for line in body.split(b"\n") if line.strip()]
        body = b"".join(b"data: " + line + b"\n\n" for line in [*lines, b"[DONE]"])
    return Case(row["file"], body, _expected(row), row["vendor"])


def _expected(row: dict[str, str]) -> Expected:
    outcome, reason, provider_reason = _outcome(row)
    requested = outcome == "tool_requested"
    calls = []
    for name, text in json.loads(row["tool_calls"]):
        arguments = json.loads(text) if requested and text else None
        calls.append((name, text, arguments, isinstance(arguments, dict)))
    return {
        "outcome": outcome,
        "reason": reason,
        "provider_reason": provider_reason,
        # All recorded errors are rejections of what was asked.
        "retryable": False if outcome == "failed" else None,
        "confirmable": outcome == "complete",
        "answer": _told_text(row, "answer"),
        "reasoning": _told_text(row, "reasoning"),
        "refusal": _told_text(row, "refusal"),
        "tool_calls": calls,
        "usage": _usage(json.loads(row["usage"])) if row["usage"] else None,
    }


def _outcome(row: dict[str, str]) -> tuple[str, str | None, str | None]:
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


def _told_text(row: dict[str, str], kind: str) -> tuple[int, str]:
    return int(row[f"{kind}_chars"]), row[f"{kind}_sha256"]


def hashed(text: str) -> tuple[int, str]:
    """Return a text as the manifest describes one: its length and its hash; an empty text has none."""
    return len(text), hashlib.sha256(text.encode()).hexdigest() if text else ""


def _usage(raw: dict[str, Any]) -> dict[str, int | None]:
    cached = (raw.get("prompt_tokens_details") or {}).get("cached_tokens", raw.get("prompt_cache_hit_tokens"))
    reasoning = (raw.get("completion_tokens_details") or {}).get("reasoning_tokens")
    return {
        "input": raw["prompt_tokens"],
        "output": raw["completion_tokens"],
        "reasoning": reasoning,
        "cached_input": cached,
    }
