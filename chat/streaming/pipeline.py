"""The chain composed: bytes of one provider's stream in, released text and one reading out. Read it first.

    bytes -> Utf8Decoder -> text -> framing -> events -> wire reader -> deltas
          -> Assembler -> changes -> gates -> released text

Takes chunks of bytes, cut anywhere, and how the body ended; gives the text that may be seen now, and a
`Reading` that is the same for every way of cutting. Whatever the provider's bytes are, `feed` does not raise
for them: their faults become the verdict. Does not know which provider it reads, drafts, time or the network.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn, Protocol

import msgspec

from chat.streaming.assembler import Assembler, Change, Part
from chat.streaming.deltas import Delta, PartKind, TextDelta, Usage, storable
from chat.streaming.errors import (
    EventTooLarge,
    FeedAfterClose,
    MalformedStream,
    ProviderFault,
    ReleaseBeforeClose,
    ReplyTooLong,
)
from chat.streaming.gates import Gate, Immediate
from chat.streaming.outcome import Ending, Outcome, Reason, Verdict
from chat.streaming.reading import Reading, ToolCall
from chat.streaming.sse import DEFAULT_MAX_EVENT_BYTES, Event, SseReader
from chat.streaming.utf8 import Utf8Decoder


class Append(msgspec.Struct, frozen=True, gc=False):
    """Text that may be seen now, at the end of one lane: "answer", "reasoning" or "refusal"."""

    lane: str
    text: str


class WireReader(Protocol):
    """What one wire makes of events. After `finished`, events change nothing: they are counted as late."""

    @property
    def response_id(self) -> str | None:
        """The provider's own name for this reply."""

    @property
    def usage(self) -> Usage | None:
        """Tokens, as last said."""

    @property
    def finished(self) -> bool:
        """Whether the terminal signal (or an error) has come."""

    @property
    def late_events(self) -> int:
        """How many events came after that."""

    @property
    def last_event(self) -> str | None:
        """The last accepted provider event: its id or number, or else the count of accepted events."""

    @property
    def accepted(self) -> int:
        """How many events were accepted. Comments, pings and repeated events are none: while it stands, nothing goes on."""

    @property
    def carry(self) -> list[Any]:
        """What must be sent back unchanged with the next turn (signatures, opaque items); never shown."""

    @property
    def divergence(self) -> str | None:
        """Where the provider contradicted itself or events are missing: a whole text cannot be trusted then."""

    def feed(self, event: Event) -> list[Delta]:
        """Return what this event adds; raise `MalformedStream` if it is not of this wire."""

    def close(self, ending: Ending) -> Verdict:
        """Judge the stream, now that its body has ended in this way."""


class Framing(Protocol):
    """How text is cut into events: `SseReader`, or a JSON array, or lines."""

    def feed(self, text: str) -> list[Event]:
        """Return the events that this text completes; raise `EventTooLarge` past the limit."""

    def close(self) -> list[Event]:
        """Return the events that the end of the body completes."""


def immediate(_kind: PartKind) -> Gate:
    """Release every kind of part at once."""
    return Immediate()


DEFAULT_MAX_CHARS = 2_000_000

_FAULTS: dict[type[ProviderFault], tuple[Reason, bool]] = {
    # The same prompt may well give the same giant again; a mangled stream is mostly the network's doing.
    EventTooLarge: (Reason.event_too_large, False),
    ReplyTooLong: (Reason.event_too_large, False),
    MalformedStream: (Reason.malformed_stream, True),
}


