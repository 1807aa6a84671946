"""Events by the letter of the standard, for every cut, within a bounded memory."""

from __future__ import annotations

import re
import time
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from chat.streaming.errors import EventTooLarge, FeedAfterClose
from chat.streaming.sse import Event, SseReader, size_bytes

State = tuple[list[Event], str, int | None]


def read(*pieces: str, limit: int = 1000) -> State:
    """Read pieces to the end."""
    reader = SseReader(limit)
    events = [event for piece in pieces for event in reader.feed(piece)]
    return events + reader.close(), reader.last_event_id, reader.retry


def message(data: str, last_event_id: str = "", type_: str = "message") -> Event:
    """One event."""
    return Event(type_, data, last_event_id)


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("data: a\n\n", ([message("a")], "", None)),
        ("data:a\r\r", ([message("a")], "", None)),
        ("data: a\r\n\r\n", ([message("a")], "", None)),
        ("data:  a\n\n", ([message(" a")], "", None)),
        ("data\n\n", ([message("")], "", None)),
        ("data:\n\n", ([message("")], "", None)),
        ("data\ndata\n\n", ([message("\n")], "", None)),
        ("data: a\ndata\ndata: b\n\n", ([message("a\n\nb")], "", None)),
        ("event: x\ndata: a\n\ndata: b\n\n", ([message("a", type_="x"), message("b")], "", None)),
        ("event: x\n\ndata: b\n\n", ([message("b")], "", None)),
        ("event:\ndata: b\n\n", ([message("b")], "", None)),
        ("id: 1\n\n", ([], "1", None)),
        ("id: 1\n\ndata: a\n\n", ([message("a", "1")], "1", None)),
        ("id: 1\ndata: a\n\nid\n\n", ([message("a", "1")], "", None)),
        ("id: 1\ndata: a\n\nid: 2\0\ndata: b\n\n", ([message("a", "1"), message("b", "1")], "1", None)),
        ("id: 9\n", ([], "", None)),
        ("retry: 250\n", ([], "", 250)),
        ("retry:\nretry: -1\nretry: 1.5\nretry: ２５\nretry: 9999999999999999\n\n", ([], "", None)),
        (": c\n:\n::\n\n", ([], "", None)),
        (": c\ndata: a\n:keep\ndata: b\n\n", ([message("a\nb")], "", None)),
        ("Data: a\nfoo: b\n data: c\nerror: {}\n\n", ([], "", None)),
        ("data: a", ([], "", None)),
        ("data: a\n", ([], "", None)),
        ("data: a\n\r", ([message("a")], "", None)),
        ("\n\n\ndata: a\n\n\n\n\ndata: b\n\n", ([message("a"), message("b")], "", None)),
        (
            "data: a\u2028b\u2029c\x85d\x0be\x0cf\x1cg\n\n",
            ([message("a\u2028b\u2029c\x85d\x0be\x0cf\x1cg")], "", None),
        ),
        ("data: {'a': 'b: c'}\n\n", ([message("{'a': 'b: c'}")], "", None)),
        ("data: \ufeffx\n\n", ([message("\ufeffx")], "", None)),
    ],
)
def test_the_standard(text: str, state: State) -> None:
    """Each line of the standard, whole and letter by letter."""
    assert (read(text), read(*text)) == (state, state)


# A second reading of the standard, slow and plain: the oracle for what the fast one must give.
def plain(text: str) -> State:
    """Read by the standard's own steps, the whole text at once."""
    lines = re.split(r"\r\n|\n|\r", text)[:-1]
    events, data, type_, id_, last, retry = [], None, "", "", "", None
    for line in lines:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if line == "":
            last = id_
            if data is not None:
                events.append(Event(type_ or "message", data[:-1], last))
            data, type_ = None, ""
        elif name == "event":
            type_ = value
        elif name == "data":
            data = (data or "") + value + "\n"
        elif name == "id" and "\0" not in value:
            id_ = value
        elif name == "retry" and re.fullmatch("[0-9]{1,15}", value):
            retry = int(value)
    return events, last, retry


