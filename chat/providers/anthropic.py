"""The Anthropic Messages wire: prompt -> request, events -> deltas and one verdict.

Takes events and how the body ended; gives deltas in order of arrival and the verdict. Does not know bytes, gates or
the network. Source: docs.anthropic.com, "Streaming messages" and "Extended thinking".
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from chat.providers import asking
from chat.providers.anthropic_blocks import Blocks
from chat.providers.anthropic_event import Piece, StreamEvent, read_event
from chat.providers.base import Endpoint, Image, Prompt, Turn, UpstreamRequest
from chat.providers.chat_chunk import as_count, as_dict
from chat.providers.faults import WORD_CHARS, http_fault, stream_fault, trim
from chat.providers.profiles import Profile
from chat.providers.turns import alternating, chosen, chosen_tool, known_settings
from chat.streaming.deltas import Delta, Usage, storable
from chat.streaming.outcome import ENDING_REASONS, Ending, Outcome, Reason, Verdict
from chat.streaming.pipeline import Framing, WireReader
from chat.streaming.sse import Event, SseReader

# --- what a stop reason means -----------------------------------------------------------------------------

_COMPLETE = Verdict(Outcome.complete)
_TOOLS = Verdict(Outcome.tool_requested)

STOP_REASONS: dict[str, Verdict] = {
    "end_turn": _COMPLETE,
    "stop_sequence": _COMPLETE,
    "tool_use": _TOOLS,
    "max_tokens": Verdict(Outcome.incomplete, Reason.max_tokens),
    "model_context_window_exceeded": Verdict(Outcome.incomplete, Reason.context_window),
    "pause_turn": Verdict(Outcome.incomplete, Reason.paused),
    "refusal": Verdict(Outcome.refused, Reason.refusal),
}
"""The provider's word -> what it means. Any other word is `incomplete(unknown)`, never an answer."""

_UNKNOWN = Verdict(Outcome.incomplete, Reason.unknown)

# Of several reasons in one stream the one furthest from an answer counts.
_ORDER = (Outcome.complete, Outcome.tool_requested, Outcome.incomplete, Outcome.refused)

# Replies after which the provider wants its own blocks back.
_CONTINUED = {(Outcome.complete, None), (Outcome.tool_requested, None), (Outcome.incomplete, Reason.paused)}

_NOTHING: list[Delta] = []


