"""The parts of one of Google's replies as they must be sent back.

Takes parts in order; gives them whole: pieces of unsigned text joined, streamed calls put together. Does not know what
a part says.
"""

from __future__ import annotations

from typing import Any

from chat.streaming.deltas import ToolDelta, is_storable_value, paired

_STREAMED = {"partialArgs", "willContinue"}


class ReplyParts:
    """Keeps the parts of one reply. Signed parts are never joined with others: the API forbids it."""

    def __init__(self) -> None:
        self._parts: list[dict[str, Any]] = []
        self._texts: list[str] = []  # of the last part, while it is text that nobody signed
        self._kind: bool | None = None  # whether that text is a thought
        self._calls: dict[int | str, dict[str, Any]] = {}
        self._needed = False

    def add(self, part: dict[str, Any]) -> str:
        """Take a part that is no call; return its text, "" if it has none."""
        text = part.get("text")
        if not isinstance(text, str) or len(part) > 1 + ("thought" in part):
            self._append(part)
            self._needed = True
            return text if isinstance(text, str) else ""
        self.add_text(text, part.get("thought"))
        return text

    def add_text(self, text: str, thought: Any) -> None:
        """Take a part that is text alone."""
        kind = thought is True
        if kind is not self._kind:
            self._append({"text": text} if thought is None else {"text": text, "thought": thought})
            self._kind = kind
        self._texts.append(text)

    def add_call(self, part: dict[str, Any], delta: ToolDelta) -> None:
        """Take a part of a call; all parts of one call become one, which stands where the first stood."""
        kept = self._calls.get(delta.key)
        if kept is None:
            call = {name: value for name, value in part["functionCall"].items() if name not in _STREAMED}
            kept = self._calls[delta.key] = part | {"functionCall": call}
            self._append(kept)
            self._needed = True
            if delta.value is not None and part["functionCall"].keys().isdisjoint(_STREAMED):
                return
        for name, value in part.items():
            kept.setdefault(name, value)
        if delta.value is not None:
            kept["functionCall"]["args"] = delta.value

    def carry(self) -> list[Any]:
        """Return the parts; nothing where text alone says the same, or where they cannot be kept as they came."""
        self._end_text()
        return self._parts if self._needed and is_storable_value(self._parts) else []

    def _append(self, part: dict[str, Any]) -> None:
        self._end_text()
        self._parts.append(part)

    def _end_text(self) -> None:
        if self._kind is not None:
            self._parts[-1] = self._parts[-1] | {"text": paired("".join(self._texts))}
            self._kind = None
            self._texts = []
