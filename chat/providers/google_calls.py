"""Google's function calls: parts -> tool deltas, whether a call comes whole or as paths into its arguments.

Takes `functionCall` objects in order; gives one delta each and says whether every call was finished. Calls without an
id of the provider's get one of ours. Does not know what else a stream holds.
"""

from __future__ import annotations

import re
from typing import Any

from chat.streaming.deltas import ToolDelta

LOCAL_ID = "local-"
"""How an id of ours begins; it means something only inside one reply."""

_STEP = re.compile(r"\.([A-Za-z_$][\w$-]*)|\[(\d{1,6})\]|\[\"([^\"\\]*)\"\]|\['([^'\\]*)'\]")

_VALUES = ("numberValue", "boolValue", "nullValue")

Path = tuple[str | int, ...]


class _Call:
    """One call that is still growing."""

    def __init__(self, number: int, call_id: str) -> None:
        self.number = number
        self.call_id = call_id
        self.arguments: dict[str, Any] = {}
        self.open_path: Path | None = None  # the string that the next piece continues
        self.broken = False  # whether a piece could not be placed: such a call never becomes whole


class FunctionCalls:
    """Keeps the calls of one reply."""

    def __init__(self) -> None:
        self._count = 0
        self._growing: list[_Call] = []
        self._lost_one = False  # whether a call ended whose pieces could not be put together

    @property
    def any(self) -> bool:
        """Whether there is any call."""
        return self._count > 0

    @property
    def whole(self) -> bool:
        """Whether every call was finished, and its arguments could be put together."""
        return not self._growing and not self._lost_one

    def read(self, told: dict[str, Any]) -> ToolDelta:
        """Return what this part says of its call: the whole of it, its beginning, or that it goes on."""
        given_id, name = _text(told.get("id")), _text(told.get("name"))
        call = self._find(given_id, name)
        partial = told.get("partialArgs")
        for piece in partial if isinstance(partial, list) else ():
            _place(call, piece)
        value = None
        if told.get("willContinue") is not True:
            self._growing.remove(call)
            value = told.get("args")
            if value is None and not call.broken:
                value = call.arguments
            self._lost_one = self._lost_one or value is None
        return ToolDelta(call.number, call.call_id, name, None, call.number, value)

    def _find(self, given_id: str, name: str) -> _Call:
        for call in reversed(self._growing):
            # A name opens a call, unless the id says that it is the one that was open.
            if call.call_id == given_id if given_id else not name:
                return call
        call = _Call(self._count, given_id or f"{LOCAL_ID}{self._count + 1}")
        self._count += 1
        self._growing.append(call)
        return call


def _place(call: _Call, piece: Any) -> None:
    """Put one piece where its path says; what does not fit breaks the call, and is never guessed at."""
    path = _path(piece.get("jsonPath")) if isinstance(piece, dict) else None
    if path is None:
        call.broken = True
        return
    text = piece.get("stringValue")
    if isinstance(text, str):
        goes_on = call.open_path == path
        call.open_path = path if piece.get("willContinue") is True else None
        fits = _put(call.arguments, path, text, appending=goes_on)
    else:
        names = [name for name in _VALUES if name in piece]
        value = piece[names[0]] if names and names[0] != "nullValue" else None
        call.open_path = None
        fits = bool(names) and _put(call.arguments, path, value, appending=False)
    call.broken = call.broken or not fits


def _path(text: Any) -> Path | None:
    """Read the JSON paths that this API writes: `$.operations[0].action`."""
    if not isinstance(text, str) or not text.startswith("$"):
        return None
    steps: list[str | int] = []
    at = 1
    while at < len(text):
        found = _STEP.match(text, at)
        if found is None:
            return None
        plain, index, *quoted = found.groups()
        steps.append(int(index) if index is not None else next(s for s in (plain, *quoted) if s is not None))
        at = found.end()
    return tuple(steps) or None


def _put(root: dict[str, Any], path: Path, value: Any, *, appending: bool) -> bool:
    """Set a value, making objects and lists on the way; lists grow by one. Say whether it fitted."""
    at: Any = root
    for step, following in zip(path, [*path[1:], None], strict=True):
        if isinstance(step, int):
            if not isinstance(at, list) or step > len(at):
                return False
            if step == len(at):
                at.append(_empty(following))
        elif not isinstance(at, dict):
            return False
        elif step not in at:
            at[step] = _empty(following)
        if following is None:
            at[step] = at[step] + value if appending and isinstance(at[step], str) else value
        else:
            at = at[step]
    return True


def _empty(following: str | int | None) -> Any:
    if following is None:
        return ""
    return [] if isinstance(following, int) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
