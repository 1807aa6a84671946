"""The content blocks of one Anthropic reply: starts, deltas and stops -> text deltas, and the blocks as they must
be sent back.

Takes the block events in order; gives deltas, whether every block was closed, and the whole blocks. A block is known
by the provider's index while it is open; each start opens a new one. Does not know how the message ended.
"""

from __future__ import annotations

import json
from typing import Any

from chat.providers.anthropic_event import Piece
from chat.streaming.deltas import Delta, PartKind, TextDelta, ToolDelta, is_storable_value, paired
from chat.streaming.errors import MalformedStream

# Block type -> what its text is. Other blocks (server tools, redacted thinking, fallback, compaction, what may
# come) say nothing to a person; they are only kept.
_KINDS = {"text": PartKind.answer, "thinking": PartKind.reasoning}

# Delta type -> its field, which is also the block's; arguments are text until the block stops.
_FIELDS = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "input_json_delta": "partial_json",
    "signature_delta": "signature",
    "compaction_delta": "content",
}
_TEXTS = {"text": "text_delta", "thinking": "thinking_delta", "tool_use": "input_json_delta"}

_NOTHING: list[Delta] = []


class Block:
    """One block: what its start said, and what its deltas added to each field."""

    __slots__ = ("added", "citations", "expected", "kind", "number", "position", "start", "type")

    def __init__(self, number: int, start: dict[str, Any], position: int) -> None:
        self.number = number
        self.position = position
        self.start = start
        kind = start.get("type")
        self.type = kind if isinstance(kind, str) else ""
        self.kind = _KINDS.get(self.type)  # what its text is to a person, if it is for one
        self.expected = _TEXTS.get(self.type)  # the type of the deltas that its text comes in
        self.added: dict[str, list[str]] = {}
        self.citations: list[Any] = []

    def whole(self) -> dict[str, Any]:
        """Return the block as if it had come in one piece; raise `ValueError` if its arguments are no JSON."""
        block = dict(self.start)
        for field, pieces in self.added.items():
            text = paired("".join(pieces))
            if field == "partial_json":
                block["input"] = json.loads(text) if text else block.get("input", {})
            else:
                block[field] = (block.get(field) or "") + text
        if self.citations:
            block["citations"] = [*(block.get("citations") or []), *self.citations]
        return block


class Blocks:
    """Keeps the blocks of one reply."""

    def __init__(self) -> None:
        self._all: list[Block] = []
        self._open: dict[int, Block] = {}
        self._calls = 0
        self._lost_one = False  # whether a start was repeated while its block was open
        self._unknown = False  # whether a delta came that could not be kept

    @property
    def closed(self) -> bool:
        """Whether every block that was opened has its stop."""
        return not self._open and not self._lost_one

    @property
    def calls(self) -> bool:
        """Whether there is any call of a tool of ours."""
        return bool(self._calls)

    def start(self, index: int | None, start: dict[str, Any]) -> list[Delta]:
        """Open a block; its start may already hold text."""
        block = Block(len(self._all), start, self._calls)
        self._all.append(block)
        index = block.number if index is None else index
        self._lost_one = self._lost_one or index in self._open
        self._open[index] = block
        if block.type == "tool_use":
            self._calls += 1
            return [ToolDelta(block.number, _text(start, "id"), _text(start, "name"), "", block.position)]
        text = _text(start, block.type)
        return [TextDelta(block.kind, block.number, text)] if block.kind and text else _NOTHING

    def add(self, index: int | None, piece: Piece) -> list[Delta]:
        """Add to an open block; raise `MalformedStream` for text that no open block can hold."""
        block = self._open.get(index) if index is not None else self._find(None)
        if block is None:
            raise MalformedStream("expected deltas of open blocks only, got one of another")
        kind = piece.type or ""
        if kind == "citations_delta":
            block.citations.append(piece.citation)
            return _NOTHING
        field = _FIELDS.get(kind)
        text = getattr(piece, field) if field else None
        if field is None or text is None:
            self._unknown = True
            return _NOTHING
        pieces = block.added.get(field)
        if pieces is None:
            pieces = block.added[field] = []
        pieces.append(text)
        if kind == block.expected:
            if block.kind is not None:
                return [TextDelta(block.kind, block.number, text)]
            return [ToolDelta(block.number, "", "", text, block.position)]
        if block.expected and kind in _TEXTS.values():
            raise MalformedStream(f"expected {block.expected} in a block of type {block.type}, got {kind}")
        return _NOTHING

    def stop(self, index: int | None) -> list[Delta]:
        """Close a block; a call whose arguments were all empty has those of its start, else none: `{}`."""
        block = self._find(index)
        if block is None:
            return _NOTHING
        self._open = {at: other for at, other in self._open.items() if other is not block}
        if block.type != "tool_use" or any(block.added.get("partial_json", ())):
            return _NOTHING
        whole = block.start.get("input")
        value = whole if isinstance(whole, dict) else {}
        return [ToolDelta(block.number, "", "", "", block.position, value)]

    def carry(self) -> list[Any]:
        """Return the blocks to send back unchanged; nothing where text alone says the same, or where a block
        could not be kept exactly as it came.
        """
        if self._unknown:
            return []
        try:
            wholes = [(block.type, block.whole()) for block in self._all]
        except (ValueError, RecursionError, TypeError):
            return []
        # The API takes back neither empty text nor thinking that nobody signed (compatible servers sign none).
        blocks = [whole for kind, whole in wholes if whole.get(_NEEDED.get(kind, "type"))]
        if all(block["type"] == "text" for block in blocks) or not is_storable_value(blocks):
            return []
        return blocks

    def _find(self, index: int | None) -> Block | None:
        if index is None:
            return next(reversed(self._open.values()), None)
        return self._open.get(index)


_NEEDED = {"text": "text", "thinking": "signature"}


def _text(start: dict[str, Any], field: str) -> str:
    value = start.get(field)
    return value if isinstance(value, str) else ""
