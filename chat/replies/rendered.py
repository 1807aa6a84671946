"""The HTML of texts that never change again, kept by the process within a bound of bytes.

Takes Markdown and an anchor, gives what `rendering.render` makes of them, made once as long as there is room: the
longest texts are the dearest to make, so none is too long to be kept. Any thread may ask; two that ask for the same at
once may both make it.
"""

import sys
from collections import OrderedDict
from collections.abc import Callable
from hashlib import sha256
from threading import Lock

from chat import rendering

MOST_BYTES = 64 * 1024 * 1024
# What an entry costs beside its HTML: the key and the table's row.
_ENTRY_BYTES = 300


class Rendered:
    """Least recently asked for goes first. A text is known by its hash: it is not held a second time."""

    def __init__(self, render: Callable[..., str], *, most_bytes: int = MOST_BYTES) -> None:
        self._render = render
        self._most_bytes = most_bytes
        self._entries: OrderedDict[tuple[bytes, str], str] = OrderedDict()
        self._lock = Lock()
        self.bytes_held = 0

    def html(self, text: str, *, anchor: str) -> str:
        key = (sha256(text.encode("utf-8", "surrogatepass")).digest(), anchor)
        with self._lock:
            if key in self._entries:
                self._entries.move_to_end(key)
                return self._entries[key]
        html = self._render(text, anchor=anchor)
        with self._lock:
            if key not in self._entries:
                self._entries[key] = html
                self.bytes_held += _cost(html)
            while self.bytes_held > self._most_bytes:
                _, gone = self._entries.popitem(last=False)
                self.bytes_held -= _cost(gone)
        return html


def _cost(html: str) -> int:
    return sys.getsizeof(html) + _ENTRY_BYTES


RENDERED = Rendered(rendering.render)
