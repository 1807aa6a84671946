"""An event stream is read as one, until JSON lies bare in it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.streaming.bare_json import SseOrJsonReader
from chat.streaming.errors import EventTooLarge
from chat.streaming.json_array import ELEMENT, END, JUNK, OBJECT, REST
from chat.streaming.sse import Event, SseReader


def read(*pieces: str, limit: int = 1000) -> list[tuple[str, str]]:
    """Feed and close; each event as (type, data)."""
    reader = SseOrJsonReader(limit)
    events = [event for piece in pieces for event in reader.feed(piece)] + reader.close()
    return [(event.type, event.data) for event in events]


@pytest.mark.parametrize(
    ("text", "events"),
    [
        ("", []),
        ('data: {"a":1}\n\n', [("message", '{"a":1}')]),
        ('data: {"a":\ndata: [1]}\n\n', [("message", '{"a":\n[1]}')]),
        (": {\n: [\nx{\ndata: 1\n\n", [("message", "1")]),
        ('[{"a":1}]', [(ELEMENT, '{"a":1}'), (END, "")]),
        ('{"error":{}}', [(OBJECT, '{"error":{}}')]),
        ('data: 1\r\n\r\n{"error":\r\n{}}\r\n', [("message", "1"), (OBJECT, '{"error":\r\n{}}')]),
        ('data: 1\r\r{"error":{}}', [("message", "1"), (OBJECT, '{"error":{}}')]),
        ('data: 1\n\n[{"error":{}}]', [("message", "1"), (ELEMENT, '{"error":{}}'), (END, "")]),
        ('data: lost\n{"error":{}}\n\ndata: 2\n\n', [(OBJECT, '{"error":{}}'), (JUNK, "d")]),
        ("data: 1\n\n{", [("message", "1"), (REST, "")]),
        ("data: 1\n\n {}\n\n", [("message", "1")]),
    ],
)
def test_what_is_read(text: str, events: list[tuple[str, str]]) -> None:
    """The same for every cut."""
    assert read(text) == read(*text) == events
    assert [at for at in range(len(text)) if read(text[:at], text[at:]) != events] == []


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(["\n", "\r", "{", "[", "}", "]", "data:", "data: {}", ":", "x", "é", ","])),
    st.lists(st.integers(0, 30)),
)
def test_any_text_is_read_the_same_for_every_cut(letters: list[str], cuts: list[int]) -> None:
    """Also where the JSON begins at a chunk's border; without bare JSON it is the plain reader."""
    text = "".join(letters)
    edges = [0, *sorted(cut for cut in cuts if cut <= len(text)), len(text)]
    whole = read(text)
    assert read(*(text[start:end] for start, end in pairwise(edges))) == read(*text) == whole
    lines = text.replace("\r", "\n").split("\n")
    if not any(line[:1] in {"{", "["} for line in lines if line):
        plain = SseReader()
        events: list[Event] = plain.feed(text) + plain.close()
        assert whole == [(event.type, event.data) for event in events]


@pytest.mark.parametrize("text", ["data: a\n\n[{}," + '{"a":"bcdefg"}]', "data: a\n\n[{},\n" + "{" * 20])
def test_what_stood_before_a_large_element_is_not_lost(text: str) -> None:
    """In one chunk with it: the events of both forms."""
    for pieces in ([text], list(text)):
        reader = SseOrJsonReader(10)
        seen: list[Event] = []
        with pytest.raises(EventTooLarge) as caught:
            seen.extend(event for piece in pieces for event in reader.feed(piece))
        assert [event.data for event in [*seen, *caught.value.events]] == ["a", "{}"]
