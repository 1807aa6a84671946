"""The OpenAI Chat Completions wire, in all its dialects: prompt -> request, events -> deltas and one verdict.

Takes events and how the body ended; gives deltas in order of arrival and the verdict. Reads the first choice
only. Does not know bytes, gates or the network. Source: developers.openai.com, "Chat Completions streaming";
the dialects are those of recorded streams.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from chat.providers import asking
from chat.providers.base import Endpoint, Prompt, ToolDeclaration, Turn, UpstreamRequest
from chat.providers.chat_chunk import (
    Chunk,
    ChunkDelta,
    Function,
    ToolCall,
    as_count,
    as_dict,
    as_list,
    as_text,
    lenient_chunk,
    read_chunk,
)
from chat.providers.faults import WORD_CHARS, http_fault, stream_fault
from chat.providers.profiles import Profile, profile
from chat.providers.turns import alternating, known_settings
from chat.streaming.deltas import Delta, PartKind, TextDelta, ToolDelta, Usage, storable
from chat.streaming.outcome import ENDING_REASONS, Ending, Outcome, Reason, Verdict
from chat.streaming.pipeline import Framing, WireReader
from chat.streaming.sse import Event, SseReader

# --- what a finish reason means -----------------------------------------------------------------------------

_COMPLETE = Verdict(Outcome.complete)
_TOOLS = Verdict(Outcome.tool_requested)
_BROKEN = Verdict(Outcome.failed, Reason.provider_error, retryable=True)

FINISH_REASONS: dict[str, Verdict] = {
    "stop": _COMPLETE,
    "tool_calls": _TOOLS,
    "function_call": _TOOLS,
    "length": Verdict(Outcome.incomplete, Reason.max_tokens),
    "model_length": Verdict(Outcome.incomplete, Reason.context_window),  # Mistral
    "content_filter": Verdict(Outcome.incomplete, Reason.content_filter),
    "sensitive": Verdict(Outcome.incomplete, Reason.content_filter),  # GLM
    "abort": Verdict(Outcome.incomplete, Reason.cancelled),  # vLLM
    "aborted": Verdict(Outcome.incomplete, Reason.cancelled),  # DeepSeek
    "error": _BROKEN,  # OpenRouter, Mistral
    "network_error": _BROKEN,  # GLM
    "insufficient_system_resource": _BROKEN,  # DeepSeek
}
"""The provider's word -> what it means. Any other word is `incomplete(unknown)`, never an answer."""

_UNKNOWN = Verdict(Outcome.incomplete, Reason.unknown)
_NOTICE = Verdict(Outcome.incomplete, Reason.provider_notice)

# Of several reasons in one stream the one furthest from an answer counts (Azure condemns text late).
_WEIGHT = {
    Outcome.complete: 0,
    Outcome.tool_requested: 1,
    Outcome.incomplete: 2,
    Outcome.refused: 3,
    Outcome.failed: 4,
}

_NOTHING: list[Delta] = []