class AnthropicReader:
    """Reads one Messages stream. Deltas count until `message_stop`, or until an error: what comes later is late."""

    def __init__(self) -> None:
        self.response_id: str | None = None
        self.finished = False
        self.late_events = 0
        self.divergence: str | None = None
        self.accepted = 0
        self._usage: dict[str, int] = {}
        self._error: Verdict | None = None
        self._finish: Verdict | None = None
        self._finish_word: str | None = None
        self._blocks = Blocks()
        self._verdict: Verdict | None = None

    @property
    def usage(self) -> Usage | None:
        """The totals so far: those of `message_start`, each overridden by what came later."""
        known = self._usage
        if "input" not in known and "output" not in known:
            return None
        return Usage(known.get("input"), known.get("output"), known.get("reasoning"), known.get("cached"))

    @property
    def last_event(self) -> str | None:
        """How many events were accepted, pings not counted: this wire numbers nothing."""
        return str(self.accepted) if self.accepted else None

    @property
    def carry(self) -> list[Any]:
        """The content blocks, once they are whole and say more than text can (signatures, calls)."""
        verdict = self._verdict
        if verdict is None or (verdict.outcome, verdict.reason) not in _CONTINUED:
            return []
        return self._blocks.carry()

    def feed(self, event: Event) -> list[Delta]:
        """Return what this event adds."""
        if self.finished:
            self.late_events += 1
            return _NOTHING
        data = event.data
        if not data.startswith("{"):
            word = data.strip()
            if event.type == "error":
                self.accepted += 1
                self._fail(word)
                return _NOTHING
            # Some gateways add the end mark of another wire, or wrap their upstream's comments as data.
            if not word or word[0] == ":" or word == "[DONE]":
                return _NOTHING
        told = read_event(data)
        if told is None:
            return _NOTHING
        kind = told.type or event.type
        if kind == "content_block_delta":
            self.accepted += 1
            return self._blocks.add(told.index, told.delta) if told.delta is not None else _NOTHING
        if kind == "ping":
            return _NOTHING
        self.accepted += 1
        if kind == "error" or event.type == "error" or told.error:
            self._fail(told.error or _bare_error(data))
            return _NOTHING
        return self._read(kind, told)

    def close(self, ending: Ending) -> Verdict:
        """Judge the stream: a stop reason, `message_stop` and every block closed, or it is no answer."""
        self._verdict = self._judge(ending)
        return self._verdict

    def _judge(self, ending: Ending) -> Verdict:
        if self._error is not None:
            return self._error
        finish, word = self._finish, self._finish_word
        if not self.finished:
            return Verdict(Outcome.incomplete, ENDING_REASONS[ending], word)
        if finish is None or not self._blocks.closed:
            return Verdict(Outcome.incomplete, Reason.stream_truncated, word)
        if finish.outcome is Outcome.complete and self._blocks.calls:
            finish = _TOOLS
        return msgspec.structs.replace(finish, provider_reason=word)

    def _read(self, kind: str, told: StreamEvent) -> list[Delta]:
        """Read all but the deltas; an event of an unknown type adds nothing."""
        if kind == "content_block_start":
            return self._blocks.start(told.index, told.content_block or {})
        if kind == "content_block_stop":
            return self._blocks.stop(told.index)
        if kind == "message_delta":
            self._read_usage(told.usage)
            if told.delta is not None and told.delta.stop_reason:
                self._read_finish(told.delta.stop_reason, told.delta)
        elif kind == "message_start" and told.message is not None:
            if told.message.id and self.response_id is None:
                self.response_id = storable(told.message.id)
            self._read_usage(told.message.usage)
        elif kind == "message_stop":
            self.finished = True
        return _NOTHING

    def _read_finish(self, word: str, piece: Piece) -> None:
        meaning = STOP_REASONS.get(word, _UNKNOWN)
        if self._finish is not None and _ORDER.index(meaning.outcome) < _ORDER.index(self._finish.outcome):
            return
        self._finish_word = storable(word[:WORD_CHARS])
        category = (piece.stop_details or {}).get("category")
        if isinstance(category, str):
            meaning = msgspec.structs.replace(meaning, detail=trim(f"category {category}"))
        self._finish = meaning

    def _read_usage(self, raw: dict[str, Any] | None) -> None:
        if not raw:
            return
        details = as_dict(raw.get("output_tokens_details")) or {}
        counts = {
            "input": raw.get("input_tokens"),
            "output": raw.get("output_tokens"),
            "cached": raw.get("cache_read_input_tokens"),
            "reasoning": details.get("thinking_tokens"),
        }
        for name, value in counts.items():
            number = as_count(value)
            if number is not None:
                self._usage[name] = number

    def _fail(self, error: Any) -> None:
        self._error = stream_fault(error)
        self.finished = True


