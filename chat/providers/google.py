"""Google's generate wire (Gemini): prompt -> request, chunks -> deltas and one verdict.

Takes the events of a stream, or the elements of the JSON array that it is without `alt=sse`, and how the body ended;
gives deltas in order of arrival and the verdict. Reads the first candidate only. Does not know bytes, gates or the
network. Source: ai.google.dev, "GenerateContentResponse" and "Thought signatures".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

import msgspec

from chat.providers import asking
from chat.providers.base import Endpoint, Prompt, Turn, UpstreamRequest
from chat.providers.chat_chunk import as_count
from chat.providers.faults import WORD_CHARS
from chat.providers.google_calls import FunctionCalls
from chat.providers.google_chunk import Candidate, Chunk, Counts, PlainChunk, read_chunk, read_plain
from chat.providers.google_faults import google_http_fault, google_stream_fault
from chat.providers.google_parts import ReplyParts
from chat.providers.profiles import Profile
from chat.providers.turns import alternating, chosen, chosen_tool, known_settings
from chat.streaming.bare_json import SseOrJsonReader
from chat.streaming.deltas import Delta, PartKind, TextDelta, Usage, storable
from chat.streaming.errors import MalformedStream
from chat.streaming.json_array import END, JUNK, OBJECT, REST
from chat.streaming.outcome import ENDING_REASONS, Ending, Outcome, Reason, Verdict
from chat.streaming.pipeline import Framing, WireReader
from chat.streaming.sse import Event

# --- what a finish reason means -----------------------------------------------------------------------------

_COMPLETE = Verdict(Outcome.complete)
_TOOLS = Verdict(Outcome.tool_requested)
_UNKNOWN = Verdict(Outcome.incomplete, Reason.unknown)
_FILTERED = Verdict(Outcome.incomplete, Reason.content_filter)
_UNFIT = Verdict(Outcome.failed, Reason.provider_error, retryable=False)
_BROKEN_CALL = Verdict(Outcome.failed, Reason.malformed_tool_call, retryable=True)

_FILTERS = """
    SAFETY PROHIBITED_CONTENT BLOCKLIST SPII RECITATION LANGUAGE IMAGE_SAFETY IMAGE_PROHIBITED_CONTENT IMAGE_RECITATION
    MODEL_ARMOR ESCALATION
"""

FINISH_REASONS: dict[str, Verdict] = {
    "STOP": _COMPLETE,
    "MAX_TOKENS": Verdict(Outcome.incomplete, Reason.max_tokens),
    "CONTINUATION": Verdict(Outcome.incomplete, Reason.continuation),
    "MALFORMED_FUNCTION_CALL": _BROKEN_CALL,
    "UNEXPECTED_TOOL_CALL": Verdict(Outcome.failed, Reason.unexpected_tool_call, retryable=True),
    "MALFORMED_RESPONSE": Verdict(Outcome.failed, Reason.provider_error, retryable=True),
    "TOO_MANY_TOOL_CALLS": _UNFIT,
    "MISSING_THOUGHT_SIGNATURE": _UNFIT,
    "PUP_LIMITED_DISABLED": _UNFIT,
    **dict.fromkeys(_FILTERS.split(), _FILTERED),
}
"""The provider's word -> what it means. Any other word is `incomplete(unknown)`, never an answer."""

# Replies after which the provider wants its own parts back.
_CONTINUED = {Outcome.complete, Outcome.tool_requested}

CONTINUATION = "continuationToken"
"""The key of the one item of a carry that is no part: the token with which the provider goes on."""

_FORM = frozenset({OBJECT, REST, END, JUNK})
# Looking a member up in its enum costs as much as a call.
_SAID, _THOUGHT = PartKind.answer, PartKind.reasoning

_NOTHING: list[Delta] = []


