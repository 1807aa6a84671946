"""A transport that shows all so far gives the same as one that shows what is new."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.providers import WIRES
from chat.providers.profiles import profile
from chat.streaming.cumulative import Cumulative
from chat.streaming.draft import Draft
from chat.streaming.errors import FeedAfterClose, RewrittenText
from chat.streaming.frames import Paint, Snapshot
from chat.streaming.pipeline import Pipeline
from chat.streaming.reading import Reading
from tests.recordings.corpus import MANIFESTS, Case, contract_cases, own_cases, streams

HAND_MADE = ("openai_chat", "openai_compat", "openai_responses", "anthropic", "gemini", "gemini_interactions")


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


def frames(case: Case, chunks: Iterable[bytes]) -> tuple[list[Paint], Snapshot, Reading]:
    """What a page is sent, one paint after each piece of the body; what it shows, and what is concluded, in the end."""
    wire = WIRES[case.wire]
    pipeline = Pipeline(wire.reader(profile(case.profile)), framing=wire.framing)
    draft, painted = Draft(1), list[Paint]()
    for chunk in chunks:
        for released in pipeline.feed(chunk):
            draft.append(released.lane, released.text)
        painted += draft.paint()
    for released in pipeline.close("eof"):
        draft.append(released.lane, released.text)
    painted += draft.paint()
    return painted, draft.snapshot(), pipeline.reading()


def pieces(body: bytes) -> list[bytes]:
    """About forty pieces, whose borders lie anywhere: in characters and in JSON."""
    size = max(1, len(body) // 40)
    return [body[at : at + size] for at in range(0, len(body), size)]


def new_of(body: bytes) -> Iterator[bytes]:
    """What is new in the body as a cumulative transport shows it: grown by a piece, and now and then not grown at all."""
    cumulative, so_far = Cumulative(b""), b""
    for number, piece in enumerate(pieces(body)):
        so_far += piece
        yield from cumulative.feed(so_far)
        if number % 3 == 0:
            yield from cumulative.feed(so_far)


def differs(case: Case) -> bool:
    """Whether the transports give other frames, or a page and a reading that are not those of the body in one piece."""
    told = frames(case, new_of(case.body))
    return told != frames(case, pieces(case.body)) or told[1:] != _whole(case)


def _whole(case: Case) -> tuple[Snapshot, Reading]:
    _painted, shown, reading = frames(case, [case.body])
    return msgspec.structs.replace(shown, seq=len(frames(case, pieces(case.body))[0])), reading


BY_HAND = [*contract_cases(*HAND_MADE), *own_cases(*WIRES)]


@pytest.mark.parametrize("case", BY_HAND, ids=str)
def test_both_transports_give_the_same_frames(case: Case) -> None:
    """Of every wire, to the last number and character: whoever is only ever shown all so far misses and repeats nothing."""
    assert not differs(case)


def test_every_wire_is_among_them() -> None:
    assert {case.wire for case in BY_HAND} == set(WIRES)


@pytest.mark.parametrize("kind", MANIFESTS)
def test_both_transports_give_the_same_frames_of_recorded_streams(kind: str) -> None:
    """Real bodies too. (Of Interactions nobody has recorded any: the hand-made ones stand for it.)"""
    assert [str(case) for case in streams(kind) if differs(case)] == []
