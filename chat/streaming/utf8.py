"""Bytes off the network -> text, whatever way the network cut them.

Takes chunks of bytes; gives pieces of text. Bad bytes become U+FFFD, one leading BOM is dropped (WHATWG
"UTF-8 decode"). Does not know lines or events.
"""

from __future__ import annotations

import codecs

from chat.streaming.errors import FeedAfterClose

_BOM = "\ufeff"
_new_decoder = codecs.getincrementaldecoder("utf-8")


class Utf8Decoder:
    """Decodes UTF-8 in pieces; a code point that is cut by a chunk border waits for its rest."""

    __slots__ = ("_at_start", "_closed", "_decode")

    def __init__(self) -> None:
        self._decode = _new_decoder("replace").decode
        self._at_start = True
        self._closed = False

    def feed(self, chunk: bytes) -> list[str]:
        """Return the text that this chunk completes: one piece, or none."""
        if self._closed:
            raise FeedAfterClose(self)
        return self._give(self._decode(chunk))

    def close(self) -> list[str]:
        """Return what a last, unfinished code point becomes: U+FFFD."""
        self._closed = True
        return self._give(self._decode(b"", True))

    def _give(self, text: str) -> list[str]:
        if not text:
            return []
        if self._at_start:
            self._at_start = False
            text = text.removeprefix(_BOM)
            if not text:
                return []
        return [text]
