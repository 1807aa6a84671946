"""Dialects: in what a server differs from the wire that it speaks, as a table.

Takes a vendor's name; gives its profile. Does not know where a server is, nor how its wire is read.
"""

from __future__ import annotations

import msgspec


class Profile(msgspec.Struct, frozen=True):
    """One dialect of a wire.

    `done_required`: a finish without `[DONE]` proves nothing. `usage_option`: the server takes
    `stream_options`. `system_role`: what the system text is sent as. `limit_field`: what the output limit is
    called. `key_header`: `authorization` (bearer) or a header of the vendor's own. `notice_in_brackets`: it
    tells its own failure as a last delta in square brackets, and then ends as if all were well.
    `json_schema`: it holds a model to a schema (`response_format`); others answer 400 to that, or ignore it.
    """

    name: str
    done_required: bool = True
    usage_option: bool = True
    system_role: str = "system"
    limit_field: str = "max_tokens"
    key_header: str = "authorization"
    notice_in_brackets: bool = False
    json_schema: bool = False


STRICT = Profile("strict")
"""What an unknown server gets: nothing is taken on trust."""

# DeepSeek, Qwen, vLLM, OpenRouter, GLM and most others need no row: they take the strict default's requests, and
# what they add (reasoning fields, finish words, errors, comments) is heard from everybody.
_TABLE = (
    Profile("openai", system_role="developer", limit_field="max_completion_tokens", json_schema=True),
    Profile(
        "azure",
        system_role="developer",
        limit_field="max_completion_tokens",
        key_header="api-key",
        json_schema=True,
    ),
    # Other vendors' models on Azure: the same door, but not the same words.
    Profile("azure-foundry", key_header="api-key"),
    # Says nothing of `stream_options`, sends usage by itself, and never ends without `[DONE]`.
    Profile("tai", usage_option=False, notice_in_brackets=True),
    # These omit or mis-frame `[DONE]`, so that their finish reason is the evidence.
    Profile("llama.cpp", done_required=False, json_schema=True),
    Profile("ollama", done_required=False, json_schema=True),
    Profile("perplexity", done_required=False, usage_option=False),
    Profile("writer", done_required=False),
    Profile("gpustack", done_required=False),
    Profile("huggingface", done_required=False),
    # Strict ones that refuse `stream_options` or name things in their own way.
    Profile("mistral", usage_option=False, json_schema=True),
    Profile("groq", limit_field="max_completion_tokens"),
    Profile("xai", limit_field="max_completion_tokens", json_schema=True),
)


def _plain(name: str) -> str:
    """Fold spelling: `llama.cpp`, `llamacpp` and `LlamaCpp` are one name."""
    return "".join(letter for letter in name.lower() if letter.isalnum())


PROFILES: dict[str, Profile] = {_plain(profile.name): profile for profile in _TABLE}


# Vendors that keep to the strict default: no row, but no misspelling either.
_STRICT_VENDORS = """
    strict deepseek qwen dashscope alibaba vllm openrouter glm zai lmstudio together fireworks cerebras litellm
"""
_KNOWN = frozenset(PROFILES) | frozenset(_STRICT_VENDORS.split())


def is_known(name: str) -> bool:
    """Say whether somebody who writes this name means a vendor that is known."""
    return _plain(name) in _KNOWN


def profile(name: str | None) -> Profile:
    """Return the dialect of that vendor; an unknown name is the strict default."""
    return PROFILES.get(_plain(name or ""), STRICT)
