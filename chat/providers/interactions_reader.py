"""The reader of Google's Interactions wire: events -> deltas and one verdict.

Takes events and how the body ended; gives deltas in order of arrival and the verdict: the status in
`interaction.completed` decides. Does not know bytes, gates, requests or the network. Source: ai.google.dev,
"Streaming interactions", also in its words of before May 2026 (`content.*`, `interaction.complete`).
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

from chat.providers.chat_chunk import as_count, as_dict, as_int, as_list, as_text
from chat.providers.faults import WORD_CHARS
from chat.providers.google_faults import google_stream_fault
from chat.providers.interactions_steps import Step, Steps
from chat.streaming.deltas import Delta, PartKind, TextDelta, ToolDelta, Usage, storable
from chat.streaming.errors import MalformedStream
from chat.streaming.outcome import ENDING_REASONS, Ending, Outcome, Reason, Verdict
from chat.streaming.sse import Event

_OPEN = Verdict(Outcome.open)

STATUSES: dict[str, Verdict] = {
    "completed": Verdict(Outcome.complete),
    "requires_action": Verdict(Outcome.tool_requested),
    "incomplete": Verdict(Outcome.incomplete, Reason.incomplete),
    "budget_exceeded": Verdict(Outcome.incomplete, Reason.incomplete),
    "requires_continuation": Verdict(Outcome.incomplete, Reason.continuation),
    "cancelled": Verdict(Outcome.incomplete, Reason.cancelled),
    "failed": Verdict(Outcome.failed, Reason.provider_error, retryable=False),
    "in_progress": _OPEN,
    "queued": _OPEN,
    "idle": _OPEN,
}
"""The status in `interaction.completed` -> what it means. Any other word is `incomplete(unknown)`."""

_UNKNOWN = Verdict(Outcome.incomplete, Reason.unknown)

_KINDS = {
    "step.start": "start",
    "step.delta": "delta",
    "step.stop": "stop",
    "content.start": "start",
    "content.delta": "delta",
    "content.stop": "stop",
    "interaction.created": "interaction",
    "interaction.start": "interaction",
    "interaction.status_update": "interaction",
    "interaction.completed": "completed",
    "interaction.complete": "completed",
}
_NOTHING: list[Delta] = []


class _StepDelta(msgspec.Struct, gc=False):
    type: str | None = None
    text: str | None = None
    signature: str | None = None
    content: Any = None
    arguments: Any = None
    id: str | None = None
    name: str | None = None


class _Event(msgspec.Struct, gc=False):
    event_type: str | None = None
    event_id: str | None = None
    index: int | None = None
    delta: _StepDelta | None = None
    step: Any = None
    content: Any = None
    interaction: Any = None
    interaction_id: str | None = None
    error: Any = None


_decode = msgspec.json.Decoder(_Event).decode


class GoogleInteractionsReader:
    """Reads one stream. Deltas count until `interaction.completed`, or until an error: what comes later is late."""

    def __init__(self) -> None:
        self.response_id: str | None = None
        self.usage: Usage | None = None
        self.finished = False
        self.late_events = 0
        self.divergence: str | None = None
        self.accepted = 0
        self._event_id: str | None = None
        self._steps = Steps()
        self._goes_on = False
        self._verdict: Verdict | None = None

    @property
    def last_event(self) -> str | None:
        """The last event id, from which a stored interaction can be resumed; else the count of events."""
        if self._event_id is not None:
            return storable(self._event_id[:WORD_CHARS])
        return str(self.accepted) if self.accepted else None

    @property
    def carry(self) -> list[Any]:
        """All steps in their order, if any of them is signed or a call; a plain answer needs none of them."""
        return self._steps.carry()

    def feed(self, event: Event) -> list[Delta]:
        """Return what this event adds."""
        if self.finished:
            self.late_events += 1
            return _NOTHING
        data = event.data
        if event.type == "error":
            return self._fail(data)
        try:
            found = _decode(data)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            lenient = _leniently(data)
            if lenient is None:
                return _NOTHING
            found = lenient
        type_ = found.event_type or event.type
        kind = _KINDS.get(type_)
        if kind is None and (type_ == "error" or found.error):
            return self._fail(data)
        self.accepted += 1
        if found.event_id:
            self._event_id = found.event_id
        if kind == "delta":
            step = self._steps.get(found.index)
            return self._read_delta(step, found.delta) if found.delta is not None else _NOTHING
        if kind == "start":
            told = as_dict(found.step) or as_dict(found.content) or {}
            return self._read_start(self._steps.start(found.index, as_text(told.get("type"))), told)
        if kind == "stop":
            return self._read_stop(self._steps.get(found.index))
        if kind is not None:
            self._read_interaction(found, completed=kind == "completed")
        return _NOTHING

    def close(self, ending: Ending) -> Verdict:
        """Judge the stream; without an `interaction.completed` that ends it, it was cut short."""
        if self._verdict is not None:
            return self._verdict
        return Verdict(Outcome.open if self._goes_on else Outcome.incomplete, ENDING_REASONS[ending])

    # --- steps --------------------------------------------------------------------------------

    def _read_start(self, step: Step, told: dict[str, Any]) -> list[Delta]:
        """A step may begin with its first text in it."""
        if step.is_call:
            return self._read_call(step, told.get("id"), told.get("name"), told.get("arguments"))
        deltas: list[Delta] = []
        for part in [*as_list(told.get("summary")), *as_list(told.get("content")), told]:
            deltas += self._say(step, step.kind, as_text((as_dict(part) or {}).get("text")))
        self._sign(step, told.get("signature"))
        return deltas

    def _read_delta(self, step: Step, delta: _StepDelta) -> list[Delta]:
        if delta.type == "text":
            kind, text = step.kind, delta.text
            if not text or kind is None:
                return _NOTHING
            step.pieces.append(text)
            return [TextDelta(kind, step.number, text)]
        if delta.type == "thought_summary":
            step.type = step.type or "thought"
            return self._say(step, PartKind.reasoning, as_text((as_dict(delta.content) or {}).get("text")))
        if delta.type == "thought_signature":
            step.type = step.type or "thought"
            self._sign(step, delta.signature)
        elif delta.type in ("arguments_delta", "function_call"):
            step.type = step.type or "function_call"
            return self._read_call(step, delta.id, delta.name, delta.arguments)
        return _NOTHING

    def _read_stop(self, step: Step) -> list[Delta]:
        # Arguments that came as an object are whole once the step is.
        if step.is_call and step.whole is not None and not step.pieces:
            return [ToolDelta(step.number, "", "", None, step.place, step.whole)]
        return _NOTHING

    def _say(self, step: Step, kind: PartKind | None, text: str | None) -> list[Delta]:
        # Only the model's own output is an answer: an echoed question or a tool's result is none.
        if not text or kind is None:
            return _NOTHING
        if kind is step.kind:
            step.pieces.append(text)
        return [TextDelta(kind, step.number, text)]

    def _sign(self, step: Step, signature: Any) -> None:
        step.signature += as_text(signature) or ""

    def _read_call(self, step: Step, call_id: Any, name: Any, arguments: Any) -> list[Delta]:
        if not step.is_call:
            return _NOTHING
        step.call_id = step.call_id or as_text(call_id) or ""
        step.name = step.name or as_text(name) or ""
        if isinstance(arguments, str):
            step.pieces.append(arguments)
        elif isinstance(arguments, dict):
            step.whole = arguments
        text = arguments if isinstance(arguments, str) else None
        return [ToolDelta(step.number, step.call_id, step.name, text, step.place)]

    # --- ends ---------------------------------------------------------------------------------

    def _read_interaction(self, event: _Event, *, completed: bool) -> None:
        interaction = as_dict(event.interaction) or {}
        if self.response_id is None:
            response_id = as_text(interaction.get("id")) or event.interaction_id
            self.response_id = storable(response_id) if response_id else None
        self.usage = _usage(interaction.get("usage")) or self.usage
        if completed:
            self._judge(interaction)

    def _judge(self, interaction: dict[str, Any]) -> None:
        errors = as_list(interaction.get("errors"))
        error = interaction.get("error") or (errors[0] if errors else None)
        status = as_text(interaction.get("status")) or ""
        verdict = STATUSES.get(status, _UNKNOWN)
        if error:
            verdict = google_stream_fault(error)
        elif verdict is _OPEN:
            # It goes on, whatever the event is called that says so.
            self._goes_on = True
            return
        else:
            if verdict.outcome is Outcome.complete and self._steps.any_call:
                verdict = STATUSES["requires_action"]
            word = storable(status[:WORD_CHARS]) or None
            verdict = msgspec.structs.replace(verdict, provider_reason=word)
        self._verdict = verdict
        self.finished = True

    def _fail(self, data: str) -> list[Delta]:
        """End with an error, whatever its data look like."""
        self.accepted += 1
        try:
            error: Any = json.loads(data)
        except (ValueError, RecursionError):
            error = data
        if isinstance(error, dict):
            error = error.get("error") or {name: error.get(name) for name in ("code", "message")}
        self._verdict = google_stream_fault(error)
        self.finished = True
        return _NOTHING


def _leniently(data: str) -> _Event | None:
    """Return the event; None for JSON that is no object. Raises `MalformedStream` for what is not JSON."""
    word = data.strip()
    # `[DONE]` follows the completed event; by itself it proves nothing.
    if not word or word[0] == ":" or word == "[DONE]":
        return None
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise MalformedStream(
            f"expected a JSON object in each event, got {len(data)} characters of other text"
        ) from error
    return _lenient(value) if isinstance(value, dict) else None


def _lenient(value: dict[str, Any]) -> _Event:
    """Keep of an event what has the expected type; the rest is as if it were not there."""
    raw = as_dict(value.get("delta"))
    delta = None
    if raw is not None:
        texts = {name: as_text(raw.get(name)) for name in ("type", "text", "signature", "id", "name")}
        delta = _StepDelta(**texts, content=raw.get("content"), arguments=raw.get("arguments"))
    texts = {name: as_text(value.get(name)) for name in ("event_type", "event_id", "interaction_id")}
    plain = {name: value.get(name) for name in ("step", "content", "interaction", "error")}
    return _Event(**texts, **plain, index=as_int(value.get("index")), delta=delta)


def _usage(raw: Any) -> Usage | None:
    told = as_dict(raw) or {}
    names = ("input", "output", "thought", "cached")
    read, written, reasoning, cached = (as_count(told.get(f"total_{name}_tokens")) for name in names)
    return None if read is None and written is None else Usage(read, written, reasoning, cached)
