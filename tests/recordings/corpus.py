"""Recorded bodies and what a correct reader must conclude from each, from three places.

`contract/`: hand-made cases with their answer beside them. `own/`: long streams of our own, with the same kind of
answer. The recorded streams of real providers are not part of this repository: they lie in `../shared/streams` (or
where `GYMNASIA_STREAMS` says), with hashes in a manifest; the outcomes are derived by the `expected_*.py` beside
this file, one per wire, on purpose without the product's code. Under `CI=true` it is an error if they are absent.
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

from tests.recordings import expected_anthropic, expected_chat, expected_google, expected_responses
from tests.recordings.expected_chat import RELAXED

__all__ = [
    "BORDER",
    "HERE",
    "MANIFESTS",
    "READING_KEYS",
    "RELAXED",
    "STREAMS",
    "Case",
    "chat_streams",
    "contract_cases",
    "hashed",
    "own_cases",
    "streams",
    "streams_are_here",
]

HERE = Path(__file__).parent
STREAMS = Path(os.environ.get("GYMNASIA_STREAMS") or HERE.parents[2] / "shared" / "streams")

READING_KEYS = [
    *("outcome", "reason", "provider_reason", "retryable", "confirmable", "answer", "reasoning", "refusal"),
    *("tool_calls", "response_id", "usage"),
]

# The wire of each kind of case, and of each kind of recorded stream with what its rows say.
WIRES = {
    "sse": "sse",
    "openai_chat": "openai_chat",
    "openai_compat": "openai_chat",
    "openai_responses": "openai_responses",
    "anthropic": "anthropic",
    "gemini": "google",
    "gemini_interactions": "google_interactions",
}
MANIFESTS = {
    "openai-chat": ("openai_chat", expected_chat.MANIFEST),
    "anthropic-messages": ("anthropic", expected_anthropic.MANIFEST),
    "google-generate": ("google", expected_google.MANIFEST),
    "openai-responses": ("openai_responses", expected_responses.MANIFEST),
}

Expected = dict[str, Any]

BORDER = re.compile(rb"\r\n\r\n|\n\n|\r\r")
"""The end of an event in a body whose line ends are all of one kind."""


@dataclass(frozen=True)
class Case:
    """One body, its wire, how it ended, in which dialect, and its expected reading (some or all keys).

    `abridged`: events were left out of the recording, so that what the provider says of the whole cannot agree.
    """

    name: str
    body: bytes
    expected: Expected = field(repr=False)
    profile: str | None = None
    ending: str = "eof"
    wire: str = "openai_chat"
    abridged: bool = False

    def __str__(self) -> str:
        return self.name


def contract_cases(*folders: str) -> list[Case]:
    """Return the hand-made cases of these folders of `contract/`."""
    return [_case(path) for folder in folders for path in sorted((HERE / "contract" / folder).glob("*.json"))]


def own_cases(*wires: str) -> list[Case]:
    """Return our own long streams of these wires; without any, of the chat wire."""
    cases = [_case(path) for path in sorted((HERE / "own").glob("*.json"))]
    return [case for case in cases if case.wire in (wires or ("openai_chat",))]


def _case(path: Path) -> Case:
    told = json.loads(path.read_text(encoding="utf-8"))
    body = next(path.with_suffix(end) for end in (".sse", ".body") if path.with_suffix(end).exists())
    keys = READING_KEYS if "outcome" in told else ["events", "last_event_id", "retry"]
    expected = {key: told[key] for key in keys}
    return Case(
        f"{path.parent.name}/{path.stem}",
        body.read_bytes(),
        expected,
        told.get("dialect"),
        told.get("ending", "eof"),
        WIRES[told["api"]],
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
    return streams("openai-chat")


def streams(wire_api: str) -> list[Case]:
    """Return every recorded stream of a wire, by the manifest's name for it; empty when they are not here."""
    if not streams_are_here():
        return []
    with (STREAMS / "MANIFEST.tsv").open(encoding="utf-8", newline="") as manifest:
        rows = list(csv.DictReader(manifest, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [_stream(row) for row in rows if row["wire_api"] == wire_api]


def _stream(row: dict[str, str]) -> Case:
    wire, manifest = MANIFESTS[row["wire_api"]]
    body = (STREAMS / row["file"]).read_bytes()
    if row["file"].startswith("chunks/"):
        body = manifest.body([line for line in body.split(b"\n") if line.strip()])
    outcome, reason, provider_reason = manifest.outcome(row)
    usage = json.loads(row["usage"]) if row["usage"] else None
    expected = {
        "outcome": outcome,
        "reason": reason,
        "provider_reason": provider_reason,
        # All recorded errors are rejections of what was asked.
        "retryable": False if outcome == "failed" else None,
        "confirmable": outcome == "complete",
        **{kind: _told_text(row, kind) for kind in ("answer", "reasoning", "refusal")},
        "tool_calls": manifest.calls(json.loads(row["tool_calls"]), outcome == "tool_requested"),
        "usage": manifest.usage(usage) if usage else None,
    }
    abridged = row["fidelity"] == "chunks-abridged"
    return Case(row["file"], body, expected, row["vendor"], wire=wire, abridged=abridged)


def _told_text(row: dict[str, str], kind: str) -> tuple[int, str]:
    return int(row[f"{kind}_chars"]), row[f"{kind}_sha256"]


def hashed(text: str) -> tuple[int, str]:
    """Return a text as the manifest describes one: its length and its hash; an empty text has none."""
    return len(text), hashlib.sha256(text.encode()).hexdigest() if text else ""
