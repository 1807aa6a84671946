"""Which providers and models this process can use now: the table of endpoints, its keys, and the local model.

Takes the environment and what became of the local model; gives endpoints by name. Asked at each use, so that a reply that
was queued before a restart finds the local model at its new port.
"""

import os
from typing import Any

from msgspec.structs import replace

from chat.local_model import Absent, LocalModel
from chat.providers.base import Endpoint, Model
from chat.providers.endpoints import COMPATIBLE, available, seeing

_local: LocalModel | Absent = Absent("it was not started")
_learnt: dict[str, tuple[Model, ...]] = {}


def use_local(local: LocalModel | Absent) -> None:
    """Say what became of the local model."""
    global _local  # noqa: PLW0603 (one local model per process, started by the server)
    _local = local


def local_state() -> str:
    """`ready`, `loading`, or why there is none: for readiness and for the first line of the server."""
    if isinstance(_local, Absent):
        return f"absent: {_local.reason}"
    gone = _local.exit_reason()
    if gone is not None:
        return f"absent: {gone}"
    return "ready" if _local.ready() else "loading"


def endpoints() -> dict[str, Endpoint]:
    """Every endpoint that can be asked, by name; the first is the default."""
    alive = isinstance(_local, LocalModel) and (_local.is_kept or _local.exit_reason() is None)
    local_url = _local.base_url if alive and isinstance(_local, LocalModel) else None
    found = available(os.environ, local_url=local_url)
    return {
        each.name: replace(each, models=seeing(os.environ, _learnt[each.name]))
        if each.name in _learnt
        else each
        for each in found
    }


def unnamed() -> list[Endpoint]:
    """The endpoints whose models nobody has named: they are asked (`engine/discovery.py`)."""
    placeholder = [model.id for model in COMPATIBLE.models]
    return [each for each in available(os.environ) if [model.id for model in each.models] == placeholder]


def learn(name: str, models: tuple[Model, ...]) -> None:
    """From now on this endpoint offers the models that it said it has."""
    _learnt[name] = models


def find(value: str) -> tuple[Endpoint, Model] | None:
    """The endpoint and model of a picker's value `endpoint:model`; None if there is no such choice here."""
    name, _, model_id = value.partition(":")
    endpoint = endpoints().get(name)
    if endpoint is None:
        return None
    # A page that was made before the server had said what it has: its placeholder means the first.
    if model_id == COMPATIBLE.models[0].id and name in _learnt:
        return endpoint, endpoint.models[0]
    return next(((endpoint, model) for model in endpoint.models if model.id == model_id), None)


def defaults(name: str) -> dict[str, Any]:
    """The settings that an endpoint is asked with unless somebody says otherwise; kept with each generation."""
    endpoint = endpoints().get(name)
    return dict(endpoint.defaults) if endpoint else {}


def sees(name: str, model_id: str) -> bool:
    """Whether this model takes pictures; one that is gone does not."""
    found = find(f"{name}:{model_id}")
    return found is not None and found[1].sees


def tunable(name: str, model_id: str) -> bool:
    """Whether this model takes a temperature; one that is gone is not asked anything."""
    found = find(f"{name}:{model_id}")
    return found is not None and found[1].tunable


def plans(name: str, model_id: str) -> bool:
    """Whether this model is large enough for a training plan; one that is gone is refused for that."""
    found = find(f"{name}:{model_id}")
    return found is None or found[1].plans