def _bare_error(data: str) -> Any:
    """An error event without an `error` inside (some gateways) is itself the error."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return data


# --- what is asked -----------------------------------------------------------------------------

VERSION = "2026-10-21"
"""The API version that requests name; it refuses `temperature`, `top_p` and `top_k`, so these are no settings."""

DEFAULT_MAX_TOKENS = 8000
"""The API wants a limit; thinking counts towards it. Every model since Claude 3.5 takes this many."""

SETTINGS = frozenset(
    ("max_tokens", "reasoning_effort", "stop", "tool_choice", "parallel_tool_calls", "response_format")
)
"""The settings that this wire understands, by their names on the chat wire."""

# Before adaptive thinking there were budgets, and before those no thinking at all.
_NO_THINKING = re.compile(r"claude-(?:[12]|instant|3-(?!7))")
_BUDGET = re.compile(r"claude-(?:3-7|(?:opus|sonnet|haiku)-4(?:-[0-5])?(?:-\d{8}|-latest)?$)")
_BUDGETS = {"minimal": 1024, "low": 2048, "medium": 4096, "high": 16_000}

_CHOICES = {"auto": "auto", "none": "none", "required": "any"}


class Anthropic:
    """The wire: stateless, one for all endpoints that speak it."""

    name = "anthropic"
    framing: Callable[[int], Framing] = SseReader

    def reader(self, _dialect: Profile) -> WireReader:
        """Return a fresh reader for one stream; this wire has no dialects."""
        return AnthropicReader()

    def request(self, prompt: Prompt, *, endpoint: Endpoint, model: str) -> UpstreamRequest:
        """Return the request that asks this prompt of that model."""
        settings = known_settings(prompt, SETTINGS)
        limit = settings.get("max_tokens", DEFAULT_MAX_TOKENS)
        body: dict[str, Any] = {"model": model, "max_tokens": limit, "stream": True}
        if prompt.system:
            body["system"] = prompt.system
        body["messages"] = [
            {"role": run[0].role, "content": _content(run)}
            for run in alternating(prompt.turns, self.name, model)
        ]
        body |= _thinking(model, settings.get("reasoning_effort"), limit)
        if "stop" in settings:
            stop = settings["stop"]
            body["stop_sequences"] = [stop] if isinstance(stop, str) else stop
        schema = (settings.get("response_format") or {}).get("json_schema")
        if schema:
            form = {"type": "json_schema", "schema": schema["schema"]}
            body["output_config"] = body.get("output_config", {}) | {"format": form}
        body |= _tools(prompt, settings)
        headers = asking.headers(endpoint, "x-api-key") | {"anthropic-version": VERSION}
        return UpstreamRequest("POST", _url(endpoint.base_url), headers, msgspec.json.encode(body))

    def http_error(self, status: int, headers: Mapping[str, str], body: bytes) -> Verdict:
        """Return what an HTTP error means for the generation."""
        verdict = http_fault(status, headers, body)
        if status == 400 and "prompt is too long" in verdict.detail:
            # The one error that this API tells by its sentence alone, and that a person can do something about.
            return msgspec.structs.replace(verdict, reason=Reason.context_window)
        return verdict


def _content(run: list[Turn]) -> str | list[Any]:
    """A turn's text, or its own blocks; several of them in order."""
    if len(run) == 1 and not (run[0].carry or run[0].images):
        return run[0].text
    blocks: list[Any] = []
    for turn in run:
        blocks += [_picture(image) for image in turn.images]
        blocks += turn.carry or ([{"type": "text", "text": turn.text}] if turn.text else [])
    return blocks


def _picture(image: Image) -> dict[str, Any]:
    source = {"type": "base64", "media_type": image.media_type, "data": image.data}
    return {"type": "image", "source": source}


def _thinking(model: str, effort: Any, limit: int) -> dict[str, Any]:
    """How the model is told to think; nothing is said where that was not asked for or cannot be."""
    if not effort or effort == "none" or _NO_THINKING.match(model):
        return {}
    if _BUDGET.match(model):
        budget = min(_BUDGETS.get(effort, _BUDGETS["medium"]), limit - 1)
        return {"thinking": {"type": "enabled", "budget_tokens": budget}} if budget >= 1024 else {}
    # Without `summarized` the newest models send empty thinking.
    return {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": effort}}


def _tools(prompt: Prompt, settings: dict[str, Any]) -> dict[str, Any]:
    if not prompt.tools:
        return {}
    tools = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.schema, "strict": True}
        for tool in prompt.tools
    ]
    wanted = settings.get("tool_choice", "auto")
    named = chosen_tool(wanted)
    choice: dict[str, Any] = {"type": "tool", "name": named} if named else {"type": chosen(wanted, _CHOICES)}
    if settings.get("parallel_tool_calls") is False and choice["type"] != "none":
        choice["disable_parallel_tool_use"] = True
    return {"tools": tools, "tool_choice": choice}


def _url(base_url: str) -> str:
    """People give the address with or without the version, as they do to the provider's own client."""
    base = base_url.rstrip("/").removesuffix("/messages")
    return f"{base}/messages" if re.search(r"/v\d+$", base) else f"{base}/v1/messages"
