"""How much work one document may cause, counted; and how long its decoration may take.

Reading Markdown has corners that cost the square of the text or more, in our rules as in the library's, and pages are
rendered on one thread. So every attempt of a rule is counted, with what that attempt may have to look through, and a
document that asks for more than an honest one ever needs is shown plainer: first its words without marks, then the
whole as plain paragraphs. Counts and not a clock, so that a text looks the same at every visit and in the browser
(`static/chat/js/effort.js` holds the same numbers). Only what cannot be counted (colours, formulas) has a clock of CPU
time, and what it costs to miss that one is a colour.

It knows no Markdown.
"""

import time
from collections.abc import Callable

# Per document. 100 KB of prose with lists, tables and code need some 15,000, a list of 10,000 tasks 90,000, a table
# of 10,000 rows 113,000: the densest that may be honest. All of them take about half a second of CPU.
STEPS = 120_000
# No text of more lines is read as Markdown at all: only to find that it asks for too much would take seconds.
LINES = 60_000
# An attempt may have to look through its whole paragraph; so many characters of it cost as much as one attempt.
CHARS_PER_STEP = 2_000
DECORATION_CPU_S = 0.4


class TooMuch(Exception):
    """The document's work is used up; what is left of it is shown plainer."""


def check_lines(text: str) -> None:
    """Raises `TooMuch` for a text of more lines than are read."""
    if text.count("\n") + text.count("\r") > LINES:
        raise TooMuch


class Effort:
    """What one document may still cost. Once the steps are used up they stay so."""

    def __init__(
        self,
        *,
        steps: int = STEPS,
        decoration_s: float = DECORATION_CPU_S,
        clock: Callable[[], float] = time.thread_time,
    ) -> None:
        self.steps = steps
        self._decoration_s = decoration_s
        self._clock = clock
        self._begun = 0.0

    def take(self, times: int = 1, *, length: int = 0) -> None:
        """The rules are about to look at one place, so many times, in a text of `length` characters. Raises `TooMuch`."""
        self.steps -= times * (1 + length // CHARS_PER_STEP)
        if self.steps < 0:
            raise TooMuch

    def check(self, times: int) -> None:
        """Raises `TooMuch` where there is not enough left for so many steps, and takes none."""
        if times > self.steps:
            raise TooMuch

    def begin_decoration(self) -> None:
        """The clock of decoration runs from here to `end_decoration`, as often as that is."""
        self._begun = self._clock()

    def end_decoration(self) -> None:
        self._decoration_s -= self._clock() - self._begun

    def is_late(self) -> bool:
        """Whether the decoration that has begun must end now."""
        return self._clock() - self._begun >= self._decoration_s
