"""Who decodes: the product's pipeline, the vendors' clients, a common SSE library, and the floor of Python.

Each takes the chunks of one body and the wire's name, and gives the two texts (answer, reasoning). The clients and
the library come from `requirements/outside.txt`; they are given the chunks through a transport in memory, so that no
reader pays for a socket. Knows no clocks.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, NamedTuple

import msgspec

from chat.providers import WIRES
from chat.providers.profiles import profile
from chat.streaming.pipeline import Pipeline

Texts = tuple[str, str]
Read = Callable[[list[bytes], str], Texts]


class Texted:
    """Collects the two texts of one reply."""

    def __init__(self) -> None:
        self.answer: list[str] = []
        self.reasoning: list[str] = []

    def texts(self) -> Texts:
        return "".join(self.answer), "".join(self.reasoning)


# --- the product ----------------------------------------------------------------------------------------------
def product(chunks: list[bytes], wire: str) -> Texts:
    """The whole chain, from bytes to released text and the reading."""
    pipeline = Pipeline(WIRES[wire].reader(profile(None)), framing=WIRES[wire].framing)
    for chunk in chunks:
        pipeline.feed(chunk)
    pipeline.close("eof")
    reading = pipeline.reading()
    if not reading.confirmable:
        raise ValueError(f"expected a whole reply, got {reading.outcome} ({reading.reason} {reading.detail})")
    return reading.answer, reading.reasoning


# --- the vendors' clients -------------------------------------------------------------------------------------
def _client(library: ModuleType, chunks: list[bytes]) -> Any:
    """A client of httpx (or its successor) whose every answer is this body."""

    class Body(library.SyncByteStream):  # type: ignore[name-defined, misc]
        def __iter__(self) -> Iterator[bytes]:
            return iter(chunks)

    headers = {"content-type": "text/event-stream; charset=utf-8"}
    answer = library.MockTransport(lambda _: library.Response(200, headers=headers, stream=Body()))
    return library.Client(transport=answer)


def _client_for(sdk: ModuleType, chunks: list[bytes]) -> Any:
    base = sdk.DefaultHttpxClient.__mro__[1].__module__.split(".")[0]
    return _client(importlib.import_module(base), chunks)


def openai_client(chunks: list[bytes], wire: str) -> Texts:
    """The official client; for Responses its plain stream of events."""
    openai = importlib.import_module("openai")
    client = openai.OpenAI(api_key="x", base_url="http://bench/v1", http_client=_client_for(openai, chunks))
    got = Texted()
    if wire == "openai_chat":
        messages = [{"role": "user", "content": "x"}]
        for chunk in client.chat.completions.create(model="m", messages=messages, stream=True):
            for choice in chunk.choices:
                got.answer.append(choice.delta.content or "")
                got.reasoning.append(getattr(choice.delta, "reasoning_content", None) or "")
        return got.texts()
    for event in client.responses.create(model="m", input="x", stream=True):
        if event.type == "response.output_text.delta":
            got.answer.append(event.delta)
        elif event.type == "response.reasoning_summary_text.delta":
            got.reasoning.append(event.delta)
    return got.texts()


def anthropic_client(chunks: list[bytes], _wire: str) -> Texts:
    """The official client's plain stream of events, the cheaper of its two ways."""
    anthropic = importlib.import_module("anthropic")
    client = anthropic.Anthropic(
        api_key="x", base_url="http://bench", http_client=_client_for(anthropic, chunks)
    )
    got = Texted()
    messages = [{"role": "user", "content": "x"}]
    for event in client.messages.create(model="m", max_tokens=9, messages=messages, stream=True):
        if event.type == "content_block_delta":
            if event.delta.type == "text_delta":
                got.answer.append(event.delta.text)
            elif event.delta.type == "thinking_delta":
                got.reasoning.append(event.delta.thinking)
    return got.texts()


