"""A transport that shows all so far gives the same as one that shows what is new."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.providers import WIRES, read
from chat.providers.profiles import STRICT
from chat.streaming.cumulative import Cumulative
from chat.streaming.errors import FeedAfterClose, RewrittenText
from chat.streaming.pipeline import Pipeline
from tests.recordings.corpus import Case, own_cases


@settings(deadline=None)
@given(st.lists(st.text(max_size=5)))
def test_only_what_is_new_comes_out(pieces: list[str]) -> None:
    """Joined again, the pieces are the text."""
    cumulative = Cumulative("")
    wholes = ["".join(pieces[: count + 1]) for count in range(len(pieces))]
    got = [new for whole in wholes for new in cumulative.feed(whole)]
    assert (got, cumulative.close()) == ([piece for piece in pieces if piece], [])


@pytest.mark.parametrize("later", ["", "ab", "abX", "xabc"])
def test_text_cannot_be_taken_back(later: str) -> None:
    """What a person has seen is not changed under their eyes."""
    cumulative = Cumulative("")
    assert cumulative.feed("abc") == ["abc"]
    with pytest.raises(RewrittenText, match="the 3 characters shown before"):
        cumulative.feed(later)


def test_the_same_again_is_nothing_new() -> None:
    """A poll that finds nothing new is the ordinary case."""
    cumulative = Cumulative(b"")
    assert [cumulative.feed(b"ab"), cumulative.feed(b"ab"), cumulative.feed(b"abc")] == [[b"ab"], [], [b"c"]]
    cumulative.close()
    with pytest.raises(FeedAfterClose):
        cumulative.feed(b"abcd")


@pytest.mark.parametrize("case", own_cases(), ids=str)
def test_a_whole_body_reads_the_same(case: Case) -> None:
    """Fed through the pipeline, the two transports give one reading."""
    body = case.body
    pipeline = Pipeline(WIRES["openai_chat"].reader(STRICT))
    cumulative = Cumulative(b"")
    for end in range(0, len(body) + 37, 37):
        for new in cumulative.feed(body[:end]):
            pipeline.feed(new)
    pipeline.close("eof")
    assert pipeline.reading() == read("openai_chat", [body])
