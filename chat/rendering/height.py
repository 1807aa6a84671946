r"""How tall a displayed formula will be, read from its TeX alone: so that draft and answer give it the same room.

Takes TeX, gives steps of a third of a line; rather one too many than one too few, for what is smaller than its room moves
nothing. It reads what models write (fractions, sums, matrices, roots, marks above and below), any other command as one
letter. It knows no MathML and no font: measured in Chromium it is up to 20 px above what comes. `static/chat/js/height.js`
is its twin: a number that changes here changes there, or the page moves when the answer comes.
"""

import math
import re
from typing import NamedTuple

LEAST, MOST = 3, 45
CHARS_MAX = 2_000
DEPTH_MAX = 12
# A step is 9 px and a formula's em 18.7 px where the body has 17.
STEPS_PER_EM = 18.7 / 9
_TOKEN = re.compile(r"\\[A-Za-z]+\*?|\\.|[^\s]", re.DOTALL)
_FRACTIONS = frozenset({"frac", "dfrac", "tfrac", "cfrac", "binom", "dbinom", "tbinom"})
_OPERATORS = frozenset(
    {"sum", "prod", "coprod", "bigcup", "bigcap", "bigoplus", "bigotimes", "bigvee", "bigwedge", "bigsqcup"}
)
_INTEGRALS = frozenset({"int", "iint", "iiint", "oint"})
_STACKS = frozenset({"overset", "underset", "stackrel"})
_BRACES = {"overbrace": (0.5, 0.0), "underbrace": (0.0, 0.5), "substack": (0.3, 0.5)}


class Box(NamedTuple):
    """Ems above and below the line; `limits` says that marks stand above and below it, not beside."""

    up: float
    down: float
    limits: bool = False

    @property
    def all(self) -> float:
        return self.up + self.down


LETTER = Box(0.7, 0.2)
# As large, but no formula by itself: a fraction in it is a small one, a sum has its limits beside it.
_SMALL = 0.999


def height(tex: str) -> int:
    """Steps, from `LEAST` (one line of text) to `MOST`."""
    if len(tex) > CHARS_MAX:
        return MOST
    em = _Reader(_TOKEN.findall(tex)).row(1, 0).all
    return max(LEAST, min(MOST, math.ceil(em * STEPS_PER_EM - 1e-9)))


