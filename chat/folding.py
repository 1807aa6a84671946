"""Text as search compares it: without case, accents, and what nobody can see; every character on its own.

Takes text, gives its folded form, and where in the text a folded term stands. Context plays no part, so that a place in the
folded text leads back to a place in the text. Knows no database.
"""

from bisect import bisect_left, bisect_right
from itertools import accumulate
from unicodedata import category, combining, normalize

# Variation selectors and the joiner of graphemes: drawn as nothing, and rarely typed.
_UNSEEN = {*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0), 0x034F}
# Below it stand marks that make another letter of one: nukta, the voicing of kana, virama.
_ACCENT_CLASS = 10


def _fold(char: str) -> str:
    if char.isspace():
        return " "
    kept = [
        each
        for each in normalize("NFKD", char)
        if combining(each) < _ACCENT_CLASS
        and ord(each) not in _UNSEEN
        and category(each) not in {"Cc", "Cf", "Cs"}
    ]
    return "".join(kept).casefold()


class _Folds(dict[int, str]):
    """Each character is folded once in a process; there are no more than Unicode has."""

    def __missing__(self, code: int) -> str:
        folded = self[code] = _fold(chr(code))
        return folded


_FOLDS = _Folds()


def fold(text: str) -> str:
    """The text as it is compared. Blanks are single spaces each; controls and what cannot be seen are gone."""
    return text.translate(_FOLDS)


def spans(text: str, terms: list[str], *, most: int = 200) -> list[tuple[int, int]]:
    """Where the folded `terms` stand in `text`: (start, end) of the first `most` of them, in order, none overlapping."""
    folded = fold(text)
    found: list[tuple[int, int]] = []
    for term in filter(None, terms):
        at, count = folded.find(term), 0
        while at >= 0 and count < most:
            found.append((at, at + len(term)))
            at, count = folded.find(term, at + len(term)), count + 1
    merged: list[tuple[int, int]] = []
    for start, end in _unfolded(text, sorted(found)):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged[:most]


def _unfolded(text: str, places: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Lead places in the folded text back to the characters that they come from."""
    if not places:
        return places
    ends = list(accumulate(len(_FOLDS[ord(char)]) for char in text))
    return [
        # What is folded to nothing behind the last character (an accent of its own) belongs to it.
        (bisect_right(ends, start), max(bisect_left(ends, end) + 1, bisect_right(ends, end)))
        for start, end in places
    ]
