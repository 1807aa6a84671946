"""Style sheets as they stand in a page itself, so that nothing has to come before what it shows is painted.

Takes names of our own files in `static/chat/css`, gives their rules in that order as one short text, without comments and
white space. Knows no page. On a slow line and an empty cache a sheet in a file of its own costs a connection and a way there
and back before the first word is seen (docs/decisions/0017).
"""

import re
from functools import cache
from pathlib import Path

from django.conf import settings

FOLDER = Path(__file__).parent / "static" / "chat" / "css"
_TEXT = re.compile(r'("[^"\n]*")')
_WORD = re.compile(r'(\[[\w-]+[~^$*|]?=)"([A-Za-z][\w-]*)"\]')
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


def sheet(*names: str) -> str:
    """The rules of these files; read once, but each time anew while somebody works on them (`DEBUG`)."""
    return _read(names) if settings.DEBUG else _kept(names)


def short(source: str) -> str:
    """The same rules in fewer letters; what stands in quotation marks stays as it is. An attribute's value needs none:
    who looks for `data-state="confirmed"` in a page finds replies alone."""
    parts = _TEXT.split(_WORD.sub(r"\1\2]", _COMMENT.sub("", source)))
    return "".join(part if at % 2 else _squeezed(part) for at, part in enumerate(parts)).strip()


def _squeezed(code: str) -> str:
    code = re.sub(r"\s+", " ", code)
    code = re.sub(r" ?([{};,]) ?", r"\1", code)
    # Only after a colon: one before it parts two selectors.
    return code.replace(": ", ":").replace(";}", "}")


def _read(names: tuple[str, ...]) -> str:
    return short("\n".join((FOLDER / f"{name}.css").read_text(encoding="utf-8") for name in names))


_kept = cache(_read)
