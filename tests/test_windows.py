"""Which turns stand on a page, for each thing that may be asked; never a mixture of two branches."""

import datetime as dt
from uuid import UUID

import pytest

from chat.tree import Node, Outline
from chat.windows import ALL, LAST, How, Wanted, turns_of, window

NOW = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


def key(name: int) -> UUID:
    return UUID(int=name)


def node(name: int, parent: int | None, kind: str = "user") -> Node:
    return Node(key(name), key(parent) if parent else None, kind, 0, None, NOW)


# Ten turns: questions 1, 3, … 19, each with its answer; and another branch after answer 4: question 105 with answer 106.
CHAIN = [node(n, n - 1 or None, "user" if n % 2 else "answer") for n in range(1, 21)]
OUTLINE = Outline([*CHAIN, node(105, 4), node(106, 105, "answer")])
HEAD = key(20)


def asked(how: How, message: int | None = None, head: UUID | None = HEAD) -> tuple[object, ...] | None:
    """First and last question, what it follows on, where it goes on, and whether the branch ends there."""
    found = window(OUTLINE, head, Wanted(how, key(message) if message else None), size=3)
    if found is None:
        return None
    numbers = [turn[0].pk.int for turn in found.turns]
    ids = [each.int if each else None for each in (found.follows, found.earlier, found.later)]
    return numbers, *ids, found.is_end


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (("last",), ([15, 17, 19], 13, 15, None, True)),
        (("before", 15), ([9, 11, 13], 7, 9, 13, False)),
        (("before", 5), ([1, 3], None, None, 3, False)),
        (("before", 1), ([], None, None, None, False)),
        (("after", 3), ([5, 7, 9], 3, 5, 9, False)),
        (("after", 17), ([19], 17, 19, None, True)),
        (("after", 19), ([], 19, None, None, True)),
        (("at", 9), ([7, 9, 11], 5, 7, 11, False)),
        (("at", 10), ([7, 9, 11], 5, 7, 11, False)),  # a reply is found in its turn
        (("at", 1), ([1, 3, 5], None, None, 5, False)),
        (("at", 20), ([15, 17, 19], 13, 15, None, True)),
        (("from", 13), ([15, 17, 19], 13, 15, None, True)),
        (("from",), ([1, 3, 5, 7, 9, 11, 13, 15, 17, 19], None, None, None, True)),
        (("from", 19), None),
        (("only", 7), ([7], 5, 7, 7, False)),
        (("only", 19), ([19], 17, 19, None, True)),
    ],
)
def test_what_is_asked_for_is_what_is_shown(
    wanted: tuple[How, int], found: tuple[object, ...] | None
) -> None:
    assert asked(*wanted) == found


@pytest.mark.parametrize("how", ["after", "at", "from", "only"])
def test_what_is_not_on_the_branch_gives_nothing(how: How) -> None:
    """Of another branch, or of another conversation: the page shows its end instead, or asks anew."""
    assert asked(how, 105) is None
    assert asked(how, 999) is None
    assert asked(how, 3, head=None) is None


def test_what_stands_before_a_message_is_the_same_on_every_branch() -> None:
    """Another tab may have gone to another branch since: what is put in above fits what stands below."""
    assert asked("before", 105) == ([1, 3], None, None, 3, False)
    assert asked("before", 15, head=key(106)) == ([9, 11, 13], 7, 9, 13, False)
    assert asked("before", 999) is None
    assert asked("before", 4) is None  # a reply begins no turn
    assert asked("before") is None


def test_a_page_that_shows_much_is_given_again_within_a_bound() -> None:
    found = window(OUTLINE, HEAD, Wanted("from"), size=1)
    assert found is not None
    assert (len(found.turns), found.is_end) == (10, True)
    long = Outline([node(n, n - 1 or None) for n in range(1, 40)])
    found = window(long, key(39), Wanted("from", key(2)), size=2)
    assert found is not None
    assert (len(found.turns), found.earlier, found.later) == (20, key(3), key(22))


def test_the_whole_branch_and_an_empty_one() -> None:
    found = window(OUTLINE, key(106), ALL, size=3)
    assert found is not None
    assert [each.pk.int for each in found.nodes] == [1, 2, 3, 4, 105, 106]
    empty = window(Outline([]), None, LAST, size=3)
    assert empty is not None
    assert (empty.turns, empty.earlier, empty.later, empty.is_end) == ([], None, None, True)


def test_a_turn_is_a_question_with_its_reply() -> None:
    """A question that was given up stands alone; what was imported without a question has no turn."""
    path = [node(1, None, "answer"), node(2, 1), node(3, 2), node(4, 3, "edited")]
    assert [[each.pk.int for each in turn] for turn in turns_of(path)] == [[2], [3, 4]]