class GoogleReader:
    """Reads one stream. Nothing in it is terminal: models and gateways repeat `STOP`, so the last word counts,
    at the end of the body. Only an error, and the `]` of an array, end it: what comes later is late.
    """

    def __init__(self) -> None:
        self.response_id: str | None = None
        self.finished = False
        self.late_events = 0
        self.divergence: str | None = None
        self.accepted = 0
        self._counts = Counts()
        self._error: Verdict | None = None
        self._blocked: str | None = None
        self._finish_word: str | None = None
        self._array_closed = False
        self._unfinished = False  # whether the body ended inside its JSON
        self._token: str | None = None
        self._calls = FunctionCalls()
        self._parts = ReplyParts()
        self._verdict: Verdict | None = None

    @property
    def usage(self) -> Usage | None:
        """The last totals that were told; every chunk repeats them, so that they are looked at only when asked for."""
        told = self._counts
        read, written = as_count(told.promptTokenCount), as_count(told.candidatesTokenCount)
        if read is None and written is None:
            return None
        return Usage(read, written, as_count(told.thoughtsTokenCount), as_count(told.cachedContentTokenCount))

    @property
    def last_event(self) -> str | None:
        """How many chunks were accepted: this wire numbers nothing."""
        return str(self.accepted) if self.accepted else None

    @property
    def carry(self) -> list[Any]:
        """The parts, once the reply is whole and they say more than text can; or the token to go on with."""
        if self._verdict is None:
            return []
        if self._verdict.reason is Reason.continuation and self._token is not None:
            return [{CONTINUATION: self._token}]
        return self._parts.carry() if self._verdict.outcome in _CONTINUED else []

    def feed(self, event: Event) -> list[Delta]:
        """Return what this chunk adds, in the order of its parts."""
        is_form = event.type in _FORM
        if is_form and self._read_mark(event.type):
            return _NOTHING
        if self.finished:
            self.late_events += 1
            return _NOTHING
        chunk = None if is_form else read_plain(event.data)
        if chunk is None:
            return self._read(event)
        self.accepted += 1
        deltas: list[Delta] = []
        for candidate in chunk.candidates:
            if not candidate.index:
                for part in candidate.content.parts:
                    text, thought = part.text, part.thought
                    self._parts.add_text(text, thought)
                    if text:
                        deltas.append(TextDelta(_THOUGHT if thought else _SAID, 0, text))
        self._read_totals(chunk)
        return deltas

    def _read(self, event: Event) -> list[Delta]:
        """Read what is more, or less, than text and totals."""
        data = event.data
        if not data.startswith("{"):
            word = data.strip()
            # Gateways add the end mark of another wire, or wrap their upstream's comments as data.
            if not word or word[0] == ":" or word == "[DONE]":
                return _NOTHING
        chunk = read_chunk(data)
        if chunk is None:
            return _NOTHING
        self.accepted += 1
        deltas: list[Delta] = []
        for candidate in chunk.candidates or ():
            if not candidate.index:
                self._read_candidate(candidate, deltas)
        self._read_rest(chunk)
        if event.type == OBJECT and not self.finished:
            raise MalformedStream("expected server-sent events or a JSON array, got a bare JSON object")
        return deltas

    def _read_totals(self, chunk: Chunk | PlainChunk) -> None:
        if chunk.responseId and self.response_id is None:
            self.response_id = storable(chunk.responseId)
        told = chunk.usageMetadata
        if told is not None and (told.promptTokenCount is not None or told.candidatesTokenCount is not None):
            self._counts = told

    def _read_mark(self, type_: str) -> bool:
        """Take what the array's own form says; False where that counts as an event."""
        if type_ == REST:
            self._unfinished = True
        elif type_ == END:
            # Behind an error it is no event that came too late, only the end of the form.
            self.accepted += not self.finished
            self._array_closed = self.finished = True
        elif type_ == OBJECT or self.finished:
            return False
        else:
            raise MalformedStream("expected a JSON array of objects, got other text in it")
        return True

    def close(self, ending: Ending) -> Verdict:
        """Judge the stream: error before refusal before what the last finish reason says at an orderly end."""
        self._verdict = self._judge(ending)
        return self._verdict

    def _judge(self, ending: Ending) -> Verdict:
        word = self._finish_word
        if self._error is not None:
            return self._error
        if self._blocked is not None:
            return Verdict(Outcome.refused, Reason.prompt_blocked, self._blocked)
        finish = FINISH_REASONS.get(word, _UNKNOWN) if word is not None else None
        if finish is not None and finish.outcome is Outcome.failed:
            return msgspec.structs.replace(finish, provider_reason=word)
        ended = self._array_closed or (ending == "eof" and not self._unfinished)
        if finish is None or not ended:
            reason = Reason.stream_truncated if self._array_closed else ENDING_REASONS[ending]
            return Verdict(Outcome.incomplete, reason, word)
        if finish.outcome is Outcome.complete and self._calls.any:
            # There is no finish reason for calls; one that never became whole cannot be run.
            finish = _TOOLS if self._calls.whole else _BROKEN_CALL
        return msgspec.structs.replace(finish, provider_reason=word)

    def _read_rest(self, chunk: Chunk) -> None:
        self._read_totals(chunk)
        if chunk.promptFeedback is not None and chunk.promptFeedback.blockReason:
            self._blocked = _word(chunk.promptFeedback.blockReason)
        if chunk.error:
            self._error = google_stream_fault(chunk.error)
            self.finished = True

    def _read_candidate(self, candidate: Candidate, deltas: list[Delta]) -> None:
        content = candidate.content
        for part in (content.parts if content is not None else None) or ():
            if not isinstance(part, dict):
                continue
            call = part.get("functionCall")
            if isinstance(call, dict):
                delta = self._calls.read(call)
                self._parts.add_call(part, delta)
                deltas.append(delta)
            elif text := self._parts.add(part):
                deltas.append(TextDelta(_THOUGHT if part.get("thought") is True else _SAID, 0, text))
        if candidate.finishReason:
            self._finish_word = _word(candidate.finishReason)
        if candidate.continuationToken:
            self._token = candidate.continuationToken


