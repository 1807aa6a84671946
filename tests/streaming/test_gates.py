"""Nothing is seen before its gate lets it through, and nothing after a check has said no."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.streaming.errors import FeedAfterClose, UnknownGate
from chat.streaming.gates import GATES, SIZED, Gate, make, spell

NAMES = sorted(GATES)


def walk(gate: Gate, *pieces: str) -> tuple[list[list[str]], list[str], str | None]:
    """What each piece releases, what the end releases, and the broken rule."""
    return [gate.feed(piece) for piece in pieces], gate.close(), gate.blocked


def no_x(text: str) -> str | None:
    """A rule."""
    return "no x" if "x" in text else None


@pytest.mark.parametrize(
    ("name", "walked"),
    [
        ("immediate", ([["One"], [". Two"], [". Th"], ["ree"]], [], None)),
        ("sentence", ([[], ["One. "], ["Two. "], []], ["Three"], None)),
        ("window", ([[], ["One. "], ["Two. "], ["Three"]], [], None)),
        ("hold_first", ([[], ["One. Two"], [". Th"], ["ree"]], [], None)),
        ("whole", ([[], [], [], []], ["One. Two. Three"], None)),
    ],
)
def test_when_text_may_be_seen(name: str, walked: object) -> None:
    """The five gates on one text, size 5."""
    gate = GATES[name](5)
    assert walk(gate, "One", ". Two", ". Th", "ree") == walked


@pytest.mark.parametrize(
    ("name", "walked"),
    [
        ("immediate", ([["Fine. "], ["Bad x. "], ["Fine."]], [], None)),
        ("sentence", ([[], ["Fine. "], []], [], "no x")),
        ("window", ([["Fine"], [". Ba"], []], [], "no x")),
        ("hold_first", ([["Fine. "], ["Bad x. "], ["Fine."]], [], None)),
        ("whole", ([[], [], []], [], "no x")),
    ],
)
def test_a_check_that_says_no_ends_all_release(name: str, walked: object) -> None:
    """What was shown stays; what comes later never shows, not even at the end."""
    assert walk(GATES[name](4, no_x), "Fine. ", "Bad x. ", "Fine.") == walked


def test_the_held_back_beginning_is_checked_once() -> None:
    """Also when the text ends before it is as long as that."""
    seen: list[str] = []

    def check(text: str) -> None:
        seen.append(text)

    assert walk(GATES["hold_first"](10, check), "short") == ([[]], ["short"], None)
    assert walk(GATES["hold_first"](3, check), "ab", "cd", "ef") == ([[], ["abcd"], ["ef"]], [], None)
    assert walk(GATES["hold_first"](10, no_x), "x") == ([[]], [], "no x")
    assert seen == ["short", "abcd"]


def test_a_window_is_checked_with_the_one_before() -> None:
    """What stands across the border of two windows must not slip through."""

    def no_secret(text: str) -> str | None:
        return "secret" if "secret" in text else None

    assert walk(GATES["window"](5, no_secret), "my secret.") == ([["my se"]], [], "secret")


@pytest.mark.parametrize("name", NAMES)
@settings(deadline=None)
@given(pieces=st.lists(st.text("ab. \n", max_size=9)), n=st.integers(1, 12))
def test_no_text_is_lost_or_changed(name: str, pieces: list[str], n: int) -> None:
    """A gate only waits: in order, whole, never ahead of what came."""
    gate = GATES[name](n)
    released, text = "", ""
    for piece in pieces:
        text += piece
        released += "".join(gate.feed(piece))
        assert text.startswith(released)
    assert released + "".join(gate.close()) == text


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_taken_after_close(name: str) -> None:
    """A caller that goes on is wrong, and must see it."""
    gate = GATES[name]()
    assert gate.close() == []
    with pytest.raises(FeedAfterClose):
        gate.feed("x")


def test_a_sentence_is_checked_with_the_one_before() -> None:
    """ "Take aspirin. Two tablets." says more than either half."""

    def no_dose(text: str) -> str | None:
        return "dose" if "aspirin" in text and "tablets" in text else None

    pieces = ("Take aspirin. ", "Two tablets. ", "Rest.")
    assert walk(GATES["sentence"](check=no_dose), *pieces) == ([[], ["Take aspirin. "], []], [], "dose")


@pytest.mark.parametrize("name", NAMES)
def test_a_gate_is_made_by_its_name(name: str) -> None:
    """The words of a row: with a size where that counts, and none where it does not."""
    assert type(make(spell(name))) is type(GATES[name]())
    assert spell(name, 40) == (f"{name} 40" if name in SIZED else name)


@pytest.mark.parametrize(
    "spelled",
    ["", "ajar", "whole 5", "window 0", "window -1", "window 100001", "window x", "window 1 2", " whole"],
)
def test_a_gate_that_there_is_not_is_told(spelled: str) -> None:
    with pytest.raises(UnknownGate, match="expected one of immediate, "):
        make(spelled)


def test_a_size_is_taken_at_its_word() -> None:
    assert walk(make("window 4"), "abcdef") == ([["abcd"]], ["ef"], None)
    assert walk(make("hold_first 3"), "ab", "c", "d") == ([[], ["abc"], ["d"]], [], None)
