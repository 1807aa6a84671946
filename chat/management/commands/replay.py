"""`manage.py replay`: a recorded body through the product's own reading, as one JSON object.

Takes a file of bytes and how to cut it; prints what the product makes of it. Does not touch the database or a
network.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from django.core.management.base import BaseCommand, CommandError, CommandParser

from chat.providers import SSE, WIRES, EventLog, read
from chat.streaming.errors import ProviderFault
from chat.streaming.outcome import ENDING_REASONS
from chat.streaming.reading import Reading


class Command(BaseCommand):
    """Replay one recorded body."""

    help = (
        "Usage: replay --wire WIRE [--profile NAME] [--chunk N] [--cut N] [--ending eof|cut] FILE. "
        "Reads a recorded response body and prints its reading as one JSON object; "
        "the reading does not depend on --chunk and --cut."
    )
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the flags of the design."""
        # A wrong flag is answered by one line; the usage stands in the help.
        parser.usage = argparse.SUPPRESS
        parser.add_argument("file", metavar="FILE", help="the body, as its bytes came")
        parser.add_argument("--wire", required=True, help=f"one of: {', '.join(_wires())}")
        parser.add_argument("--profile", help="a dialect or vendor; an unknown one is the strict default")
        parser.add_argument("--chunk", type=_at_least(1), metavar="N", help="deliver N bytes at a time")
        parser.add_argument("--cut", type=_at_least(0), metavar="N", help="deliver two chunks, cut at byte N")
        parser.add_argument("--ending", choices=["eof", "cut"], default="eof", help="how the body ends")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Read, and print."""
        if options["wire"] not in _wires():
            raise CommandError(f"unknown wire {options['wire']!r}; known: {', '.join(_wires())}")
        try:
            body = Path(options["file"]).read_bytes()
        except OSError as error:
            raise CommandError(f"cannot read {options['file']}: {error.strerror}") from error
        chunks = _chunks(body, size=options["chunk"], cut=options["cut"])
        try:
            result = read(options["wire"], chunks, profile=options["profile"], ending=options["ending"])
        except ProviderFault as error:
            raise CommandError(str(error)) from error
        if body and isinstance(result, Reading) and _says_nothing(result):
            self.stderr.write(
                f"nothing in these {len(body)} bytes means anything on the wire {options['wire']}: another wire's body?"
            )
        shown = _shown_events(result) if isinstance(result, EventLog) else _shown_reading(result)
        encoding = getattr(self.stdout, "encoding", None) or "utf-8"
        self.stdout.write(json.dumps(shown, ensure_ascii=not encoding.lower().startswith("utf")))


def _wires() -> list[str]:
    return sorted([*WIRES, SSE])


def _at_least(minimum: int) -> Any:
    def number(text: str) -> int:
        value = int(text) if text.isascii() and text.isdigit() else -1
        if value < minimum:
            raise argparse.ArgumentTypeError(f"expected a whole number of at least {minimum}, got {text!r}")
        return value

    return number


def _chunks(body: bytes, *, size: int | None, cut: int | None) -> Iterator[bytes]:
    pieces = [body] if cut is None else [body[:cut], body[cut:]]
    for piece in pieces:
        step = size or len(piece) or 1
        for start in range(0, len(piece), step):
            yield piece[start : start + step]


def _says_nothing(reading: Reading) -> bool:
    told = (
        reading.answer,
        reading.reasoning,
        reading.refusal,
        reading.tool_calls,
        reading.response_id,
        reading.usage,
    )
    return not any(told) and reading.reason in ENDING_REASONS.values()


def _shown_reading(reading: Reading) -> dict[str, Any]:
    names = "outcome reason provider_reason retryable confirmable answer reasoning refusal tool_calls response_id usage"
    shown: dict[str, Any] = {name: getattr(reading, name) for name in names.split()}
    builtin: dict[str, Any] = msgspec.to_builtins(shown)
    return builtin


def _shown_events(log: EventLog) -> dict[str, Any]:
    builtin: dict[str, Any] = msgspec.to_builtins(log)
    return builtin
