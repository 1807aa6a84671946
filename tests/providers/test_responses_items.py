"""Which item an event means. How that shows in what is heard: test_responses_reader.py."""

from __future__ import annotations

from chat.providers.responses_items import Call, Items
from chat.streaming.deltas import PartKind


def test_an_index_finds_its_item_and_gives_it_its_place() -> None:
    """Gaps are normal; the place is the index where there is one, else the order of arrival."""
    items = Items()
    late, early, bare = items.announce(7, "a"), items.announce(2, "b"), items.announce(None, "c")
    assert [items.get(7, "?"), items.get(2, None), items.get(None, "c")] == [late, early, bare]
    assert [item.position for item in (late, early, bare)] == [7, 2, 2]
    assert items.in_order() == [early, bare, late]


def test_a_shared_index_is_recognised_by_a_second_announcement() -> None:
    """From then on ids decide; an id that nobody knows means the newest."""
    items = Items()
    first = items.announce(0, "a")
    assert items.announce(0, "a") is first
    second = items.announce(0, "b")
    assert second is not first
    assert [items.get(0, "a"), items.get(0, "b"), items.get(0, "?"), items.get(0, None)] == [
        first,
        second,
        second,
        second,
    ]
    assert [item.position for item in (first, second)] == [0, 1]


def test_ids_alone_and_nothing_at_all() -> None:
    """Without any name an event means the item that began last; without any item it begins one."""
    items = Items()
    only = items.get(None, None)
    assert items.get(None, None) is only
    named = items.announce(None, "a")
    assert [items.get(None, None), items.get(None, "a"), items.get(None, "")] == [named, named, named]
    assert items.announce(None, "a") is named
    assert items.get(None, "b") is not named


def test_texts_stay_apart_by_letter_and_index() -> None:
    """And their keys by item too."""
    items = Items()
    first, second = items.get(0, None), items.get(1, None)
    pieces = [
        first.piece(PartKind.answer, "t", 0),
        first.piece(PartKind.answer, "t", 1),
        first.piece(PartKind.refusal, "f", 0),
        second.piece(PartKind.answer, "t", 0),
    ]
    assert first.piece(PartKind.answer, "t", 1) is pieces[1]
    assert len({piece.key for piece in pieces}) == 4
    pieces[0].texts += ["a", "b"]
    pieces[1].texts += ["c"]
    pieces[2].texts += ["d"]
    assert (first.text("t"), first.text("f"), second.text("t"), pieces[0].texts) == ("abc", "d", "", ["ab"])


def test_the_arguments_of_a_call_are_kept_joined() -> None:
    """Asking often costs nothing."""
    call = Call()
    call.texts += ["{", "}"]
    assert (call.arguments, call.texts) == ("{}", ["{}"])
