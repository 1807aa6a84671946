"""Which models a person may choose from, as the composer's select shows them.

Takes the catalogue of the moment, gives groups of `endpoint:model` values. Knows no request.
"""

from typing import NamedTuple

from chat import catalogue


class Choice(NamedTuple):
    """One line of the select; `value` is what the form sends."""

    endpoint: str
    model: str
    label: str
    sees: bool = False
    plans: bool = True

    @property
    def value(self) -> str:
        return f"{self.endpoint}:{self.model}"


class Group(NamedTuple):
    """One endpoint with its models."""

    name: str
    label: str
    choices: list[Choice]


def groups() -> list[Group]:
    """Everything that can be asked now, in the catalogue's order."""
    return [
        Group(
            endpoint.name,
            endpoint.label,
            [
                Choice(endpoint.name, model.id, model.label or model.id, model.sees, model.plans)
                for model in endpoint.models
            ],
        )
        for endpoint in catalogue.endpoints().values()
        if endpoint.models
    ]


def sole() -> str:
    """The value of the only choice there is; "" where there are several, or none."""
    values = [choice.value for group in groups() for choice in group.choices]
    return values[0] if len(values) == 1 else ""


def label(endpoint: str, model: str) -> str:
    """The model's name for people; a model that is gone keeps the name that it was asked by."""
    found = catalogue.find(f"{endpoint}:{model}")
    return (found[1].label or found[1].id) if found else model