def google_client(chunks: list[bytes], _wire: str) -> Texts:
    """The official client."""
    genai, types = importlib.import_module("google.genai"), importlib.import_module("google.genai.types")
    options = types.HttpOptions(httpx_client=_client(importlib.import_module("httpx"), chunks))
    client = genai.Client(api_key="x", http_options=options)
    got = Texted()
    for chunk in client.models.generate_content_stream(model="gemini-3-flash", contents="x"):
        for candidate in chunk.candidates or ():
            for part in candidate.content.parts or ():
                (got.reasoning if part.thought else got.answer).append(part.text or "")
    return got.texts()


def interactions_client(chunks: list[bytes], _wire: str) -> Texts:
    """The same client's plain stream of events."""
    genai, types = importlib.import_module("google.genai"), importlib.import_module("google.genai.types")
    options = types.HttpOptions(httpx_client=_client(importlib.import_module("httpx"), chunks))
    client = genai.Client(api_key="x", http_options=options)
    got = Texted()
    for event in client.interactions.create(model="gemini-3-flash", input="x", stream=True):
        if event.event_type == "step.delta":
            if event.delta.type == "text":
                got.answer.append(event.delta.text)
            elif event.delta.type == "thought_summary":
                got.reasoning.append(event.delta.content.text)
    return got.texts()


# --- what people write by hand --------------------------------------------------------------------------------
def _put_chat(got: Texted, event: dict[str, Any]) -> None:
    for choice in event["choices"]:
        got.answer.append(choice["delta"].get("content") or "")
        got.reasoning.append(choice["delta"].get("reasoning_content") or "")


def _put_responses(got: Texted, event: dict[str, Any]) -> None:
    if event["type"] == "response.output_text.delta":
        got.answer.append(event["delta"])
    elif event["type"] == "response.reasoning_summary_text.delta":
        got.reasoning.append(event["delta"])


def _put_anthropic(got: Texted, event: dict[str, Any]) -> None:
    if event["type"] == "content_block_delta":
        got.answer.append(event["delta"].get("text") or "")
        got.reasoning.append(event["delta"].get("thinking") or "")


def _put_google(got: Texted, event: dict[str, Any]) -> None:
    for candidate in event["candidates"]:
        for part in candidate["content"]["parts"]:
            (got.reasoning if part.get("thought") else got.answer).append(part["text"])


def _put_interactions(got: Texted, event: dict[str, Any]) -> None:
    delta = event.get("delta") or {}
    if delta.get("type") == "text":
        got.answer.append(delta["text"])
    elif delta.get("type") == "thought_summary":
        got.reasoning.append(delta["content"]["text"])


_PUT: dict[str, Callable[[Texted, dict[str, Any]], None]] = {
    "openai_chat": _put_chat,
    "openai_responses": _put_responses,
    "anthropic": _put_anthropic,
    "google": _put_google,
    "google_interactions": _put_interactions,
}


def sse_library(chunks: list[bytes], wire: str) -> Texts:
    """`httpx-sse` and the standard library's JSON: no parts, no verdict, just the texts."""
    httpx, httpx_sse = importlib.import_module("httpx"), importlib.import_module("httpx_sse")
    got, put = Texted(), _PUT[wire]
    with _client(httpx, chunks) as client, httpx_sse.connect_sse(client, "GET", "http://bench/") as source:
        for event in source.iter_sse():
            if event.data == "[DONE]":
                break
            put(got, json.loads(event.data))
    return got.texts()


# --- the floor ------------------------------------------------------------------------------------------------
class _ChatDelta(msgspec.Struct):
    content: str | None = None
    reasoning_content: str | None = None


class _ChatChoice(msgspec.Struct):
    delta: _ChatDelta


class _Chat(msgspec.Struct):
    choices: list[_ChatChoice]


class _Responses(msgspec.Struct):
    type: str
    delta: str = ""


class _AnthropicDelta(msgspec.Struct):
    text: str = ""
    thinking: str = ""


class _Anthropic(msgspec.Struct):
    type: str
    delta: _AnthropicDelta | None = None


class _GooglePart(msgspec.Struct):
    text: str
    thought: bool = False


class _GoogleContent(msgspec.Struct):
    parts: list[_GooglePart]


