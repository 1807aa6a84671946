"""Code with its colours as CSS classes. Takes code, a language's name and the document's effort, gives HTML.

Pygments is asked token by token, so that the clock can be looked at between two of them; a fence that comes too late
stays plain, whole. What a lexer may do before it gives its first token is bounded by what is not shown to it at all.
"""

import re
from collections.abc import Iterator
from io import StringIO
from typing import Any

from markdown_it.common.utils import escapeHtml
from pygments import format as write
from pygments.formatters import HtmlFormatter
from pygments.lexer import DelegatingLexer
from pygments.lexers import get_lexer_by_name
from pygments.lexers.data import JsonLexer
from pygments.util import ClassNotFound

from chat.rendering.effort import Effort, TooMuch

CHARS_MAX = 30_000
# A single regular expression of some lexers (console, ini, ocaml; matlab for blank lines) takes seconds for 30 KB, but
# only on one line or one blank: measured with 30 patterns on each lexer, 1,000 characters cost no more than 50 ms.
LINE_CHARS_MAX = 1_000
BLANK_CHARS_MAX = 200
# These lexers read all of the text before they give a token.
DELEGATED_CHARS_MAX = 5_000

_FORMATTER = HtmlFormatter(nowrap=True, classprefix="hl-")
_ODD = re.compile(rf"[^\n]{{{LINE_CHARS_MAX}}}|\s{{{BLANK_CHARS_MAX}}}")


def colour(code: str, language: str, effort: Effort) -> str:
    """The code as HTML, coloured where the language is known and time is left; escaped in any case."""
    if language and len(code) <= CHARS_MAX:
        effort.begin_decoration()
        try:
            return _coloured(code, language, effort)
        except (ClassNotFound, TooMuch):
            pass
        finally:
            effort.end_decoration()
    return escapeHtml(code)


def _coloured(code: str, language: str, effort: Effort) -> str:
    lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    if isinstance(lexer, DelegatingLexer) and len(code) > DELEGATED_CHARS_MAX:
        raise TooMuch
    # JSON is often written on one line, and its lexer reads sign by sign.
    if _ODD.search(code) and not isinstance(lexer, JsonLexer):
        raise TooMuch
    page = StringIO()
    write(_while_in_time(lexer.get_tokens(code), effort), _FORMATTER, page)
    return page.getvalue()


def _while_in_time(tokens: Iterator[Any], effort: Effort) -> Iterator[Any]:
    for token in tokens:
        if effort.is_late():
            raise TooMuch
        yield token
