"""Parts are kept apart by kind and key, and every change knows all so far."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.streaming.assembler import Assembler
from chat.streaming.deltas import Delta, Key, PartKind, TextDelta, ToolDelta, storable
from chat.streaming.errors import FeedAfterClose


def answer(text: str, key: Key = 0) -> Delta:
    """New answer text."""
    return TextDelta(PartKind.answer, key, text)


def changes(*deltas: Delta) -> list[tuple[str, Key, str, str]]:
    """Feed and close; each change as (lane, key, delta, all so far)."""
    assembler = Assembler()
    found = [change for delta in deltas for change in assembler.feed(delta)] + assembler.close()
    return [(change.part.lane, change.part.key, change.delta, change.so_far) for change in found]


def test_interleaved_parts_stay_apart() -> None:
    """`so_far` is that of the change, although it is asked for after everything has come."""
    assert changes(
        answer("a"),
        TextDelta(PartKind.reasoning, 0, "r"),
        answer("x", "other"),
        answer("b"),
        answer("y", "other"),
    ) == [
        ("answer", 0, "a", "a"),
        ("reasoning", 0, "r", "r"),
        ("answer", "other", "x", "x"),
        ("answer", 0, "b", "ab"),
        ("answer", "other", "y", "xy"),
    ]


def test_a_tool_call_keeps_its_first_name_and_id() -> None:
    """Some providers repeat them on each fragment; a name is set once, never appended; it may come late."""
    assembler = Assembler()
    for delta in (
        ToolDelta("k", "", "", '{"a'),
        ToolDelta("k", "id-1", "look", '": '),
        ToolDelta("k", "id-2", "up", "1}"),
        ToolDelta("k", "", "", ""),
    ):
        assembler.feed(delta)
    (part,) = assembler.of_kind(PartKind.tool_arguments)
    assert (part.call_id, part.name, part.text, assembler.parts) == ("id-1", "look", '{"a": 1}', [part])


def test_arguments_may_come_as_an_object() -> None:
    """Then there is no text; an empty text beside an object is what a provider says that the text means."""
    assembler = Assembler()
    for delta in (
        ToolDelta(0, "", "f", None),
        ToolDelta(0, "", "", None, value={"a": 1}),
        ToolDelta(1, "", "g", "", 1),
        ToolDelta(1, "", "", None, 1, {}),
        ToolDelta(2, "", "h", None, 2),
    ):
        assembler.feed(delta)
    calls = assembler.of_kind(PartKind.tool_arguments)
    assert [(call.name, call.spoken, call.text, call.value) for call in calls] == [
        ("f", False, "", {"a": 1}),
        ("g", True, "", {}),
        ("h", False, "", None),
    ]


def test_arguments_may_be_said_again_as_a_whole() -> None:
    """The last word replaces the pieces, and what is waiting for its other half."""
    assembler = Assembler()
    assembler.feed(ToolDelta(0, "a", "f", '{"x":1\ud83d'))
    (change,) = assembler.feed(ToolDelta(0, "", "", '{"x":2}', replaces=True))
    assert (change.delta, change.so_far, change.part.text) == ('{"x":2}', '{"x":2}', '{"x":2}')


def test_a_call_without_arguments_is_a_change_and_an_empty_text_is_none() -> None:
    """The name alone already says that a call has begun."""
    assert changes(answer(""), ToolDelta(0, "id", "now", "")) == [("tool_arguments", 0, "", "")]


@pytest.mark.parametrize(
    ("texts", "deltas"),
    [
        (["\ud83d", "\ude00"], ["😀"]),
        (["a\ud83d", "\ude00b"], ["a", "😀b"]),
        (["a\ud83d", "b"], ["a", "\ufffdb"]),
        (["a\ud83d", "\ud83d", "\ude00"], ["a", "\ufffd", "😀"]),
        (["a\ud83d"], ["a", "\ufffd"]),
        (["\ude00"], ["\ufffd"]),
        (["a\0"], ["a\ufffd"]),
    ],
)
def test_halves_of_a_pair_find_each_other(texts: list[str], deltas: list[str]) -> None:
    """A server that cuts its JSON strings by UTF-16 units sends one emoji as two deltas."""
    found = changes(*map(answer, texts))
    assert ([delta for _, _, delta, _ in found], found[-1][3]) == (deltas, "".join(deltas))


def test_halves_in_other_parts_do_not_meet() -> None:
    """Two parts that happen to be neighbours in time share nothing."""
    assert changes(answer("\ud83d", 1), answer("\ude00", 2)) == [
        ("answer", 2, "\ufffd", "\ufffd"),
        ("answer", 1, "\ufffd", "\ufffd"),
    ]


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.text(st.sampled_from("ab\ud83d\ude00é\0"), max_size=4))))
def test_any_deltas_give_storable_text(pieces: list[tuple[int, str]]) -> None:
    """Each part is its own pieces joined, made storable."""
    assembler = Assembler()
    last: dict[Key, str] = {}
    for key, text in pieces:
        for change in assembler.feed(answer(text, key)):
            last[key] = change.so_far
    for change in assembler.close():
        last[change.part.key] = change.so_far
    joined = {key: "".join(text for at, text in pieces if at == key) for key, _ in pieces}
    assert last == {key: storable(text) for key, text in joined.items() if text}


def test_many_small_deltas_cost_no_more_and_more() -> None:
    """Four times the deltas must not cost much more than four times as much."""

    def cost(count: int) -> float:
        assembler = Assembler()
        start = time.process_time()
        for _ in range(count):
            assembler.feed(answer("word "))
        return time.process_time() - start

    cost(1000)
    assert min(cost(200_000) for _ in range(2)) < 12 * max(cost(50_000) for _ in range(2))


def test_nothing_is_taken_after_close() -> None:
    """A caller that goes on is wrong, and must see it."""
    assembler = Assembler()
    assembler.close()
    with pytest.raises(FeedAfterClose):
        assembler.feed(answer("x"))