class Pipeline:
    """Reads one stream, once."""

    def __init__(
        self,
        reader: WireReader,
        *,
        max_event_bytes: int = DEFAULT_MAX_EVENT_BYTES,
        max_chars: int = DEFAULT_MAX_CHARS,
        gate: Callable[[PartKind], Gate] = immediate,
        framing: Callable[[int], Framing] = SseReader,
    ) -> None:
        self.fault: Verdict | None = None
        self._reader = reader
        self._utf8 = Utf8Decoder()
        self._max_chars = self._room = max_chars
        self._make_framing = partial(framing, max_event_bytes)
        self._framing = self._make_framing()
        self._assembler = Assembler()
        self._make_gate = gate
        self._gates: list[Gate | None] = []
        self._reasoning_shown: Part | None = None
        self._rule: str | None = None
        self._silenced: str | None = None
        # The last part, where its gate lets everything through at once: nearly every delta continues it, and needs
        # neither a search nor a gate.
        self._open: Part | None = None
        self._verdict: Verdict | None = None
        self._deaf = False  # whether the bytes that still come are worth nothing

    @property
    def started(self) -> bool:
        """Whether the first delta of any part has come."""
        return bool(self._assembler.parts)

    @property
    def finished(self) -> bool:
        """Whether nothing that may still come can matter: the connection can be closed."""
        return self._reader.finished or self.fault is not None

    def feed(self, chunk: bytes) -> list[Append]:
        """Return the text that these bytes release, in order, neighbours of one lane joined."""
        if self._verdict is not None:
            raise FeedAfterClose(self)
        released = _Released()
        if not self._deaf:
            for text in self._utf8.feed(chunk):
                self._read(self._framing.feed, text, released)
        return released.take()

    def reconnect(self) -> None:
        """Read on from a new body of the same stream, by the provider's cursor. An event that the old body cut off is
        forgotten: the new one brings it whole."""
        if self._verdict is not None:
            raise FeedAfterClose(self)
        self._utf8 = Utf8Decoder()
        self._framing = self._make_framing()

    def close(self, ending: Ending) -> list[Append]:
        """Say how the body ended, and return the text that this releases; the gates go on holding theirs."""
        released = _Released()
        if self._verdict is not None:
            return released.take()
        if not self._deaf:
            for text in self._utf8.close():
                self._read(self._framing.feed, text, released)
        if not self._deaf:
            self._read(lambda _: self._framing.close(), "", released)
        for change in self._assembler.close():
            self._pass(change, released)
        self._verdict = self.fault or self._reader.close(ending)
        return released.take()

    def release(self) -> list[Append]:
        """Return what the gates still hold: for a stream that has ended whole and was found good."""
        if self._verdict is None:
            raise ReleaseBeforeClose("expected close() before release(), got an open stream")
        released = _Released()
        for part, gate in zip(self._assembler.parts, self._gates, strict=False):
            if gate is not None and self.fault is None:
                self._show(part, gate, gate.close(), released)
        return released.take()

    def reading(self) -> Reading:
        """Return what the stream amounts to so far; `open` until it was closed or a fault ended it."""
        verdict = self.fault or self._verdict or Verdict(Outcome.open)
        reader = self._reader
        parts = self._assembler
        return Reading(
            outcome=verdict.outcome,
            reason=verdict.reason,
            provider_reason=verdict.provider_reason,
            retryable=verdict.retryable,
            answer="".join(part.text for part in parts.of_kind(PartKind.answer)),
            reasoning_parts=[part.text for part in parts.of_kind(PartKind.reasoning)],
            refusal="".join(part.text for part in parts.of_kind(PartKind.refusal)),
            tool_calls=_tool_calls(parts, requested=verdict.outcome is Outcome.tool_requested),
            response_id=reader.response_id,
            usage=reader.usage,
            detail=verdict.detail,
            last_event=reader.last_event,
            carry=_storable_values(reader.carry),
            divergence=reader.divergence,
            late_events=reader.late_events,
            rule=self._rule,
            silenced=self._silenced,
        )

    def _read(self, split: Callable[[str], list[Event]], text: str, released: _Released) -> None:
        try:
            events, too_large = split(text), None
        except EventTooLarge as error:
            events, too_large = error.events, error
        run: list[str] = []
        chars = 0
        try:
            feed = self._reader.feed
            for event in events:
                for delta in feed(event):
                    part = self._open
                    if (
                        part is not None
                        and isinstance(delta, TextDelta)
                        and part.kind is delta.kind
                        and part.key == delta.key
                    ):
                        run.append(delta.text)
                        chars += len(delta.text)
                        continue
                    self._end_run(run, released)
                    for change in self._assembler.feed(delta):
                        self._pass(change, released)
                if chars >= self._room:
                    # Counted for certain only now: what a text becomes when it is made storable may be shorter.
                    self._end_run(run, released)
                    chars = 0
                    if self._room < 0:
                        raise ReplyTooLong(self._max_chars)
                if self.fault is not None:
                    return
            if too_large is not None:
                self._deaf = True
                # Nothing after the terminal signal is read, so a giant there is nobody's fault.
                if not self._reader.finished:
                    raise too_large
        except ProviderFault as error:
            reason, retryable = _FAULTS[type(error)]
            self._deaf = True
            self.fault = Verdict(Outcome.failed, reason, None, retryable, str(error))
        finally:
            self._end_run(run, released)

    def _end_run(self, run: list[str], released: _Released) -> None:
        """Let the open part grow by all that was said in a row."""
        part = self._open
        if run and part is not None:
            if text := part.grow("".join(run)):
                self._room -= len(text)
                released.add(part.lane, text)
            run.clear()

    def _pass(self, change: Change, released: _Released) -> None:
        part = change.part
        self._room -= len(change.delta)
        number = part.number
        # A part may have come before it had anything to say: half a character, of which the other half is awaited.
        for fresh in self._assembler.parts[len(self._gates) : number + 1]:
            self._gates.append(None if fresh.kind is PartKind.tool_arguments else self._make_gate(fresh.kind))
        gate = self._gates[number]
        if gate is not None:
            self._show(part, gate, gate.feed(change.delta), released)
        self._open = part if isinstance(gate, Immediate) else None

    def _show(self, part: Part, gate: Gate, texts: list[str], released: _Released) -> None:
        if texts:
            if part.kind is PartKind.reasoning and part is not self._reasoning_shown:
                if self._reasoning_shown is not None:
                    released.add(part.lane, "\n\n")
                self._reasoning_shown = part
            for text in texts:
                released.add(part.lane, text)
        if gate.blocked is None:
            return
        if part.kind is PartKind.reasoning:
            # A model may well think of what it then does not say: its thoughts are shown no further, and the reply goes on.
            self._silenced = self._silenced or gate.blocked
        else:
            self._deaf = True
            self._rule = gate.blocked
            self.fault = Verdict(
                Outcome.refused, Reason.policy, detail=f"rule {gate.blocked} blocked the {part.kind}"
            )


