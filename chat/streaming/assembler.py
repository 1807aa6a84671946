"""Deltas -> parts, each kept apart by its kind and the provider's own key.

Takes deltas in order of arrival; gives one change per delta that says something: the new text and, on demand,
all so far. Text becomes storable here (`deltas.storable`), and a surrogate pair that two deltas of the same
part share is joined. Does not know wires, gates or outcomes.
"""

from __future__ import annotations

from typing import Any

import msgspec

from chat.streaming.deltas import Delta, Key, PartKind, TextDelta, ToolDelta, is_storable, storable
from chat.streaming.errors import FeedAfterClose


class Part:
    """One growing part of a reply; `number` counts parts from 0 in order of arrival."""

    __slots__ = (
        "_half",
        "_pieces",
        "call_id",
        "key",
        "kind",
        "lane",
        "length",
        "name",
        "number",
        "position",
        "spoken",
        "value",
    )

    def __init__(self, kind: PartKind, key: Key, number: int) -> None:
        self.kind = kind
        self.key = key
        self.number = number
        self.lane = kind.value
        self.call_id = ""
        self.name = ""
        self.position = 0
        self.spoken = False  # whether arguments came as text, be it empty
        self.value: Any = None  # arguments that came as an object
        self._pieces: list[str] = []
        self.length = 0
        self._half = ""

    @property
    def text(self) -> str:
        """All text so far; joined when asked for, and kept joined."""
        pieces = self._pieces
        if len(pieces) > 1:
            pieces[:] = ["".join(pieces)]
        return pieces[0] if pieces else ""

    def grow(self, text: str) -> str:
        """Add text, made storable, and return what was really added; half a surrogate pair waits."""
        if self._half or not is_storable(text):
            text = self._mended(text)
        if text:
            self._pieces.append(text)
            self.length += len(text)
        return text

    def restart(self) -> None:
        """Forget the text: the provider sends all of it again."""
        self._pieces.clear()
        self.length = 0
        self._half = ""

    def close(self) -> str:
        """Give up waiting for the second half of a pair."""
        half, self._half = self._half, ""
        return self.grow(storable(half))

    def _mended(self, text: str) -> str:
        text, self._half = self._half + text, ""
        if is_storable(text):
            return text
        if "\ud800" <= text[-1] <= "\udbff":
            self._half = text[-1]
            text = text[:-1]
        return storable(text)


class Change(msgspec.Struct, frozen=True, gc=False):
    """What one delta did: the part, the new text ("" when a call only got its name), and the length it gave."""

    part: Part
    delta: str
    length: int

    @property
    def so_far(self) -> str:
        """All text of the part up to and with this change, even when asked for later."""
        return self.part.text[: self.length]


class Assembler:
    """Keeps the parts of one reply."""

    __slots__ = ("_by_key", "_closed", "_last", "parts")

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self._by_key: dict[tuple[str, Key], Part] = {}
        self._last: Part | None = None
        self._closed = False

    def feed(self, delta: Delta) -> list[Change]:
        """Return the change, or nothing when the delta carries no text, id or name."""
        if self._closed:
            raise FeedAfterClose(self)
        if isinstance(delta, TextDelta):
            if not delta.text:
                return []
            part = self._last
            # Nearly every delta continues the last part; hashing an enum member is slow, so look there first.
            if part is None or part.kind is not delta.kind or part.key != delta.key:
                part = self._part(delta.kind, delta.key)
            added = part.grow(delta.text)
            return [Change(part, added, part.length)] if added else []
        return self._feed_tool(delta)

    def close(self) -> list[Change]:
        """Return what the halves of surrogate pairs become whose other half never came."""
        self._closed = True
        changes = []
        for part in self.parts:
            added = part.close()
            if added:
                changes.append(Change(part, added, part.length))
        return changes

    def of_kind(self, kind: PartKind) -> list[Part]:
        """Return the parts of one kind, in order of arrival."""
        return [part for part in self.parts if part.kind is kind]

    def _feed_tool(self, delta: ToolDelta) -> list[Change]:
        part = self._part(PartKind.tool_arguments, delta.key)
        part.position = delta.position
        # Some providers repeat id and name on every fragment: the first one stands, nothing is ever appended.
        part.call_id = part.call_id or storable(delta.call_id)
        part.name = part.name or storable(delta.name)
        if delta.value is not None:
            part.value = delta.value
        part.spoken = part.spoken or delta.arguments is not None
        if delta.replaces:
            part.restart()
        added = part.grow(delta.arguments) if delta.arguments else ""
        return [Change(part, added, part.length)]

    def _part(self, kind: PartKind, key: Key) -> Part:
        part = self._by_key.get((kind.value, key))
        if part is None:
            part = Part(kind, key, len(self.parts))
            self.parts.append(part)
            self._by_key[kind.value, key] = part
        self._last = part
        return part
