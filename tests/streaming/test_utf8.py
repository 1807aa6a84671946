"""Text comes out the same however its bytes are cut."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.streaming.errors import FeedAfterClose
from chat.streaming.utf8 import Utf8Decoder


def decoded(*chunks: bytes) -> str:
    """Decode chunks to the end."""
    decoder = Utf8Decoder()
    texts = [text for chunk in chunks for text in decoder.feed(chunk)]
    return "".join(texts + decoder.close())


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"", ""),
        ("é€😀".encode(), "é€😀"),
        (b"\xef\xbb\xbfone", "one"),
        (b"\xef\xbb\xbf\xef\xbb\xbftwo", "\ufefftwo"),
        (b"a\xef\xbb\xbfb", "a\ufeffb"),
        (b"\xef\xbb\xbf", ""),
        (b"\xef\xbb", "\ufffd"),
        (b"\xff", "\ufffd"),
        (b"\xe2\x82", "\ufffd"),
        (b"\xe2\x82A", "\ufffdA"),
        (b"\xed\xa0\x80", "\ufffd\ufffd\ufffd"),
        (b"\xf0\x9f\x98", "\ufffd"),
        (b"\xc0\xaf", "\ufffd\ufffd"),
    ],
)
def test_bad_bytes_and_one_bom(body: bytes, text: str) -> None:
    """Bad bytes are never an error; exactly one BOM is dropped, at the start only."""
    assert {decoded(body), decoded(*(body[i : i + 1] for i in range(len(body))))} == {text}


@settings(deadline=None)
@given(
    st.lists(
        st.binary(max_size=6) | st.sampled_from(["€".encode(), "😀".encode(), b"\xef\xbb\xbf", b"\xf0\x9f"])
    )
)
def test_chunks_do_not_matter(chunks: list[bytes]) -> None:
    """Whatever the bytes are."""
    assert decoded(*chunks) == decoded(b"".join(chunks))


def test_nothing_is_taken_after_close() -> None:
    """A caller that goes on is wrong, and must see it."""
    decoder = Utf8Decoder()
    assert decoder.close() == []
    with pytest.raises(FeedAfterClose, match="Utf8Decoder"):
        decoder.feed(b"x")
