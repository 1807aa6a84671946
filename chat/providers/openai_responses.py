"""The OpenAI Responses wire: prompt -> request, and the requests that resume and cancel what goes on unseen.

Takes a prompt and an endpoint; gives requests, and a reader for each stream (`responses_reader.py`). Does not know
the network. Source: developers.openai.com, "Responses", "Background mode" and "Reasoning models".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote, urlencode

import msgspec

from chat.providers import asking
from chat.providers.base import Endpoint, Prompt, ToolDeclaration, Turn, UpstreamRequest
from chat.providers.faults import http_fault
from chat.providers.profiles import Profile, profile
from chat.providers.responses_reader import OpenAIResponsesReader
from chat.providers.turns import alternating, chosen_tool, known_settings
from chat.streaming.errors import UnknownSetting
from chat.streaming.outcome import Verdict
from chat.streaming.pipeline import Framing, WireReader
from chat.streaming.sse import SseReader

_SETTINGS_TEXT = """
    max_tokens temperature top_p reasoning_effort reasoning_summary tool_choice parallel_tool_calls response_format
    store background
"""
SETTINGS = frozenset(_SETTINGS_TEXT.split())
"""The settings that this wire understands, in the words of the chat wire where it has the same."""

# These do not reason, and answer 400 when asked for encrypted reasoning.
_PLAIN_MODEL = re.compile(r"(?:^|/)(?:gpt-[34]|chatgpt-)")


class OpenAIResponses:
    """The wire: stateless, one for all endpoints that speak it."""

    name = "openai_responses"
    framing: Callable[[int], Framing] = SseReader

    def reader(self, _dialect: Profile) -> WireReader:
        """Return a fresh reader for one stream; all dialects are read alike."""
        return OpenAIResponsesReader()

    def request(self, prompt: Prompt, *, endpoint: Endpoint, model: str) -> UpstreamRequest:
        """Return the request that asks this prompt of that model.

        Nothing is stored at the provider unless a setting says so; a background response must be.
        """
        settings = known_settings(prompt, SETTINGS)
        background = bool(settings.get("background", False))
        store = bool(settings.get("store", background))
        if background and not store:
            raise UnknownSetting("expected a background response to be stored, got store=False")
        body: dict[str, Any] = {"model": model, "stream": True, "store": store}
        if background:
            body["background"] = True
        if prompt.system:
            body["instructions"] = prompt.system
        body["input"] = [
            item
            for run in alternating(prompt.turns, self.name, model)
            for turn in run
            for item in _items(turn)
        ]
        reasoning = {
            "effort": settings.get("reasoning_effort"),
            "summary": settings.get("reasoning_summary"),
        }
        if any(reasoning.values()):
            body["reasoning"] = {name: value for name, value in reasoning.items() if value}
        if "max_tokens" in settings:
            body["max_output_tokens"] = settings["max_tokens"]
        for name in ("temperature", "top_p", "parallel_tool_calls"):
            if name in settings:
                body[name] = settings[name]
        if prompt.tools:
            body["tools"] = [_tool(tool) for tool in prompt.tools]
        if "tool_choice" in settings:
            chosen = chosen_tool(settings["tool_choice"])
            body["tool_choice"] = {"type": "function", "name": chosen} if chosen else settings["tool_choice"]
        if "response_format" in settings:
            body["text"] = {"format": _format(settings["response_format"])}
        if not store and not _PLAIN_MODEL.search(model):
            body["include"] = ["reasoning.encrypted_content"]
        return self._call("POST", endpoint, "", msgspec.json.encode(body))

    def resume_request(
        self, *, endpoint: Endpoint, response_id: str, last_event: str | None
    ) -> UpstreamRequest:
        """Return the request for the events of a background response after the one with that number."""
        query = {"stream": "true"} | ({"starting_after": last_event} if last_event else {})
        return self._call("GET", endpoint, f"/{quote(response_id, safe='')}?{urlencode(query)}", b"")

    def cancel_request(self, *, endpoint: Endpoint, response_id: str) -> UpstreamRequest:
        """Return the request that cancels a background response; it answers with the final object."""
        path = f"/{quote(response_id, safe='')}/cancel"
        return self._call("POST", endpoint, path, b"", accept="application/json")

    def http_error(self, status: int, headers: Mapping[str, str], body: bytes) -> Verdict:
        """Return what an HTTP error means for the generation."""
        return http_fault(status, headers, body)

    def _call(
        self, method: str, endpoint: Endpoint, path: str, body: bytes, *, accept: str = "text/event-stream"
    ) -> UpstreamRequest:
        url = asking.address(endpoint.base_url, "/responses") + path
        headers = asking.headers(endpoint, profile(endpoint.profile).key_header, accept=accept)
        return UpstreamRequest(method, url, headers, body)


def _items(turn: Turn) -> list[dict[str, Any]]:
    """Return a turn as input items: what the provider wants back first, since reasoning precedes its answer."""
    if turn.role == "user":
        pictures = [{"type": "input_image", "image_url": image.data_url} for image in turn.images]
        text = [{"type": "input_text", "text": turn.text}] if turn.text else []
        return [{"role": "user", "content": [*pictures, *text]}]
    items: list[dict[str, Any]] = list(turn.carry)
    if turn.text:
        # llama.cpp knows an answer by its type alone.
        content = [{"type": "output_text", "text": turn.text}]
        items.append({"type": "message", "role": "assistant", "content": content})
    return items


def _tool(tool: ToolDeclaration) -> dict[str, Any]:
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.schema,
        "strict": True,
    }


def _format(told: Any) -> Any:
    """Return a `response_format` of the chat wire in this wire's flat form."""
    schema = told.get("json_schema") if isinstance(told, dict) else None
    return {"type": "json_schema", **schema} if isinstance(schema, dict) else told
