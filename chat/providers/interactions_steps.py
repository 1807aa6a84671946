"""The steps of one interaction, and which of them an event means.

Takes indexes and types; gives steps, and all of them as the next request wants them back. Does not know events.
"""

from __future__ import annotations

import json
from typing import Any

from chat.streaming.deltas import PartKind

_TEXT_KINDS = {
    "model_output": PartKind.answer,
    "text": PartKind.answer,  # before May 2026
    "thought": PartKind.reasoning,
    "": PartKind.answer,
}


class Step:
    """One step; `number` counts them from 0 in order of arrival, `place` counts the calls among them."""

    __slots__ = ("call_id", "name", "number", "pieces", "place", "signature", "type", "whole")

    def __init__(self, number: int, type_: str, place: int) -> None:
        self.number = number
        self.type = type_
        self.place = place
        self.pieces: list[str] = []
        self.signature = ""
        self.call_id = ""
        self.name = ""
        self.whole: dict[str, Any] | None = None

    @property
    def is_call(self) -> bool:
        """Whether the client is asked to run something."""
        return self.type == "function_call"

    @property
    def kind(self) -> PartKind | None:
        """What the step's text is; None for text that is neither answer nor reasoning."""
        return _TEXT_KINDS.get(self.type)

    def carried(self) -> dict[str, Any] | None:
        """Return the step as an input step; None if there is nothing to send back."""
        text = "".join(self.pieces)
        content = [{"type": "text", "text": text}]
        signed = {"signature": self.signature} if self.signature else {}
        if self.is_call:
            arguments = _object(text) if text else self.whole
            if arguments is None:
                return None
            names = {"id": self.call_id, "name": self.name}
            return {"type": "function_call", **names, "arguments": arguments, **signed}
        if self.kind is PartKind.reasoning and signed:
            return {"type": "thought", **({"summary": content} if text else {}), **signed}
        if self.kind is PartKind.answer and text:
            return {"type": "model_output", "content": content}
        return None


class Steps:
    """Finds steps by index; without one, an event means the step that began last."""

    def __init__(self) -> None:
        self._all: list[Step] = []
        self._by_index: dict[int, Step] = {}

    @property
    def any_call(self) -> bool:
        """Whether any step asks the client to run something."""
        return any(step.is_call for step in self._all)

    def start(self, index: int | None, type_: str | None) -> Step:
        """Return a new step; an index that comes again names the new one from now on."""
        place = sum(step.is_call for step in self._all)
        step = Step(len(self._all), type_ or "", place)
        self._all.append(step)
        if index is not None:
            self._by_index[index] = step
        return step

    def get(self, index: int | None) -> Step:
        """Return the step that an event belongs to; one that was never started begins here."""
        if index is not None:
            return self._by_index.get(index) or self.start(index, None)
        return self._all[-1] if self._all else self.start(None, None)

    def carry(self) -> list[Any]:
        """Return all steps to send back, if any of them is signed or a call."""
        if not any(step.signature or step.is_call for step in self._all):
            return []
        carried = (step.carried() for step in self._all)
        return [step for step in carried if step is not None]


def _object(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
