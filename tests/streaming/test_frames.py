"""What goes to the browser, to the letter."""

from __future__ import annotations

from uuid import UUID

import pytest

from chat.streaming.frames import Final, Frame, Paint, Snapshot, Turn, decode_ack, encode

ID = UUID("6f9619ff-8b86-4011-b42d-00cf4fc964ff")
TEXT_ID = '"6f9619ff-8b86-4011-b42d-00cf4fc964ff"'


@pytest.mark.parametrize(
    ("frame", "text"),
    [
        (Paint(7, 41, " palavra"), '[7,41," palavra"]'),
        (Paint(7, 1, 'é\u2028\n"', "answer", 0), '[7,1,"é\u2028\\n\\""]'),
        (Paint(7, 2, "hm", "reasoning"), '[7,2,"hm","r"]'),
        (Paint(7, 3, "no", "refusal", 2), '[7,3,"no","f"]'),
        (Paint(7, 9, "abc", "answer", 4), '[7,9,"abc","a",4]'),
        (Paint(7, 9, "abc", "reasoning", 4), '[7,9,"abc","r",4]'),
        (
            Snapshot(7, 9, "a", "r", ""),
            '{"type":"draft","handle":7,"seq":9,"answer":"a","reasoning":"r","refusal":""}',
        ),
        (
            Turn(ID, 7, None, "queued", None, 1, None),
            f'{{"type":"turn","generation":{TEXT_ID},"handle":7,"parent":null,"state":"queued","reason":null,'
            '"attempt":1,"retry_of":null}',
        ),
        (
            Final(ID, 7, 10, "confirmed", None, "<p>ok</p>", ID),
            f'{{"type":"final","generation":{TEXT_ID},"handle":7,"seq":10,"state":"confirmed","reason":null,'
            f'"html":"<p>ok</p>","successor":{TEXT_ID}}}',
        ),
    ],
)
def test_the_shape_of_each_frame(frame: Frame, text: str) -> None:
    """The page's code and the test clients read exactly this."""
    assert encode(frame) == text


def test_a_token_costs_17_bytes() -> None:
    """Most of the traffic is paints: their frame must stay small."""
    assert len(encode(Paint(12, 345, " remar"))) == 17


@pytest.mark.parametrize(
    ("text", "ack"),
    [
        ('{"ack":[7,41]}', (7, 41)),
        (b'{"ack":[7,41]}', (7, 41)),
        ('{"ack":[7,41],"more":1}', (7, 41)),
        ('{"ack":[7]}', None),
        ('{"ack":["7",41]}', None),
        ("[7,41]", None),
        ("", None),
        ("{", None),
        ("[" * 5000, None),
        (b"\xff", None),
        ("\ud800", None),
    ],
)
def test_only_an_acknowledgement_is_heard(text: str | bytes, ack: tuple[int, int] | None) -> None:
    """Anything else that a page sends up its socket is nothing, and no exception."""
    assert decode_ack(text) == ack
