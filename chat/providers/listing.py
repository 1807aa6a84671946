"""Which models an OpenAI-compatible server has: the request that asks, and the reading of what it answers.

Pure, like every wire. For endpoints whose models nobody has named (`OPENAI_COMPATIBLE_MODELS`); source: the `GET /models`
that vLLM, Ollama, llama.cpp, LM Studio and OpenRouter share.
"""

from __future__ import annotations

from typing import Any

import msgspec

from chat.providers.base import Endpoint, Model, UpstreamRequest
from chat.providers.profiles import profile
from chat.streaming.deltas import storable

MOST_MODELS = 200
NAME_CHARS = 200


class _Row(msgspec.Struct):
    id: str
    architecture: Any = None  # OpenRouter says here what a model takes


class _Listing(msgspec.Struct):
    data: list[_Row]


def listing_request(endpoint: Endpoint) -> UpstreamRequest:
    """The request for the endpoint's list of models."""
    headers = {"accept": "application/json", "accept-encoding": "identity"}
    if endpoint.key is not None:
        name = profile(endpoint.profile).key_header
        secret = endpoint.key.reveal()
        headers[name] = f"Bearer {secret}" if name == "authorization" else secret
    return UpstreamRequest("GET", f"{endpoint.base_url.rstrip('/')}/models", headers, b"")


def read_listing(body: bytes) -> tuple[Model, ...]:
    """The models of an answer, in its order, each once; none where it is no such list."""
    try:
        rows = msgspec.json.decode(body, type=_Listing).data
    except (msgspec.MsgspecError, UnicodeError):
        return ()
    found: dict[str, Model] = {}
    for row in rows:
        if 0 < len(row.id) <= NAME_CHARS:
            name = storable(row.id)
            found.setdefault(name, Model(name, name, sees=_sees(row.architecture)))
    return tuple(found.values())[:MOST_MODELS]


def _sees(architecture: Any) -> bool:
    told = architecture.get("input_modalities") if isinstance(architecture, dict) else None
    return isinstance(told, list) and "image" in told
