"""What an importer reads out of a file: one conversation, checked, ready to be kept.

Takes loose JSON values, gives frozen ones; raises `NotReadable` with a word for the report. Pure: no Django, no files.
"""

import datetime as dt
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from chat.streaming.visible import is_visible

MOST_MESSAGES = 20_000
SOURCE_CHARS = 120
TITLE_CHARS = 120
NAME_CHARS = 200
_LONG_AGO = dt.datetime(1990, 1, 1, tzinfo=dt.UTC)
_FAR_AWAY = dt.datetime(2200, 1, 1, tzinfo=dt.UTC)


class NotReadable(ValueError):
    """This conversation is refused whole; `why` is one of the words of `REFUSALS`."""

    def __init__(self, why: str, detail: str = "") -> None:
        super().__init__(f"{why}: {detail}" if detail else why)
        self.why = why


@dataclass(frozen=True, slots=True)
class File:
    """A file that hung on a message: its name and bytes, not yet believed. In an archive they stand beside it, and are read
    when they are wanted; `fetch` gives None where they are not there, or too many."""

    name: str
    data: bytes = b""
    fetch: Callable[[], bytes | None] | None = None

    def read(self) -> bytes | None:
        return self.data if self.fetch is None else self.fetch()


@dataclass(frozen=True, slots=True)
class Said:
    """One message. `key` and `parent` are the file's own ids."""

    key: str
    parent: str | None
    is_question: bool
    text: str
    created: dt.datetime
    model: str = ""
    files: tuple[File, ...] = ()
    is_edited: bool = False


@dataclass(frozen=True, slots=True)
class Talk:
    """One conversation: parents stand before their children; `left_out` counts what was not taken, by reason."""

    source: str
    title: str
    created: dt.datetime
    updated: dt.datetime
    messages: tuple[Said, ...]
    head: str | None
    is_archived: bool = False
    is_pinned: bool = False
    left_out: Counter[str] = field(default_factory=Counter)


def text_of(value: Any, what: str) -> str:
    """A text that can be kept. Halves of surrogates, which no database takes, become the sign for what cannot be read."""
    if not isinstance(value, str):
        raise NotReadable("wrong_type", f"{what}: expected a text, got {type(value).__name__}")
    if "\x00" in value:
        raise NotReadable("nul", what)
    return (
        value.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if not value.isascii() else value
    )


def object_of(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise NotReadable("wrong_type", f"{what}: expected an object, got {type(value).__name__}")
    return value


def list_of(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise NotReadable("wrong_type", f"{what}: expected a list, got {type(value).__name__}")
    return value


def title_of(value: Any) -> str:
    """One line of it, shortened; "" where it shows nothing."""
    line = " ".join(text_of(value, "title").split()) if value is not None else ""
    if not is_visible(line):
        return ""
    return line if len(line) <= TITLE_CHARS else line[: TITLE_CHARS - 1] + "…"


def time_of(value: Any, otherwise: dt.datetime) -> dt.datetime:
    """Seconds since 1970 or an ISO time; what is neither, or is no time of this era, is `otherwise`."""
    at = None
    if isinstance(value, int | float) and not isinstance(value, bool):
        if _LONG_AGO.timestamp() < value < _FAR_AWAY.timestamp():
            at = dt.datetime.fromtimestamp(value, dt.UTC)
    elif isinstance(value, str) and len(value) < 64:
        try:
            at = dt.datetime.fromisoformat(value)
        except ValueError:
            return otherwise
        at = at if at.tzinfo else at.replace(tzinfo=dt.UTC)
    return at if at is not None and _LONG_AGO < at < _FAR_AWAY else otherwise


def in_order(messages: list[Said]) -> tuple[Said, ...]:
    """Parents before children, else as they came. Raises `NotReadable`: an id twice, a parent that is not there, a ring."""
    if len(messages) > MOST_MESSAGES:
        raise NotReadable("too_many_messages", str(len(messages)))
    known = {each.key: each for each in messages}
    if len(known) != len(messages):
        raise NotReadable("id_twice")
    children: dict[str | None, list[Said]] = {}
    for each in messages:
        if each.parent is not None and each.parent not in known:
            raise NotReadable("parent_missing", each.parent[:80])
        children.setdefault(each.parent, []).append(each)
    ordered: list[Said] = []
    waiting = children.get(None, [])[::-1]
    while waiting:
        each = waiting.pop()
        ordered.append(each)
        waiting.extend(reversed(children.get(each.key, [])))
    if len(ordered) != len(messages):
        raise NotReadable("ring")
    return tuple(ordered)