def _word(text: str) -> str:
    return storable(text[:WORD_CHARS])


# --- what is asked -----------------------------------------------------------------------------

# Our name -> the name in `generationConfig`.
_CONFIG = {
    "max_tokens": "maxOutputTokens",
    "temperature": "temperature",
    "top_p": "topP",
    "seed": "seed",
    "presence_penalty": "presencePenalty",
    "frequency_penalty": "frequencyPenalty",
}
SETTINGS = frozenset((*_CONFIG, "reasoning_effort", "stop", "tool_choice", "response_format"))
"""The settings that this wire understands, by their names on the chat wire."""

# The 2.5 models count their thinking in tokens; 0 is off, -1 is for the model to say.
_BUDGET_MODELS = re.compile(r"(?:models/)?gemini-2\.5")
_BUDGETS = {"none": 0, "minimal": 512, "low": 1024, "medium": 8192, "high": 24_576}

# `VALIDATED` is this API's strictness: calls follow their schema.
_CHOICES = {"auto": "VALIDATED", "none": "NONE", "required": "ANY"}


class Google:
    """The wire: stateless, one for all endpoints that speak it."""

    name = "google"
    framing: Callable[[int], Framing] = SseOrJsonReader

    def reader(self, _dialect: Profile) -> WireReader:
        """Return a fresh reader for one stream; this wire has no dialects."""
        return GoogleReader()

    def request(self, prompt: Prompt, *, endpoint: Endpoint, model: str) -> UpstreamRequest:
        """Return the request that asks this prompt of that model."""
        settings = known_settings(prompt, SETTINGS)
        body: dict[str, Any] = {}
        if prompt.system:
            body["systemInstruction"] = {"parts": [{"text": prompt.system}]}
        body["contents"] = contents = []
        token = None
        for run in alternating(prompt.turns, self.name, model):
            parts, token = _parts(run)
            if parts:
                contents.append({"role": "user" if run[0].role == "user" else "model", "parts": parts})
        if token is not None:  # that of the last turn: the provider goes on where it stopped
            body[CONTINUATION] = token
        config = _config(model, settings)
        if config:
            body["generationConfig"] = config
        if prompt.tools:
            body |= _tools(prompt, settings.get("tool_choice", "auto"))
        headers = asking.headers(endpoint, "x-goog-api-key")
        return UpstreamRequest("POST", _url(endpoint.base_url, model), headers, msgspec.json.encode(body))

    def http_error(self, status: int, headers: Mapping[str, str], body: bytes) -> Verdict:
        """Return what an HTTP error means for the generation."""
        return google_http_fault(status, headers, body)


def _parts(run: list[Turn]) -> tuple[list[Any], str | None]:
    """A speaker's parts, and the token if its reply is to go on."""
    parts: list[Any] = []
    token = None
    for turn in run:
        parts += [{"inlineData": {"mimeType": each.media_type, "data": each.data}} for each in turn.images]
        for item in turn.carry or ([{"text": turn.text}] if turn.text else []):
            if CONTINUATION in item:
                token = item[CONTINUATION]
            else:
                parts.append(item)
    return parts, token


def _config(model: str, settings: dict[str, Any]) -> dict[str, Any]:
    config = {theirs: settings[ours] for ours, theirs in _CONFIG.items() if ours in settings}
    if "stop" in settings:
        stop = settings["stop"]
        config["stopSequences"] = [stop] if isinstance(stop, str) else stop
    schema = (settings.get("response_format") or {}).get("json_schema")
    if schema:
        config |= {"responseMimeType": "application/json", "responseJsonSchema": schema["schema"]}
    effort = settings.get("reasoning_effort")
    if effort and _BUDGET_MODELS.match(model):
        budget = _BUDGETS.get(effort, -1)
        config["thinkingConfig"] = {"includeThoughts": budget != 0, "thinkingBudget": budget}
    elif effort and effort != "none":
        config["thinkingConfig"] = {"includeThoughts": True, "thinkingLevel": effort}
    return config


def _tools(prompt: Prompt, wanted: Any) -> dict[str, Any]:
    declarations = [
        {"name": tool.name, "description": tool.description, "parametersJsonSchema": tool.schema}
        for tool in prompt.tools
    ]
    named = chosen_tool(wanted)
    calling: dict[str, Any] = {"mode": "ANY" if named else chosen(wanted, _CHOICES)}
    if named:
        calling["allowedFunctionNames"] = [named]
    return {
        "tools": [{"functionDeclarations": declarations}],
        "toolConfig": {"functionCallingConfig": calling},
    }


def _url(base_url: str, model: str) -> str:
    """People give the address with or without the version, as they do to the provider's own client."""
    base = base_url.rstrip("/")
    base = base if re.search(r"/v\d+\w*$", base) else f"{base}/v1beta"
    name = quote(model.removeprefix("models/"), safe="")
    return f"{base}/models/{name}:streamGenerateContent?alt=sse"