class _Reader:
    """One formula, from left to right. What is not closed is read as if it were closed at the end."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._at = 0

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _next(self) -> str:
        sign = self._peek()
        self._at += 1
        return sign

    def row(self, size: float, depth: int) -> Box:
        """Until what closes it, or parts it from the next row; that is left where it is."""
        up = down = 0.0
        while sign := self._peek():
            if sign == "}" or (depth and sign in {"&", "\\\\", "\\end"}):
                if depth:
                    break
                self._at += 1
                continue
            box = self._with_marks(self._atom(size, depth), size, depth)
            up, down = max(up, box.up), max(down, box.down)
        return Box(up, down)

    def _with_marks(self, box: Box, size: float, depth: int) -> Box:
        up, down, limits = box
        while self._peek() in {"^", "_"}:
            mark = self._next()
            part = self._atom(size * 0.71, depth)
            if limits:
                up, down = (up + part.all + 0.15, down) if mark == "^" else (up, down + part.all + 0.15)
            elif mark == "^":
                up = max(up, box.up - 0.35 * size + part.all)
            else:
                down = max(down, box.down - 0.1 * size + part.all)
        return Box(up, down)

    def _atom(self, size: float, depth: int) -> Box:
        """The next thing that marks may hang on."""
        sign = self._next()
        if depth < DEPTH_MAX and sign == "{":
            return self._group(size, depth)
        if depth < DEPTH_MAX and sign.startswith("\\"):
            return self._command(sign[1:], size, depth)
        return _letter(size)

    def _command(self, name: str, size: float, depth: int) -> Box:
        if name in _FRACTIONS:
            inner = _SMALL if size == 1 and name != "tfrac" else size * 0.71
            above, below = self._atom(inner, depth + 1), self._atom(inner, depth + 1)
            return Box(above.all + 0.4 * size, max(0.0, below.all - 0.1 * size))
        if name in _OPERATORS:
            return Box(0.9, 0.5, limits=True) if size == 1 else Box(0.75 * size, 0.3 * size)
        if name in _INTEGRALS:
            return Box(0.9 * size, 0.6 * size)
        if name == "begin":
            return self._rows(size, depth)
        if name in {"left", "right"}:
            self._next()  # what it stretches
        elif name == "end":
            self._group(size, DEPTH_MAX)
        return self._marked(name, size, depth)

    def _marked(self, name: str, size: float, depth: int) -> Box:
        """What has a sign of its own above or below."""
        if name == "sqrt":
            if self._peek() == "[":
                while self._next() not in {"]", ""}:
                    pass
            box = self._atom(size, depth + 1)
            return Box(box.up + 0.2 * size, box.down + 0.05 * size)
        if name in _STACKS:
            part, base = self._atom(size * 0.71, depth + 1).all, self._atom(size, depth + 1)
            return Box(base.up, base.down + part) if name == "underset" else Box(base.up + part, base.down)
        if name in _BRACES:
            more_up, more_down = _BRACES[name]
            box = self._atom(size, depth + 1)
            return Box(box.up + more_up, box.down + more_down, limits=name != "substack")
        return _letter(size)

    def _group(self, size: float, depth: int) -> Box:
        """What stands in braces; where it stands too deep it is passed over."""
        if depth >= DEPTH_MAX:
            open_braces = 1
            while open_braces and (sign := self._next()):
                open_braces += {"{": 1, "}": -1}.get(sign, 0)
            return _letter(size)
        rows = [self.row(size, depth + 1)]
        while self._peek() in {"&", "\\\\"}:
            is_row = self._next() == "\\\\"
            box = self.row(size, depth + 1)
            if is_row:
                rows.append(box)
            else:
                rows[-1] = _beside(rows[-1], box)
        self._next()
        return rows[0] if len(rows) == 1 else _stacked([row.all + 0.2 * size for row in rows], size)

    def _rows(self, size: float, depth: int) -> Box:
        """An environment: a matrix, cases, equations one below the other."""
        name = ""
        if self._peek() == "{":
            self._next()
            while (sign := self._next()) not in {"}", ""}:
                name += sign
        is_shown = name.rstrip("*") in {"align", "aligned", "split", "gather", "gathered", "alignedat"}
        if name in {"array", "alignedat"} and self._peek() == "{":
            self._next()
            self._group(size, DEPTH_MAX)
        inner = size if is_shown or size < 1 else _SMALL
        rows = [Box(0, 0)]
        while (sign := self._peek()) and sign != "\\end":
            if sign in {"&", "\\\\", "}"}:
                self._next()
                if sign == "\\\\":
                    rows.append(Box(0, 0))
                continue
            rows[-1] = _beside(rows[-1], self.row(inner, depth + 1))
        if self._peek() == "\\end":
            self._next()
            if self._peek() == "{":
                self._next()
                self._group(size, DEPTH_MAX)
        if len(rows) > 1 and not rows[-1].all:
            rows.pop()  # a break at the end begins no row
        apart = (0.6 if is_shown else 0.38) * size
        return _stacked([max(row.all, LETTER.all * size) + apart for row in rows], size)


def _letter(size: float) -> Box:
    return Box(LETTER.up * size, LETTER.down * size)


def _beside(one: Box, other: Box) -> Box:
    return Box(max(one.up, other.up), max(one.down, other.down))


def _stacked(heights: list[float], size: float) -> Box:
    """One below the other, in the middle of the line."""
    whole = sum(heights) + 0.1 * size
    return Box(whole / 2 + 0.25 * size, max(0.0, whole / 2 - 0.25 * size))
