"""Words to look for, written as a person would list them, in any spelling that a person would use.

Takes lists of phrases; gives patterns over folded text. Folding takes away case, accents, invisible characters and the
many shapes of quotes and dashes, so that `Dói`, `doi` and `do\\u00adi` are one word. Line ends stay, unlike
in `chat.folding`: a sentence ends there. Knows no rule and no language.
"""

from __future__ import annotations

import re
import unicodedata

_DASHES = dict.fromkeys(map(ord, "‐‑‒–—−"), "-")
_QUOTES = dict.fromkeys(map(ord, "’‘ʼ`´"), "'")
_SHAPES = _DASHES | _QUOTES


def fold(text: str) -> str:
    """Return the text as words are looked for in it: no case, no accents, nothing invisible, plain quotes and dashes."""
    text = text.translate(_SHAPES)
    if text.isascii():
        return text.casefold()
    apart = unicodedata.normalize("NFKD", text).casefold()
    return "".join(sign for sign in apart if unicodedata.category(sign) not in {"Mn", "Cf"})


def phrases(listed: str) -> re.Pattern[str]:
    """Return a pattern for any of the phrases, which are separated by `|` or line ends and stand as whole words.

    A `*` stands for any end of a word (`pregnan*`), a space for any white space. Of an empty list nothing is found.
    """
    found = [
        r"\s+".join(re.escape(word).replace(r"\*", r"\w*") for word in each.split())
        for each in re.split(r"[|\n]", fold(listed))
        if each.strip()
    ]
    if not found:
        return re.compile(r"(?!)")
    # Longest first: of two that begin alike the longer one is meant.
    return re.compile(rf"(?<!\w)(?:{'|'.join(sorted(found, key=len, reverse=True))})(?!\w)")
