"""What a wire says has grown: values, the same for every provider.

Takes nothing; gives the delta types, the usage and the rule for text that a database can store. Does not know
how a provider spells them.
"""

from __future__ import annotations

import math
import re
from enum import StrEnum
from typing import Any

import msgspec

Key = int | str


class PartKind(StrEnum):
    """The kinds of part that a reply is made of."""

    answer = "answer"
    reasoning = "reasoning"
    refusal = "refusal"
    tool_arguments = "tool_arguments"


class TextDelta(msgspec.Struct, frozen=True, gc=False):
    """New text of one answer, reasoning or refusal part; `key` is the provider's own name for that part."""

    kind: PartKind
    key: Key
    text: str


class ToolDelta(msgspec.Struct, frozen=True):
    """A fragment of one tool call; id and name come once, or empty; `position` is its place among the calls.

    `arguments` is None where the provider sends no text but objects. `value` is then the whole object, or
    what the provider says that an empty text means; None while it is not whole. `replaces`: the text is all
    of it, whatever came before.
    """

    key: Key
    call_id: str
    name: str
    arguments: str | None
    position: int = 0
    value: Any = None
    replaces: bool = False


Delta = TextDelta | ToolDelta


class Usage(msgspec.Struct, frozen=True, gc=False):
    """Tokens as the provider counted them; what it did not say is None."""

    input: int | None
    output: int | None
    reasoning: int | None = None
    cached_input: int | None = None


# PostgreSQL cannot store U+0000, and no encoder can write a lone surrogate. JSON escapes can carry both.
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def storable(text: str) -> str:
    """Return the text with surrogate pairs joined, and each lone surrogate and each NUL replaced by U+FFFD."""
    if _UNSTORABLE.search(text) is None:
        return text
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return joined.replace("\0", "\ufffd")


def paired(text: str) -> str:
    """Return the text with the halves of surrogate pairs joined; lone halves and NUL stay as they are."""
    if is_storable(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def is_storable(text: str) -> bool:
    """Say whether the text can be stored as it is; cheap for what is nearly always the case."""
    if text.isascii():
        return "\0" not in text
    return _UNSTORABLE.search(text) is None


DEEPEST = 100
"""How deeply nested a value may be that is stored and sent back; no schema of any provider comes near."""


def is_storable_value(value: Any, depth: int = DEEPEST) -> bool:
    """Say whether JSON, a database and a recursive reader can take the whole value as it is."""
    if isinstance(value, str):
        return is_storable(value)
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, list):
        return depth > 0 and all(is_storable_value(item, depth - 1) for item in value)
    if isinstance(value, dict):
        return depth > 0 and all(
            is_storable(key) and is_storable_value(item, depth - 1) for key, item in value.items()
        )
    return True
