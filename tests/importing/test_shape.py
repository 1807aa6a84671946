"""Loose values become checked ones."""

from datetime import UTC, datetime

import pytest

from chat.importing.shape import NotReadable, Said, in_order, title_of

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "title"), [("  a \n b ", "a b"), (None, ""), ("\u200b", ""), ("x" * 130, "x" * 119 + "…")]
)
def test_title_of(value: object, title: str) -> None:
    assert title_of(value) == title


def test_parents_come_before_their_children() -> None:
    rows = [
        Said(key, parent, True, key, NOW) for key, parent in (("c", "b"), ("b", "a"), ("a", None), ("d", "a"))
    ]
    assert [row.key for row in in_order(rows)] == ["a", "b", "c", "d"]


def test_too_many_messages_are_refused() -> None:
    with pytest.raises(NotReadable, match="too_many_messages"):
        in_order([Said(str(n), None, True, "x", NOW) for n in range(20_001)])
