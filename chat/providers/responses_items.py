"""The items of one Responses stream, and which of them an event means, whatever a relay leaves out.

Takes the provider's names (`output_index`, `item_id`); gives items, each with its growing parts. Does not know
events, nor what an item's text means.
"""

from __future__ import annotations

from typing import Any

from chat.streaming.deltas import PartKind

CALL_TYPES = frozenset({"function_call", "custom_tool_call"})
"""The items that ask the client to run something."""


class Piece:
    """The text of one part as its deltas brought it; `key` is the part's name for the assembler."""

    __slots__ = ("key", "kind", "letter", "texts")

    def __init__(self, kind: PartKind, letter: str, key: str) -> None:
        self.kind = kind
        self.letter = letter
        self.key = key
        self.texts: list[str] = []

    @property
    def text(self) -> str:
        """All text so far, kept joined."""
        if len(self.texts) > 1:
            self.texts[:] = ["".join(self.texts)]
        return self.texts[0] if self.texts else ""


class Item:
    """One item of the output; `number` counts them from 0 in order of arrival."""

    __slots__ = ("announced_as", "call", "carry", "index", "number", "pieces", "position")

    def __init__(self, number: int, index: int | None, position: int) -> None:
        self.number = number
        self.index = index
        self.position = position
        self.announced_as: str | None = None  # the id in its `output_item.added`, be it empty
        self.pieces: dict[tuple[str, int], Piece] = {}
        self.call: Call | None = None
        self.carry: dict[str, Any] | None = None

    def piece(self, kind: PartKind, letter: str, index: int) -> Piece:
        """Return the part of this item that has this letter (a kind of text) and index."""
        found = self.pieces.get((letter, index))
        if found is None:
            found = self.pieces[letter, index] = Piece(kind, letter, f"{self.number}{letter}{index}")
        return found

    def text(self, letter: str) -> str:
        """Return all text of one kind, in order of arrival."""
        return "".join(piece.text for piece in self.pieces.values() if piece.letter == letter)


class Call:
    """A call that the client is asked to run, as far as it is known."""

    __slots__ = ("call_id", "name", "texts")

    def __init__(self) -> None:
        self.call_id = ""
        self.name = ""
        self.texts: list[str] = []

    @property
    def arguments(self) -> str:
        """The argument text so far, kept joined."""
        if len(self.texts) > 1:
            self.texts[:] = ["".join(self.texts)]
        return self.texts[0] if self.texts else ""


class Items:
    """Finds items by index; by id where there is no index, or where an index turned out to be shared.

    Relays rotate ids between the events of one item (Copilot), leave indexes out (llama.cpp), or give all items
    the same one.
    """

    def __init__(self) -> None:
        self.all: list[Item] = []
        self._by_index: dict[int, Item] = {}
        self._by_id: dict[str, Item] = {}
        self._shared: set[int] = set()

    def announce(self, index: int | None, item_id: str | None) -> Item:
        """Return the item that an `output_item.added` begins; a repeated one begins nothing."""
        found = self._find(index, item_id)
        if found is not None and found.announced_as is not None and found.announced_as != (item_id or ""):
            if index is not None:
                self._shared.add(index)
            found = self._by_id.get(item_id or "")
        if found is None:
            found = self._start(index, item_id)
        found.announced_as = item_id or ""
        return found

    def get(self, index: int | None, item_id: str | None) -> Item:
        """Return the item that an event belongs to; what was never announced begins here."""
        found = self._find(index, item_id)
        if found is None and index is None and not item_id and self.all:
            found = self.all[-1]
        return found or self._start(index, item_id)

    def in_order(self) -> list[Item]:
        """Return the items by their place in the output."""
        return sorted(self.all, key=lambda item: item.position)

    def _find(self, index: int | None, item_id: str | None) -> Item | None:
        by_index = None if index is None else self._by_index.get(index)
        if by_index is not None and index not in self._shared:
            return by_index
        by_id = self._by_id.get(item_id) if item_id else None
        if by_index is not None or index is None or by_id is None:
            return by_id or by_index
        # An index that has not been seen is another item, even under an id that is always the same.
        if by_id.index is not None:
            return None
        by_id.index = by_id.position = index
        self._by_index[index] = by_id
        return by_id

    def _start(self, index: int | None, item_id: str | None) -> Item:
        number = len(self.all)
        item = Item(number, index, number if index is None or index in self._shared else index)
        self.all.append(item)
        if index is not None:
            self._by_index[index] = item
        if item_id:
            self._by_id[item_id] = item
        return item