class _GoogleCandidate(msgspec.Struct):
    content: _GoogleContent


class _Google(msgspec.Struct):
    candidates: list[_GoogleCandidate]


class _Step(msgspec.Struct):
    type: str
    text: str = ""
    content: _GooglePart | None = None


class _Interaction(msgspec.Struct):
    delta: _Step | None = None


def _payloads(chunks: list[bytes], border: bytes) -> Iterator[bytes]:
    """The data of each event, one line each; none of the standard's other rules."""
    rest = b""
    for chunk in chunks:
        text = rest + chunk
        at = 0
        while (end := text.find(border, at)) >= 0:
            yield text[text.find(b"data: ", at, end) + 6 : end]
            at = end + len(border)
        rest = text[at:]


def _floor_chat(chunks: list[bytes], got: Texted) -> None:
    decode = msgspec.json.Decoder(_Chat).decode
    for data in _payloads(chunks, b"\n\n"):
        if data == b"[DONE]":
            return
        for choice in decode(data).choices:
            if choice.delta.content:
                got.answer.append(choice.delta.content)
            elif choice.delta.reasoning_content:
                got.reasoning.append(choice.delta.reasoning_content)


def _floor_responses(chunks: list[bytes], got: Texted) -> None:
    decode = msgspec.json.Decoder(_Responses).decode
    for data in _payloads(chunks, b"\n\n"):
        event = decode(data)
        if event.type == "response.output_text.delta":
            got.answer.append(event.delta)
        elif event.type == "response.reasoning_summary_text.delta":
            got.reasoning.append(event.delta)


def _floor_anthropic(chunks: list[bytes], got: Texted) -> None:
    decode = msgspec.json.Decoder(_Anthropic).decode
    for data in _payloads(chunks, b"\n\n"):
        event = decode(data)
        if event.type == "content_block_delta" and event.delta is not None:
            if event.delta.text:
                got.answer.append(event.delta.text)
            elif event.delta.thinking:
                got.reasoning.append(event.delta.thinking)


def _floor_google(chunks: list[bytes], got: Texted) -> None:
    decode = msgspec.json.Decoder(_Google).decode
    for data in _payloads(chunks, b"\r\n\r\n"):
        for candidate in decode(data).candidates:
            for part in candidate.content.parts:
                (got.reasoning if part.thought else got.answer).append(part.text)


def _floor_interactions(chunks: list[bytes], got: Texted) -> None:
    decode = msgspec.json.Decoder(_Interaction).decode
    for data in _payloads(chunks, b"\n\n"):
        if data == b"[DONE]":
            return
        delta = decode(data).delta
        if delta is not None:
            if delta.type == "text":
                got.answer.append(delta.text)
            elif delta.content is not None:
                got.reasoning.append(delta.content.text)


_FLOORS: dict[str, Callable[[list[bytes], Texted], None]] = {
    "openai_chat": _floor_chat,
    "openai_responses": _floor_responses,
    "anthropic": _floor_anthropic,
    "google": _floor_google,
    "google_interactions": _floor_interactions,
}


def floor(chunks: list[bytes], wire: str) -> Texts:
    """A bare splitter and typed structs of the two fields that are wanted: what Python must at least spend."""
    got = Texted()
    _FLOORS[wire](chunks, got)
    return got.texts()


class Reader(NamedTuple):
    """One reader, and what the product must be beside it: at least so many times as quick, on these wires."""

    name: str
    read: Read
    times: dict[str, float]


READERS = (
    Reader("openai SDK", openai_client, {"openai_chat": 20, "openai_responses": 20}),
    Reader("anthropic SDK", anthropic_client, {"anthropic": 4}),
    Reader("google-genai", google_client, {"google": 40}),
    Reader("google-genai, Interactions", interactions_client, {"google_interactions": 40}),
    Reader("httpx-sse + json", sse_library, dict.fromkeys(_PUT, 1.0)),
    Reader("splitter + msgspec", floor, dict.fromkeys(_PUT, 1 / 3)),
)
"""Whom the product is measured beside."""
