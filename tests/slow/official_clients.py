"""What the official clients make of a stream: each asks a loopback server and gives what it heard.

Takes the address; gives texts, calls, counts, and the name of the exception if one was raised. The clients come from
`requirements/outside.txt` and are imported only when asked for. Knows nothing of our own reading.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

MESSAGES = [{"role": "user", "content": "x"}]


@dataclass
class Heard:
    """One stream as a client told it."""

    answer: str = ""
    reasoning: str = ""
    refusal: str = ""
    calls: list[tuple[str, str]] = field(default_factory=list)
    usage: tuple[int | None, int | None] | None = None
    raised: str = ""


def _openai(base_url: str) -> Any:
    return importlib.import_module("openai").OpenAI(api_key="x", base_url=base_url, max_retries=0, timeout=10)


def _chat(base_url: str, heard: Heard) -> None:
    calls: dict[int, list[str]] = {}
    for chunk in _openai(base_url).chat.completions.create(model="m", messages=MESSAGES, stream=True):
        if chunk.usage:
            heard.usage = (chunk.usage.prompt_tokens, chunk.usage.completion_tokens)
        for choice in chunk.choices or ():
            if choice.index or choice.delta is None:
                continue
            delta = choice.delta
            heard.answer += delta.content or ""
            heard.refusal += delta.refusal or ""
            heard.reasoning += (
                getattr(delta, "reasoning_content", None) or getattr(delta, "reasoning", None) or ""
            )
            for call in delta.tool_calls or ():
                kept = calls.setdefault(call.index, ["", ""])
                if call.function:
                    kept[0] += call.function.name or ""
                    kept[1] += call.function.arguments or ""
    heard.calls = [(name, arguments) for _, (name, arguments) in sorted(calls.items())]


def _responses(base_url: str, heard: Heard) -> None:
    calls: dict[int, tuple[str, str]] = {}
    for event in _openai(base_url).responses.create(model="m", input="x", stream=True):
        match event.type:
            case "response.output_text.delta":
                heard.answer += event.delta
            case "response.refusal.delta":
                heard.refusal += event.delta
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                heard.reasoning += event.delta
            case "response.output_item.done" if event.item.type in ("function_call", "custom_tool_call"):
                arguments = getattr(event.item, "arguments", None)
                calls[event.output_index] = (
                    event.item.name,
                    event.item.input if arguments is None else arguments,
                )
                heard.calls = [call for _, call in sorted(calls.items())]
            case "response.completed" | "response.incomplete" | "response.failed" if event.response.usage:
                usage = event.response.usage
                heard.usage = (usage.input_tokens, usage.output_tokens)


def _anthropic(base_url: str, heard: Heard) -> None:
    library = importlib.import_module("anthropic")
    client = library.Anthropic(api_key="x", base_url=base_url, max_retries=0, timeout=10)
    calls: dict[int, list[str]] = {}
    counts: dict[str, int] = {}
    for event in client.messages.create(model="m", max_tokens=9, messages=MESSAGES, stream=True):
        told = event.message.usage if event.type == "message_start" else getattr(event, "usage", None)
        for name in ("input_tokens", "output_tokens"):
            if (number := getattr(told, name, None)) is not None:
                counts[name] = number
                heard.usage = (counts.get("input_tokens"), counts.get("output_tokens"))
        if event.type == "content_block_start":
            if event.content_block.type == "tool_use":
                calls[event.index] = [event.content_block.name, ""]
            elif event.content_block.type in ("text", "thinking"):
                heard.answer += getattr(event.content_block, "text", "")
                heard.reasoning += getattr(event.content_block, "thinking", "")
        elif event.type == "content_block_delta":
            heard.answer += getattr(event.delta, "text", None) or ""
            heard.reasoning += getattr(event.delta, "thinking", None) or ""
            if event.index in calls:
                calls[event.index][1] += getattr(event.delta, "partial_json", "")
    heard.calls = [(name, arguments or "{}") for name, arguments in calls.values()]


def _google(base_url: str, heard: Heard) -> None:
    genai, types = importlib.import_module("google.genai"), importlib.import_module("google.genai.types")
    client = genai.Client(api_key="x", http_options=types.HttpOptions(base_url=base_url, timeout=10_000))
    for chunk in client.models.generate_content_stream(model="gemini-3-flash", contents="x"):
        if usage := chunk.usage_metadata:
            heard.usage = (usage.prompt_token_count, usage.candidates_token_count)
        for candidate in chunk.candidates or ():
            if candidate.index:
                continue
            for part in (candidate.content.parts if candidate.content else None) or ():
                if part.function_call:
                    arguments = json.dumps(part.function_call.args or {})
                    heard.calls.append((part.function_call.name or "", arguments))
                elif part.thought:
                    heard.reasoning += part.text or ""
                else:
                    heard.answer += part.text or ""


def _interactions(base_url: str, heard: Heard) -> None:
    genai, types = importlib.import_module("google.genai"), importlib.import_module("google.genai.types")
    client = genai.Client(api_key="x", http_options=types.HttpOptions(base_url=base_url, timeout=10_000))
    steps: dict[int | None, str] = {}
    calls: dict[int | None, list[str]] = {}
    for event in client.interactions.create(model="gemini-3-flash", input="x", stream=True):
        match event.event_type:
            case "step.start":
                steps[event.index] = event.step.type
                if event.step.type == "model_output":
                    heard.answer += "".join(getattr(part, "text", "") for part in event.step.content or ())
                elif event.step.type == "thought":
                    heard.reasoning += "".join(getattr(part, "text", "") for part in event.step.summary or ())
                elif event.step.type == "function_call":
                    arguments = getattr(event.step, "arguments", None)
                    calls[event.index] = [event.step.name or "", json.dumps(arguments) if arguments else ""]
            case "step.delta" if event.delta.type == "text" and steps.get(event.index) == "model_output":
                heard.answer += event.delta.text
            case "step.delta" if event.delta.type == "thought_summary":
                heard.reasoning += getattr(event.delta.content, "text", "")
            case "step.delta" if event.delta.type == "arguments_delta" and event.index in calls:
                calls[event.index][1] += event.delta.arguments or ""
            case "interaction.completed" if event.interaction.usage:
                usage = event.interaction.usage
                heard.usage = (usage.total_input_tokens, usage.total_output_tokens)
    heard.calls = [(name, arguments or "{}") for name, arguments in calls.values()]


CLIENTS: dict[str, Callable[[str, Heard], None]] = {
    "openai_chat": _chat,
    "openai_responses": _responses,
    "anthropic": _anthropic,
    "google": _google,
    "google_interactions": _interactions,
}


def hear(wire: str, base_url: str) -> Heard:
    """Ask and listen to the end, or to the exception, whichever exception it is: that is what is looked at."""
    heard = Heard()
    try:
        CLIENTS[wire](base_url, heard)
    except Exception as error:  # noqa: BLE001
        heard.raised = type(error).__name__
    return heard
