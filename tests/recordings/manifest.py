"""What the rows of the manifest mean for one wire: the type of the `MANIFEST` of each `expected_*.py`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Row = dict[str, str]
Ended = tuple[str, str | None, str | None]
Call = tuple[str, str | None, Any, bool]


@dataclass(frozen=True)
class Manifest:
    """`body`: recorded data lines -> the body that they came in. `outcome`: outcome, reason, provider's reason.
    `calls`: pairs of name and argument text, and whether they were requested -> name, text, arguments, complete.
    `usage`: the provider's own -> ours.
    """

    body: Callable[[list[bytes]], bytes]
    outcome: Callable[[Row], Ended]
    calls: Callable[[list[list[str]], bool], list[Call]]
    usage: Callable[[dict[str, Any]], dict[str, int | None] | None]