class _Released:
    """Collects released text, neighbours of one lane joined."""

    __slots__ = ("_lane", "_pieces", "_runs")

    def __init__(self) -> None:
        self._lane = ""
        self._pieces: list[str] = []
        self._runs: list[Append] = []

    def add(self, lane: str, text: str) -> None:
        if lane != self._lane:
            self._end_run()
            self._lane = lane
        self._pieces.append(text)

    def take(self) -> list[Append]:
        self._end_run()
        return self._runs

    def _end_run(self) -> None:
        if self._pieces:
            self._runs.append(Append(self._lane, "".join(self._pieces)))
            self._pieces = []


def _tool_calls(parts: Assembler, *, requested: bool) -> list[ToolCall]:
    calls = sorted(parts.of_kind(PartKind.tool_arguments), key=lambda part: part.position)
    return [_tool_call(part, requested=requested) for part in calls]


def _tool_call(part: Part, *, requested: bool) -> ToolCall:
    # Arguments that happen to parse before the terminal signal may still grow: only whole calls are parsed.
    arguments = _arguments(part) if requested else None
    complete = isinstance(arguments, dict) and bool(part.name)
    return ToolCall(part.call_id, part.name, part.text if part.spoken else None, arguments, complete)


def _arguments(part: Part) -> Any:
    try:
        value = part.value
        if value is None:
            value = json.loads(part.text, parse_constant=_refuse_constant)
        json.dumps(value, allow_nan=False)  # a number beyond all bounds is no JSON that a database takes
        return _storable_values(value)
    except (ValueError, RecursionError):
        return None


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"expected JSON, got {word}")


def _storable_values(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, list):
        return [_storable_values(item) for item in value]
    if isinstance(value, dict):
        return {storable(key): _storable_values(item) for key, item in value.items()}
    return value
