"""Which stretch of a branch a page shows: the end of it, or what stands before, after or around a message.

Takes the outline of a conversation's tree and what was asked for; gives the places (no texts) of whole turns and what lies
on either side. Knows no query and no request. A place that is not on the branch gives nothing, never a mixture of two.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple
from uuid import UUID

from chat.tree import Node, Outline

How = Literal["last", "all", "before", "after", "at", "from", "only"]
MOST_AGAIN = 10
"""How many windows a page that already shows much may be given again at once (`from`)."""


class Wanted(NamedTuple):
    """`last`: the end of the branch; `all` of it; `before`, `after` and `at` a message; `from`: all that follows on a turn,
    for a page that shows as much; `only`: the turn of a message alone. Without a message `from` is from the beginning."""

    how: How = "last"
    message: UUID | None = None


LAST = Wanted()
ALL = Wanted("all")


class Window(NamedTuple):
    """Whole turns, oldest first. `follows` is the message of the turn before the first one; `is_end` says that the branch
    ends here."""

    turns: list[list[Node]]
    follows: UUID | None = None
    is_end: bool = True

    @property
    def nodes(self) -> list[Node]:
        return [node for turn in self.turns for node in turn]

    @property
    def earlier(self) -> UUID | None:
        """Before which message the page goes on backwards; None at the beginning."""
        return self.turns[0][0].pk if self.turns and self.follows is not None else None

    @property
    def later(self) -> UUID | None:
        """After which message it goes on; None at the end."""
        return None if self.is_end or not self.turns else self.turns[-1][0].pk


def turns_of(path: Sequence[Node]) -> list[list[Node]]:
    """A branch by its turns: each a person's message and the reply to it, where there is one."""
    turns: list[list[Node]] = []
    for node in path:
        if node.is_question:
            turns.append([node])
        elif turns:
            turns[-1].append(node)
    return turns


def window(outline: Outline, head: UUID | None, wanted: Wanted, *, size: int) -> Window | None:
    """The stretch of at most `size` turns of the branch that ends in `head`; None where `wanted.message` is not on it.

    What stands before a message is the same on every branch that it is on, so `before` asks for no active one."""
    if wanted.how == "before":
        at = outline.nodes.get(wanted.message) if wanted.message else None
        if at is None or not at.is_question:
            return None
        turns = turns_of(outline.path(at.parent))
        return _cut(turns, max(0, len(turns) - size), len(turns), is_last=False)
    turns = turns_of(outline.path(head))
    end = len(turns)
    if wanted.how == "all":
        return _cut(turns, 0, end)
    if wanted.how == "last":
        return _cut(turns, max(0, end - size), end)
    place = -1 if wanted.message is None and wanted.how == "from" else _place(turns, wanted.message)
    if place is None:
        return None
    if wanted.how == "only":
        return _cut(turns, place, place + 1)
    if wanted.how == "from":
        most = min(end, place + 1 + size * MOST_AGAIN)
        return _cut(turns, place + 1, most) if place + 1 < end else None
    if wanted.how == "after":
        return _cut(turns, place + 1, min(end, place + 1 + size))
    start = max(0, min(place - size // 2, end - size))
    return _cut(turns, start, min(end, start + size))


def _cut(turns: list[list[Node]], start: int, end: int, *, is_last: bool = True) -> Window:
    follows = turns[start - 1][0].pk if start else None
    return Window(turns[start:end], follows, is_last and end == len(turns))


def _place(turns: list[list[Node]], message: UUID | None) -> int | None:
    """In which turn a question or a reply stands."""
    return next((at for at, turn in enumerate(turns) if any(node.pk == message for node in turn)), None)
