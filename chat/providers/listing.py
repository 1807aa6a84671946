"""Which models an OpenAI-compatible server has: the request that asks, and the reading of what it answers.

Pure, like every wire. For endpoints whose models nobody has named (`OPENAI_COMPATIBLE_MODELS`); source: the `GET /models`
that vLLM, Ollama, llama.cpp, LM Studio and OpenRouter share.
"""

from __future__ import annotations

import msgspec

from chat.providers.base import Endpoint, Model, UpstreamRequest
from chat.providers.profiles import profile
from chat.streaming.deltas import storable

MOST_MODELS = 200
NAME_CHARS = 200


class _Row(msgspec.Struct):
    id: str


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
    names = dict.fromkeys(storable(row.id) for row in rows if 0 < len(row.id) <= NAME_CHARS)
    return tuple(Model(name, name) for name in list(names)[:MOST_MODELS])