class OpenAIChatReader:
    """Reads one chat stream. Deltas count until `[DONE]`, or until an error: what comes later is late."""

    def __init__(self, dialect: Profile) -> None:
        self.response_id: str | None = None
        self.finished = False
        self.late_events = 0
        self.carry: list[Any] = []
        self.divergence: str | None = None
        self._dialect = dialect
        self._done = False
        self.accepted = 0
        self._usage: Usage | None = None
        self._groq_usage: Usage | None = None
        self._error: Verdict | None = None
        self._finish: Verdict | None = None
        self._finish_word: str | None = None
        self._refusing = False
        self._reasoning_seen = False
        self._last_text = ""
        self._calls = _ToolCalls()

    @property
    def usage(self) -> Usage | None:
        """The last usage seen; Groq's own only where there is no other."""
        return self._usage or self._groq_usage

    @property
    def last_event(self) -> str | None:
        """How many events were accepted: chat streams have no numbers, and ids that mean nothing."""
        return str(self.accepted) if self.accepted else None

    def feed(self, event: Event) -> list[Delta]:
        """Return what this event adds, in the order reasoning, answer, refusal, tool calls."""
        if self.finished:
            self.late_events += 1
            return _NOTHING
        data = event.data
        if event.type == "error":
            self.accepted += 1
            return self._read_error_event(data)
        if not data.startswith("{"):
            word = data.strip()
            if word == "[DONE]":
                self.accepted += 1
                self._done = self.finished = True
                return _NOTHING
            # Some gateways wrap the keep-alive comment of their upstream as data (`data: : PROCESSING`).
            if not word or word[0] == ":":
                return _NOTHING
        chunk = read_chunk(data)
        if chunk is None:
            return _NOTHING
        self.accepted += 1
        return self._read(chunk)

    def close(self, ending: Ending) -> Verdict:
        """Judge the stream: error before refusal before a short end before tools before complete."""
        if self._error is not None:
            return self._error
        finish, word = self._finish, self._finish_word
        if finish is not None and finish.outcome is Outcome.failed:
            return msgspec.structs.replace(finish, provider_reason=word)
        proven = self._done or not self._dialect.done_required
        if finish is None or not proven:
            reason = Reason.stream_truncated if self._done else ENDING_REASONS[ending]
            return Verdict(Outcome.incomplete, reason, word)
        if self._refusing:
            return Verdict(Outcome.refused, Reason.model_refusal, word)
        if finish.outcome is Outcome.complete:
            if self._calls.any:
                finish = _TOOLS
            elif self._dialect.notice_in_brackets and is_notice(self._last_text):
                finish = _NOTICE
        return msgspec.structs.replace(finish, provider_reason=word)

    def _read(self, chunk: Chunk) -> list[Delta]:
        if chunk.id and self.response_id is None:
            self.response_id = storable(chunk.id)
        if chunk.usage:
            self._usage = _usage(chunk.usage) or self._usage
        deltas: list[Delta] = []
        for choice in chunk.choices or ():
            if choice.index:
                continue
            if choice.delta is not None:
                self._read_delta(choice.delta, deltas)
            if choice.finish_reason:
                self._read_finish(choice.finish_reason)
        if chunk.x_groq:
            self._groq_usage = _usage(as_dict(chunk.x_groq.get("usage")) or {}) or self._groq_usage
        error = chunk.error or (chunk.x_groq and chunk.x_groq.get("error"))
        if error:
            self._fail(error)
        return deltas

    def _read_delta(self, delta: ChunkDelta, deltas: list[Delta]) -> None:
        reasoning = delta.reasoning_content or delta.reasoning
        if reasoning:
            self._reasoning_seen = True
            deltas.append(TextDelta(PartKind.reasoning, 0, reasoning))
        elif delta.reasoning_details and not self._reasoning_seen:
            # A copy of `reasoning` wherever that exists, so only heard where it is the only voice.
            deltas += [TextDelta(PartKind.reasoning, 0, text) for text in _texts(delta.reasoning_details)]
        content = delta.content
        if content:
            if isinstance(content, str):
                self._last_text = content
                deltas.append(TextDelta(PartKind.answer, 0, content))
            else:
                _read_content_list(content, deltas)
        if delta.refusal:
            self._refusing = True
            deltas.append(TextDelta(PartKind.refusal, 0, delta.refusal))
        if delta.tool_calls:
            deltas += [self._calls.read(call) for call in delta.tool_calls]
        if delta.function_call is not None:
            deltas.append(self._calls.read(ToolCall(0, None, delta.function_call)))

    def _read_finish(self, word: str) -> None:
        meaning = FINISH_REASONS.get(word, _UNKNOWN)
        if self._finish is None or _WEIGHT[meaning.outcome] >= _WEIGHT[self._finish.outcome]:
            self._finish = meaning
            self._finish_word = storable(word[:WORD_CHARS])

    def _read_error_event(self, data: str) -> list[Delta]:
        """`event: error` says that it failed, whatever its data look like."""
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):
            value = data
        error = as_dict(value)
        if error is not None and error.get("error"):
            return self._read(lenient_chunk(error))
        self._fail(value)
        return _NOTHING

    def _fail(self, error: Any) -> None:
        self._error = stream_fault(error)
        self.finished = True


class _ToolCalls:
    """Tells which call a fragment belongs to, whatever a dialect leaves out.

    By `index`; the same index with another id and a name opens a new call; without an index an id opens a new
    one.
    """

    def __init__(self) -> None:
        self._open: dict[int, int] = {}  # index -> number of the call that it now means
        self._ids: list[str] = []

    @property
    def any(self) -> bool:
        """Whether there is any call."""
        return bool(self._ids)

    def read(self, call: ToolCall) -> ToolDelta:
        """Return the fragment as a delta, keyed by the number of its call."""
        function = call.function or Function()
        call_id, name = call.id or "", function.name or ""
        index = call.index
        if index is None:
            number = len(self._ids) - 1
            # An id that is merely repeated on later fragments carries no name again.
            if number < 0 or (call_id and (name or call_id != self._ids[number])):
                number = self._start(call_id)
            index = number
        else:
            number = self._open.get(index, -1)
            if number < 0 or (call_id and name and self._ids[number] and call_id != self._ids[number]):
                number = self._start(call_id)
                self._open[index] = number
        self._ids[number] = self._ids[number] or call_id
        return ToolDelta(number, call_id, name, function.arguments or "", index)

    def _start(self, call_id: str) -> int:
        self._ids.append(call_id)
        return len(self._ids) - 1


