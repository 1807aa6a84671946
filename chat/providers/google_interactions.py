"""Google's Interactions wire: prompt -> request, and the requests that resume and cancel what goes on unseen.

Takes a prompt and an endpoint; gives requests, and a reader for each stream (`interactions_reader.py`). Does not
know the network. Source: ai.google.dev, "Interactions API".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote, urlencode

import msgspec

from chat.providers import asking
from chat.providers.base import Endpoint, Prompt, ToolDeclaration, Turn, UpstreamRequest
from chat.providers.google_faults import google_http_fault
from chat.providers.interactions_reader import GoogleInteractionsReader
from chat.providers.profiles import Profile
from chat.providers.turns import alternating, chosen_tool, known_settings
from chat.streaming.errors import UnknownSetting
from chat.streaming.outcome import Verdict
from chat.streaming.pipeline import Framing, WireReader
from chat.streaming.sse import SseReader

_CONFIG = {
    "max_tokens": "max_output_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "seed": "seed",
    "reasoning_effort": "thinking_level",
    "reasoning_summary": "thinking_summaries",
}
SETTINGS = frozenset((*_CONFIG, "stop", "tool_choice", "response_format", "store", "background"))
"""The settings that this wire understands, in the words of the chat wire where it has the same."""

_CHOICES = {"required": "any"}


class GoogleInteractions:
    """The wire: stateless, one for all endpoints that speak it."""

    name = "google_interactions"
    framing: Callable[[int], Framing] = SseReader

    def reader(self, _dialect: Profile) -> WireReader:
        """Return a fresh reader for one stream; there are no dialects."""
        return GoogleInteractionsReader()

    def request(self, prompt: Prompt, *, endpoint: Endpoint, model: str) -> UpstreamRequest:
        """Return the request that asks this prompt of that model.

        Nothing is stored at the provider unless a setting says so; a background interaction must be.
        """
        settings = known_settings(prompt, SETTINGS)
        background = bool(settings.get("background", False))
        store = bool(settings.get("store", background))
        if background and not store:
            raise UnknownSetting("expected a background interaction to be stored, got store=False")
        body: dict[str, Any] = {"model": model, "stream": True, "store": store}
        if background:
            body["background"] = True
        if prompt.system:
            body["system_instruction"] = prompt.system
        body["input"] = [
            step
            for run in alternating(prompt.turns, self.name, model)
            for turn in run
            for step in _steps(turn)
        ]
        config = {theirs: settings[ours] for ours, theirs in _CONFIG.items() if ours in settings}
        if "stop" in settings:
            stop = settings["stop"]
            config["stop_sequences"] = [stop] if isinstance(stop, str) else stop
        if "tool_choice" in settings:
            config["tool_choice"] = _choice(settings["tool_choice"])
        if config:
            body["generation_config"] = config
        if prompt.tools:
            body["tools"] = [_tool(tool) for tool in prompt.tools]
        if "response_format" in settings:
            body["response_format"] = _format(settings["response_format"])
        return self._call("POST", endpoint, "", msgspec.json.encode(body))

    def resume_request(
        self, *, endpoint: Endpoint, response_id: str, last_event: str | None
    ) -> UpstreamRequest:
        """Return the request for the events of a stored interaction after the one with that id."""
        query = {"stream": "true"} | ({"last_event_id": last_event} if last_event else {})
        return self._call("GET", endpoint, f"/{quote(response_id, safe='')}?{urlencode(query)}", b"")

    def cancel_request(self, *, endpoint: Endpoint, response_id: str) -> UpstreamRequest:
        """Return the request that cancels a background interaction."""
        path = f"/{quote(response_id, safe='')}/cancel"
        return self._call("POST", endpoint, path, b"", accept="application/json")

    def http_error(self, status: int, headers: Mapping[str, str], body: bytes) -> Verdict:
        """Return what an HTTP error means for the generation."""
        return google_http_fault(status, headers, body)

    def _call(
        self, method: str, endpoint: Endpoint, path: str, body: bytes, *, accept: str = "text/event-stream"
    ) -> UpstreamRequest:
        url = asking.address(endpoint.base_url, "/interactions") + path
        return UpstreamRequest(method, url, asking.headers(endpoint, "x-goog-api-key", accept=accept), body)


def _steps(turn: Turn) -> list[Any]:
    """Return a turn as input steps; what the provider gave to send back holds the answer as well."""
    if turn.carry:
        return list(turn.carry)
    type_ = "user_input" if turn.role == "user" else "model_output"
    content = [{"type": "image", "data": each.data, "mime_type": each.media_type} for each in turn.images]
    if turn.text:
        content.append({"type": "text", "text": turn.text})
    return [{"type": type_, "content": content}]


def _tool(tool: ToolDeclaration) -> dict[str, Any]:
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.schema,
    }


def _choice(told: Any) -> Any:
    """Return a `tool_choice` of the chat wire in this wire's words."""
    chosen = chosen_tool(told)
    if chosen:
        return {"allowed_tools": {"mode": "any", "tools": [chosen]}}
    return _CHOICES.get(told, told) if isinstance(told, str) else told


def _format(told: Any) -> dict[str, Any]:
    """Return a `response_format` of the chat wire in this wire's form."""
    named = told.get("json_schema") if isinstance(told, dict) else None
    schema = {"schema": named.get("schema")} if isinstance(named, dict) else {}
    return {"type": "text", "mime_type": "application/json", **schema}
