"""An array's elements come out whole, each as soon as it is there, whatever the text looks like inside."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.streaming.errors import EventTooLarge, FeedAfterClose
from chat.streaming.json_array import ELEMENT, END, JUNK, OBJECT, REST, JsonArrayReader
from chat.streaming.sse import Event


def read(*pieces: str, limit: int = 1000) -> list[tuple[str, str]]:
    """Feed and close; each event as (type, data)."""
    reader = JsonArrayReader(limit)
    events = [event for piece in pieces for event in reader.feed(piece)] + reader.close()
    return [(event.type, event.data) for event in events]


def cut(text: str, limit: int = 1000) -> list[tuple[str, str]]:
    """Read a text whole, letter by letter and cut at every place, and see that it is all one."""
    whole = read(text, limit=limit)
    assert read(*text, limit=limit) == whole
    assert [at for at in range(len(text)) if read(text[:at], text[at:], limit=limit) != whole] == []
    return whole


@pytest.mark.parametrize(
    ("text", "events"),
    [
        ("", []),
        (" \r\n", []),
        ("[]", [(END, "")]),
        (" [ ] \n", [(END, "")]),
        ('[{"a":1}]', [(ELEMENT, '{"a":1}'), (END, "")]),
        ('[{"a":1}\n,\r\n{"b":[2]}\n]\n', [(ELEMENT, '{"a":1}'), (ELEMENT, '{"b":[2]}'), (END, "")]),
        ('[{"a":"]},{\\"\\\\"}]', [(ELEMENT, '{"a":"]},{\\"\\\\"}'), (END, "")]),
        ('[{"a":"\\\\\\""}]', [(ELEMENT, '{"a":"\\\\\\""}'), (END, "")]),
        ("[[[]],{}]", [(ELEMENT, "[[]]"), (ELEMENT, "{}"), (END, "")]),
        ('{"a":"}"} ', [(OBJECT, '{"a":"}"}')]),
        ("{}\n{}", [(OBJECT, "{}"), (OBJECT, "{}")]),
        # Not whole.
        ("[", [(REST, "")]),
        ("[{}", [(ELEMENT, "{}"), (REST, "")]),
        ("[{},", [(ELEMENT, "{}"), (REST, "")]),
        ('[{"a":"', [(REST, "")]),
        ('[{"a":"\\', [(REST, "")]),
        ('{"a":1', [(REST, "")]),
        # Not JSON: the first letter that cannot stand there is given, and nothing after it.
        ("[{},]", [(ELEMENT, "{}"), (JUNK, "]")]),
        ("[{}{}]", [(ELEMENT, "{}"), (JUNK, "{")]),
        ("[1,{}]", [(JUNK, "1")]),
        ('["{}"]', [(JUNK, '"')]),
        ("[{}]x{}", [(ELEMENT, "{}"), (END, ""), (JUNK, "x")]),
        ("{}]", [(OBJECT, "{}"), (JUNK, "]")]),
        ("\u00a0[]", [(JUNK, "\u00a0")]),
    ],
)
def test_what_is_read(text: str, events: list[tuple[str, str]]) -> None:
    """From the usual to the broken, the same for every cut."""
    assert cut(text) == events


def test_an_element_is_given_as_soon_as_it_is_whole() -> None:
    """Not when the comma behind it comes: that comes with the next one."""
    reader = JsonArrayReader()
    assert [reader.feed(piece) for piece in ("[", '{"a":', "1", "}")] == [
        [],
        [],
        [],
        [Event(ELEMENT, '{"a":1}', "")],
    ]


VALUES = st.recursive(st.text(), lambda inner: st.lists(inner, max_size=3), max_leaves=4)


@settings(deadline=None, max_examples=50)
@given(
    values=st.lists(st.dictionaries(st.text(max_size=4), VALUES, max_size=3)),
    indent=st.sampled_from([None, 2]),
    ascii_only=st.booleans(),
)
def test_any_array_is_cut_where_it_should(values: list[Any], indent: int | None, *, ascii_only: bool) -> None:
    """What one parser reads as a whole is what another reads element by element."""
    events = read(*json.dumps(values, indent=indent, ensure_ascii=ascii_only), limit=10**6)
    assert events.pop() == (END, "")
    assert [(kind, json.loads(data)) for kind, data in events] == [(ELEMENT, value) for value in values]


@settings(deadline=None)
@given(st.text(st.sampled_from('[]{},"\\ a1\n'), max_size=14))
def test_any_text_is_read_the_same_for_every_cut(text: str) -> None:
    """And it never raises."""
    cut(text)


def test_the_limit_is_exact_and_counts_bytes() -> None:
    """An element of just the limit passes, one byte more does not, and what stood before it is not lost."""
    text = '[{"a":1},{"é":"😀"}]'
    assert cut(text, limit=13) == [(ELEMENT, '{"a":1}'), (ELEMENT, '{"é":"😀"}'), (END, "")]
    for pieces in ([text], list(text)):
        reader = JsonArrayReader(12)
        seen: list[Event] = []
        with pytest.raises(EventTooLarge, match="at most 12 bytes") as caught:
            seen.extend(event for piece in pieces for event in reader.feed(piece))
        assert [event.data for event in [*seen, *caught.value.events]] == ['{"a":1}']
        assert (reader.feed('{"b":2}]'), reader._pieces) == ([], [])


def test_nothing_is_taken_after_close() -> None:
    """A caller that goes on is wrong, and must see it."""
    reader = JsonArrayReader()
    reader.close()
    with pytest.raises(FeedAfterClose):
        reader.feed("[")