def is_notice(text: str) -> bool:
    """Say whether a delta is tAI's error form: wholly in one pair of square brackets, with a letter and a space.

    `[2]` is a citation, `[a] or [b]` a sentence.
    """
    text = text.strip()
    if not (text.startswith("[") and text.endswith("]")):
        return False
    depth = 0
    for place, sign in enumerate(text):
        depth += (sign == "[") - (sign == "]")
        if depth == 0 and place < len(text) - 1:
            return False
    return depth == 0 and " " in text and any(sign.isalpha() for sign in text)


def _read_content_list(content: list[Any], deltas: list[Delta]) -> None:
    """Read Mistral's list of parts: text is answer, thinking is reasoning, the rest (references) is neither."""
    for item in content:
        kind = item.get("type") if isinstance(item, dict) else None
        if kind == "text":
            deltas += [TextDelta(PartKind.answer, 0, text) for text in _texts([item])]
        elif kind == "thinking":
            thinking = item.get("thinking")
            pieces = [{"text": thinking}] if isinstance(thinking, str) else as_list(thinking)
            deltas += [TextDelta(PartKind.reasoning, 0, text) for text in _texts(pieces)]


def _texts(items: list[Any]) -> list[str]:
    """Return the non-empty texts of the objects in a list."""
    return [text for item in items if isinstance(item, dict) and (text := as_text(item.get("text")))]


def _usage(raw: dict[str, Any]) -> Usage | None:
    read, written = as_count(raw.get("prompt_tokens")), as_count(raw.get("completion_tokens"))
    if read is None and written is None:
        return None
    cached = as_count((as_dict(raw.get("prompt_tokens_details")) or {}).get("cached_tokens"))
    if cached is None:
        cached = as_count(raw.get("prompt_cache_hit_tokens"))  # DeepSeek
    reasoning = as_count((as_dict(raw.get("completion_tokens_details")) or {}).get("reasoning_tokens"))
    return Usage(read, written, reasoning, cached)


# --- what is asked -----------------------------------------------------------------------------

_SETTINGS_TEXT = """
    max_tokens temperature top_p reasoning_effort stop seed presence_penalty frequency_penalty tool_choice
    parallel_tool_calls response_format
"""
SETTINGS = frozenset(_SETTINGS_TEXT.split())
"""The settings that this wire understands; all but `max_tokens` go by the same name."""


class OpenAIChat:
    """The wire: stateless, one for all endpoints that speak it."""

    name = "openai_chat"
    framing: Callable[[int], Framing] = SseReader

    def reader(self, dialect: Profile) -> WireReader:
        """Return a fresh reader for one stream in this dialect."""
        return OpenAIChatReader(dialect)

    def request(self, prompt: Prompt, *, endpoint: Endpoint, model: str) -> UpstreamRequest:
        """Return the request that asks this prompt of that model."""
        settings = known_settings(prompt, SETTINGS)
        dialect = profile(endpoint.profile)
        body: dict[str, Any] = {"model": model, "stream": True}
        if dialect.usage_option:
            body["stream_options"] = {"include_usage": True}
        if "max_tokens" in settings:
            body[dialect.limit_field] = settings.pop("max_tokens")
        body |= settings
        if prompt.tools:
            body["tools"] = [_tool(tool) for tool in prompt.tools]
        messages = [
            {"role": turn.role, "content": _content(turn)}
            for run in alternating(prompt.turns, self.name, model)
            for turn in run
        ]
        if prompt.system:
            messages.insert(0, {"role": dialect.system_role, "content": prompt.system})
        body["messages"] = messages
        return UpstreamRequest(
            "POST",
            asking.address(endpoint.base_url, "/chat/completions"),
            asking.headers(endpoint, dialect.key_header),
            msgspec.json.encode(body),
        )

    def http_error(self, status: int, headers: Mapping[str, str], body: bytes) -> Verdict:
        """Return what an HTTP error means for the generation."""
        return http_fault(status, headers, body)


def _content(turn: Turn) -> str | list[Any]:
    """Return the text alone where there is no picture: many compatible servers take nothing else."""
    if not turn.images:
        return turn.text
    pictures = [{"type": "image_url", "image_url": {"url": image.data_url}} for image in turn.images]
    return [*pictures, *([{"type": "text", "text": turn.text}] if turn.text else [])]


def _tool(tool: ToolDeclaration) -> dict[str, Any]:
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.schema,
        "strict": True,
    }
    return {"type": "function", "function": function}
