"""Whether a text shows anything at all. Takes text, gives a claim; knows nothing of who wrote it, nor of Markdown.

A text may be long and still look empty: zero-width spaces, byte order marks, soft hyphens, directions, variation
selectors with nothing to vary. `str.strip` knows none of them.
"""

from unicodedata import category

# Blanks, controls, formats (zero widths, directions, tags) and what has no meaning (half a surrogate, unassigned).
_UNSEEN_CATEGORIES = {"Cc", "Cf", "Cn", "Cs", "Zl", "Zp", "Zs"}
# Marks and letters that are drawn as nothing: joiner, fillers, selectors; and the sign for "could not be read".
_UNSEEN = {
    *"\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\ufffc\ufffd",
    *map(chr, range(0x180B, 0x1810)),
    *map(chr, range(0xFE00, 0xFE10)),
    *map(chr, range(0xE0100, 0xE01F0)),
}


def is_visible(text: str) -> bool:
    """True if at least one character of it can be seen."""
    return any(char not in _UNSEEN and category(char) not in _UNSEEN_CATEGORIES for char in text)
