"""The first at once, then at most one per interval, the newest; nothing after the end."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.streaming.errors import FeedAfterClose
from chat.streaming.throttle import Throttle


def test_first_at_once_then_the_newest_per_interval() -> None:
    """Whole walk of one draft."""
    throttle: Throttle[str] = Throttle(40)
    assert [
        throttle.feed("a", 10.000),
        throttle.feed("b", 10.001),
        throttle.tick(10.030),
        throttle.feed("c", 10.039),
        throttle.tick(10.041),
        throttle.tick(10.500),
        throttle.feed("d", 10.500),
        throttle.feed("e", 10.501),
        throttle.close(),
        throttle.tick(99.0),
        throttle.clear(99.0),
        throttle.clear(99.0, "f"),
    ] == [["a"], [], [], [], ["c"], [], ["d"], [], [], [], [], []]
    with pytest.raises(FeedAfterClose):
        throttle.feed("g", 100.0)


def test_a_cleared_draft_does_not_wait() -> None:
    """What is pending comes at once, or the value that takes its place; the interval starts again."""
    throttle: Throttle[str] = Throttle(40)
    assert [
        throttle.clear(1.0),
        throttle.feed("a", 1.0),
        throttle.feed("b", 1.01),
        throttle.clear(1.02),
        throttle.feed("c", 1.03),
        throttle.clear(1.031, ""),
        throttle.feed("d", 1.06),
        throttle.tick(1.072),
    ] == [[], ["a"], [], ["b"], [], [""], [], ["d"]]


def test_the_interval_may_stretch() -> None:
    """Under load paints get rarer, not later and later."""
    throttle: Throttle[int] = Throttle(40)
    throttle.feed(1, 0.0)
    throttle.interval_ms = 200
    assert [throttle.feed(2, 0.1), throttle.tick(0.2)] == [[], [2]]


@settings(deadline=None)
@given(st.floats(1, 500), st.lists(st.tuples(st.booleans(), st.floats(0, 0.3)), max_size=40))
def test_never_two_within_an_interval_and_never_an_old_one(
    interval_ms: float, steps: list[tuple[bool, float]]
) -> None:
    """Whatever comes when."""
    throttle: Throttle[int] = Throttle(interval_ms)
    now, shown, fed = 100.0, [], 0
    for feeds, wait in steps:
        now += wait
        fed += feeds
        for value in throttle.feed(fed, now) if feeds else throttle.tick(now):
            assert value == fed
            shown.append((now, value))
    times = [at for at, _ in shown]
    assert all((later - earlier) * 1000 >= interval_ms for earlier, later in pairwise(times))
    assert [value for _, value in shown] == sorted({value for _, value in shown})