LETTERS = st.sampled_from(
    [
        "\n",
        "\r",
        "\r\n",
        "data:",
        "data: ",
        "event:",
        "id:",
        "retry: 5",
        ":",
        " ",
        "x",
        "é",
        "😀",
        "\u2028",
        "\0",
        "data",
        "event: x\ndata: y\n\n",
        "event: x\r\ndata: y\r\n\r\n",
        "event: x\rdata: y\r\r",
    ]
)


@settings(deadline=None)
@given(st.lists(LETTERS), st.lists(st.integers(0, 40)))
@example(["data:", "x", "\r", "\n", "\r", "\n"], [4, 5])
@example(["event: x\ndata: y\n\n", "event: x\r\ndata: y\r\n\r\n"], [])
def test_every_cut_gives_what_the_standard_says(letters: list[str], cuts: list[int]) -> None:
    """Whatever the text is, and wherever it is cut."""
    text = "".join(letters)
    edges = [0, *sorted(cut for cut in cuts if cut <= len(text)), len(text)]
    pieces = [text[start:end] for start, end in pairwise(edges)]
    assert (read(*pieces), read(*text)) == (plain(text), plain(text))


@pytest.mark.parametrize("text", ["é", "data: é", "😀", "x", ""])
def test_size_is_counted_in_utf8(text: str) -> None:
    """Limits are bytes, whatever the letters are."""
    assert size_bytes(text) == len(text.encode())


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("data: 0123456789\n\n", 16),
        ("data: é€😀\n\n", 15),
        ("data: ab\ndata: cd\n\n", 16),
        ("event: ab\ndata: cd\n\n", 17),
        ("event: ab\r\ndata: cd\r\n\r\n", 17),
        ("event: ab\rdata: cd\r\r", 17),
        ("foo: é\ndata: cd\n\n", 15),
        (": a comment\ndata: cdefg\n\n", 11),
        ("data: a\n\ndata: b\n\n", 7),
        ("data: abcdef", 12),
    ],
)
def test_the_limit_is_exact(text: str, size: int) -> None:
    """An event of just the limit passes, one byte more does not, for every way of cutting."""
    assert read(text, limit=size) == read(*text, limit=size) == plain(text)
    for pieces in ([text], list(text)):
        with pytest.raises(EventTooLarge, match=f"at most {size - 1} bytes"):
            read(*pieces, limit=size - 1)


def test_what_stood_before_a_large_event_is_not_lost() -> None:
    """In one chunk with it, or in one before."""
    text = "data: a\n\ndata: b\n\ndata: " + "x" * 50 + "\n\ndata: c\n\n"
    whole = SseReader(20)
    with pytest.raises(EventTooLarge) as caught:
        whole.feed(text)
    assert caught.value.events == [message("a"), message("b")]
    with pytest.raises(FeedAfterClose):
        whole.feed("data: d\n\n")


def test_an_endless_event_is_refused_early_and_dropped() -> None:
    """200 MB sent slowly must not fill the memory, nor cost more and more."""
    reader = SseReader(1_000_000)
    reader.feed("data: ")
    for _ in range(999):
        reader.feed("x" * 1000)
    with pytest.raises(EventTooLarge) as caught:
        reader.feed("x" * 1000)
    assert (caught.value.events, reader._line_parts, reader._data) == ([], [], [])


def test_an_endless_comment_is_refused() -> None:
    """A comment has no size of its own, but no line may be endless."""
    reader = SseReader(100)
    for _ in range(100):
        reader.feed(":")
    with pytest.raises(EventTooLarge):
        reader.feed(":")


def test_one_letter_at_a_time_costs_no_more_and_more() -> None:
    """A line of 400,000 one-letter chunks must not take twice as long per letter as one of 100,000."""

    def cost(letters: int) -> float:
        reader = SseReader()
        start = time.process_time()
        for _ in range(letters):
            reader.feed("x")
        return (time.process_time() - start) / letters

    cost(1000)
    assert min(cost(400_000) for _ in range(2)) < 3 * max(cost(100_000) for _ in range(2))
