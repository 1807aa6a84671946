"""What every wire shares: the prompt, the request that it becomes, where that goes, and the wire's protocol.

Takes nothing; gives the types. A wire is pure: it builds a request and reads events; `upstream.py` does the
talking.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol, runtime_checkable

import msgspec

from chat.providers.profiles import Profile
from chat.streaming.outcome import Verdict
from chat.streaming.pipeline import Framing, WireReader

__all__ = [
    "Endpoint",
    "Framing",
    "Image",
    "Model",
    "Prompt",
    "ResumableWire",
    "Secret",
    "ToolDeclaration",
    "Turn",
    "UpstreamRequest",
    "Wire",
    "WireReader",
]


class Image(msgspec.Struct, frozen=True):
    """A picture that a person sent along: its media type, and its bytes in base64, as every wire wants them."""

    media_type: str
    data: str

    @property
    def data_url(self) -> str:
        """The picture as an address, for wires that take no bytes."""
        return f"data:{self.media_type};base64,{self.data}"


class Turn(msgspec.Struct, frozen=True):
    """One message of the conversation, as the model is to see it.

    `carry` is what the provider gave to be sent back unchanged. Only the wire named `wire` understands it, and only
    the model named `model` accepts it: signatures are bound to the model that gave them. `images` are a person's, and
    only for models that see.
    """

    role: Literal["user", "assistant"]
    text: str
    carry: list[Any] = []
    wire: str = ""
    model: str = ""
    images: list[Image] = []


class ToolDeclaration(msgspec.Struct, frozen=True):
    """One tool that is offered: its name, what it is for, and the JSON schema of its arguments.

    The schema is strict already: every object says `additionalProperties: false` and requires all it has.
    """

    name: str
    description: str
    schema: dict[str, Any]


class Prompt(msgspec.Struct, frozen=True):
    """All that is asked: the system text, the turns (oldest first), and settings by the names of `SETTINGS`.

    Turns may follow each other with the same role (a reply that was never confirmed is in no prompt): the
    wire joins them. Each wire offers the tools in its own form, strictly where it can.
    """

    system: str
    turns: list[Turn]
    settings: dict[str, Any] = {}
    tools: list[ToolDeclaration] = []


class Secret:
    """A key that no repr, log line or equality message shows."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the key, for the one header that carries it."""
        return self._value

    def __repr__(self) -> str:
        return "Secret(…)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(self._value)


class Model(msgspec.Struct, frozen=True):
    """One model that an endpoint offers: the provider's name and the one that a person reads.

    `sees`: it takes pictures. `tunable`: it takes a temperature; models that reason refuse one. `plans`: it is large enough
    for an object with a form, such as a training plan.
    """

    id: str
    label: str
    sees: bool = False
    tunable: bool = True
    plans: bool = True


class Endpoint(msgspec.Struct, frozen=True):
    """One place that speaks a wire. `key_env` names the variable that the key came from; `defaults` are the settings that
    it is asked with."""

    name: str
    label: str
    wire: str
    base_url: str
    key_env: str | None
    profile: str
    models: tuple[Model, ...]
    key: Secret | None = None
    defaults: dict[str, Any] = {}


class UpstreamRequest(msgspec.Struct, frozen=True):
    """One HTTP request, ready to send. Its repr shows neither headers (keys) nor the body (what people wrote)."""

    method: str
    url: str
    headers: dict[str, str]
    body: bytes

    def __repr__(self) -> str:
        return f"UpstreamRequest({self.method} {self.url}, {len(self.body)} bytes)"


class Wire(Protocol):
    """One provider's protocol: prompt -> request, events -> deltas and verdict, HTTP error -> verdict."""

    @property
    def name(self) -> str:
        """The name that endpoints, `replay` and the database use."""

    @property
    def framing(self) -> Callable[[int], Framing]:
        """How a body of this wire is cut into events, given the largest size of one in bytes."""

    def reader(self, profile: Profile) -> WireReader:
        """Return a fresh reader for one stream in this dialect."""

    def request(self, prompt: Prompt, *, endpoint: Endpoint, model: str) -> UpstreamRequest:
        """Return the request that asks this prompt of that model; raise `UnknownSetting` for foreign settings."""

    def http_error(self, status: int, headers: Mapping[str, str], body: bytes) -> Verdict:
        """Return what a status other than 2xx, with the beginning of its body, means for the generation."""


@runtime_checkable
class ResumableWire(Wire, Protocol):
    """A wire whose generations may go on at the provider without a connection (background mode)."""

    def resume_request(
        self, *, endpoint: Endpoint, response_id: str, last_event: str | None
    ) -> UpstreamRequest:
        """Return the request for the events after that one; without one, for all events from the first."""

    def cancel_request(self, *, endpoint: Endpoint, response_id: str) -> UpstreamRequest:
        """Return the request that ends the generation at the provider; sending it twice does no harm."""
