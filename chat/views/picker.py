"""Which models a person may choose from, as the composer's select shows them.

Takes the endpoints that have their key (or are local), gives groups of `endpoint:model` values. Knows no request.
"""

import os
from typing import NamedTuple

from django.conf import settings

from chat.providers import endpoints
from chat.providers.endpoints import Endpoint


class Choice(NamedTuple):
    """One line of the select; `value` is what the form sends."""

    endpoint: str
    model: str
    label: str

    @property
    def value(self) -> str:
        return f"{self.endpoint}:{self.model}"


class Group(NamedTuple):
    """One endpoint with its models."""

    label: str
    choices: list[Choice]


def available() -> list[Endpoint]:
    """The endpoints that can be asked now."""
    return endpoints.available(os.environ, local_url=getattr(settings, "LOCAL_MODEL_URL", None))


def groups() -> list[Group]:
    """Everything that may be chosen, in the table's order."""
    return [
        Group(
            endpoint.label, [Choice(endpoint.name, model.name, model.label or model.name) for model in endpoint.models]
        )
        for endpoint in available()
        if endpoint.models
    ]


def find(value: str) -> Choice | None:
    """The choice that a form sent, or None for one that does not exist (any more)."""
    return next((choice for group in groups() for choice in group.choices if choice.value == value), None)


def label(endpoint: str, model: str) -> str:
    """The model's name for people; a model that is gone keeps the name that it was asked by."""
    choice = find(f"{endpoint}:{model}")
    return choice.label if choice else model
