"""An append-only draft whose paints can be given again from any number."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.streaming.draft import LANES, PAINT_CHARS, Draft
from chat.streaming.frames import Paint, Snapshot


def test_each_paint_is_one_append_to_one_lane() -> None:
    """Numbers run without gaps; what is not painted is nowhere."""
    draft = Draft(3)
    draft.append("reasoning", "so ")
    draft.append("reasoning", "what")
    draft.append("answer", "")
    draft.append("answer", "Hi")
    draft.append("reasoning", "!")
    assert (draft.seq, draft.text("reasoning"), draft.is_pending) == (0, "", True)
    assert draft.paint() == [
        Paint(3, 1, "so what", "reasoning"),
        Paint(3, 2, "Hi"),
        Paint(3, 3, "!", "reasoning"),
    ]
    assert (draft.seq, draft.is_pending, draft.paint()) == (3, False, [])
    assert draft.snapshot() == Snapshot(3, 3, "Hi", "so what!", "")


def test_paints_of_one_lane_are_joined_when_given_again() -> None:
    """A page that comes late gets few frames, and sees what they follow on."""
    draft = Draft(1)
    for lane, text in [("answer", "a"), ("answer", "b"), ("refusal", "no"), ("answer", "c")]:
        draft.append(lane, text)
        draft.paint()
    assert draft.since(0) == [Paint(1, 2, "ab", "answer", 0), Paint(1, 3, "no", "refusal"), Paint(1, 4, "c")]
    assert [draft.since(1)[0], draft.since(3), draft.since(4), draft.since(9)] == [
        Paint(1, 2, "b"),
        [Paint(1, 4, "c")],
        [],
        [],
    ]


def test_an_unknown_lane_is_a_bug() -> None:
    """Tool arguments, for one, are in no draft."""
    with pytest.raises(KeyError, match="tool_arguments"):
        Draft(1).append("tool_arguments", "{}")


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(LANES), st.text("ab", max_size=3), st.booleans())), st.integers(0, 30)
)
def test_a_page_that_joins_anywhere_ends_with_the_same_text(
    steps: list[tuple[str, str, bool]], joins: int
) -> None:
    """What it had, and all since then, is the draft."""
    draft = Draft(1)
    had = dict.fromkeys(LANES, "")
    for lane, text, paints in steps:
        draft.append(lane, text)
        for paint in draft.paint() if paints else []:
            if paint.seq <= joins:
                had[paint.lane] += paint.text
    for paint in draft.paint():
        if paint.seq <= joins:
            had[paint.lane] += paint.text
    for paint in draft.since(joins):
        had[paint.lane] += paint.text
    assert had == {lane: draft.text(lane) for lane in LANES}
    assert had == {lane: "".join(text for at, text, _ in steps if at == lane) for lane in LANES}


def test_one_giant_text_becomes_many_paints_of_bounded_length() -> None:
    """An event of 3 MB must not become a frame of 3 MB, neither live nor when it is read again."""
    draft = Draft(1)
    draft.append("answer", "x" * (2 * PAINT_CHARS + 5))
    draft.append("reasoning", "y")
    painted = draft.paint()
    assert [(paint.seq, paint.lane, len(paint.text)) for paint in painted] == [
        (1, "answer", PAINT_CHARS),
        (2, "answer", PAINT_CHARS),
        (3, "answer", 5),
        (4, "reasoning", 1),
    ]
    again = draft.since(0)
    assert [(paint.seq, paint.after, len(paint.text)) for paint in again] == [
        (1, None, PAINT_CHARS),
        (2, None, PAINT_CHARS),
        (3, None, 5),
        (4, None, 1),
    ]
    assert draft.text("answer") == "x" * (2 * PAINT_CHARS + 5)


def test_a_restored_draft_goes_on_with_its_numbers() -> None:
    """After a crash the last checkpoint counts as painted; what was before it can only be told as a whole."""
    draft = Draft.restored(Snapshot(3, 40, "Two", "Think.", ""))
    assert (draft.seq, draft.snapshot()) == (40, Snapshot(3, 40, "Two", "Think.", ""))
    draft.append("answer", " minutes")
    assert draft.paint() == [Paint(3, 41, " minutes")]
    draft.append("answer", ".")
    draft.paint()
    assert draft.since(40) == [Paint(3, 42, " minutes.", "answer", 40)]
    assert draft.since(41) == [Paint(3, 42, ".")]
    assert [draft.covers(seq) for seq in (0, 39, 40, 42, 43)] == [False, False, True, True, False]
