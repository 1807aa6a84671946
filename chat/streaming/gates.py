"""When text of a part may be seen: at once, by sentence, by window, after a first stretch, or at the end.

Takes pieces of one part's text; gives the text released so far and no more. A check may say no: it returns
the name of the broken rule, which stays in `blocked`, and nothing is released from then on. Does not know
drafts or providers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from chat.streaming.errors import FeedAfterClose, UnknownGate
from chat.streaming.sentences import Sentences

Check = Callable[[str], str | None]
"""Looks at text that is about to be released; returns the name of the rule that it breaks, or None."""

DEFAULT_CHARS = 200
MOST_CHARS = 100_000


def allow(text: str) -> None:
    """Break no rule: the check of a gate that only waits."""


class Gate(Protocol):
    """One part's gate."""

    blocked: str | None

    def feed(self, text: str) -> list[str]:
        """Return the text that may be seen now."""

    def close(self) -> list[str]:
        """Return the rest that may be seen, once the whole text is known to be good."""


class Immediate:
    """Lets everything through at once, unchecked."""

    __slots__ = ("_closed", "blocked")

    def __init__(self) -> None:
        self.blocked: str | None = None
        self._closed = False

    def feed(self, text: str) -> list[str]:
        """Return the text."""
        if self._closed:
            raise FeedAfterClose(self)
        return [text] if text else []

    def close(self) -> list[str]:
        """Return nothing: nothing was held."""
        self._closed = True
        return []


class _Checked:
    """What the gates that check have in common: a `blocked` that ends all release."""

    __slots__ = ("_check", "_closed", "blocked")

    def __init__(self, check: Check) -> None:
        self.blocked: str | None = None
        self._check = check
        self._closed = False

    def feed(self, text: str) -> list[str]:
        """Return the text that may be seen now."""
        if self._closed:
            raise FeedAfterClose(self)
        return [] if self.blocked or not text else self._feed(text)

    def close(self) -> list[str]:
        """Return the rest that may be seen."""
        self._closed = True
        return [] if self.blocked else self._close()

    def _feed(self, text: str) -> list[str]:
        raise NotImplementedError

    def _close(self) -> list[str]:
        raise NotImplementedError

    def _passes(self, text: str) -> bool:
        self.blocked = self._check(text)
        return self.blocked is None


class BySentence(_Checked):
    """Lets whole sentences through, each checked together with the one before it: "Take aspirin. Two tablets." says
    more than either half."""

    __slots__ = ("_before", "_sentences")

    def __init__(self, check: Check = allow) -> None:
        super().__init__(check)
        self._before = ""
        self._sentences = Sentences()

    def _feed(self, text: str) -> list[str]:
        return self._release(self._sentences.feed(text))

    def _close(self) -> list[str]:
        return self._release(self._sentences.close())

    def _release(self, sentences: list[str]) -> list[str]:
        released = []
        for sentence in sentences:
            if not self._passes(self._before + sentence):
                break
            self._before = sentence
            released.append(sentence)
        return released


class ByWindow(_Checked):
    """Lets whole windows of `n` characters through.

    Each is checked together with the window before it, so that what stands across their border is seen as
    well.
    """

    __slots__ = ("_before", "_held", "_held_chars", "_n")

    def __init__(self, n: int = DEFAULT_CHARS, check: Check = allow) -> None:
        super().__init__(check)
        self._n = n
        self._held: list[str] = []
        self._held_chars = 0
        self._before = ""

    def _feed(self, text: str) -> list[str]:
        self._held.append(text)
        self._held_chars += len(text)
        if self._held_chars < self._n:
            return []
        held = "".join(self._held)
        whole = len(held) - len(held) % self._n
        released: list[str] = []
        for start in range(0, whole, self._n):
            window = held[start : start + self._n]
            if not self._release(window):
                return released
            released.append(window)
        self._held = [held[whole:]]
        self._held_chars = len(held) - whole
        return released

    def _close(self) -> list[str]:
        rest = "".join(self._held)
        return [rest] if rest and self._release(rest) else []

    def _release(self, window: str) -> bool:
        passes = self._passes(self._before + window)
        self._before = window
        return passes


class HoldFirst(_Checked):
    """Holds the first `n` characters back, checks them once, then lets everything through at once."""

    __slots__ = ("_held", "_held_chars", "_n", "_open")

    def __init__(self, n: int = DEFAULT_CHARS, check: Check = allow) -> None:
        super().__init__(check)
        self._n = n
        self._held: list[str] = []
        self._held_chars = 0
        self._open = False

    def _feed(self, text: str) -> list[str]:
        if self._open:
            return [text]
        self._held.append(text)
        self._held_chars += len(text)
        return self._release() if self._held_chars >= self._n else []

    def _close(self) -> list[str]:
        return [] if self._open else self._release()

    def _release(self) -> list[str]:
        held = "".join(self._held)
        self._held = []
        if not held or not self._passes(held):
            return []
        self._open = True
        return [held]


class Whole(_Checked):
    """Holds everything back until the end."""

    __slots__ = ("_held",)

    def __init__(self, check: Check = allow) -> None:
        super().__init__(check)
        self._held: list[str] = []

    def _feed(self, text: str) -> list[str]:
        self._held.append(text)
        return []

    def _close(self) -> list[str]:
        held = "".join(self._held)
        self._held = []
        return [held] if held and self._passes(held) else []


class GateMaker(Protocol):
    """Makes one gate; `n` and `check` matter only to the gates that have them."""

    def __call__(self, n: int = DEFAULT_CHARS, check: Check = allow) -> Gate:
        """Return a fresh gate."""


GATES: dict[str, GateMaker] = {
    "immediate": lambda n=DEFAULT_CHARS, check=allow: Immediate(),  # noqa: ARG005 (waits for nothing)
    "sentence": lambda n=DEFAULT_CHARS, check=allow: BySentence(check),  # noqa: ARG005 (sentences have no size)
    "window": lambda n=DEFAULT_CHARS, check=allow: ByWindow(n, check),
    "hold_first": lambda n=DEFAULT_CHARS, check=allow: HoldFirst(n, check),
    "whole": lambda n=DEFAULT_CHARS, check=allow: Whole(check),  # noqa: ARG005 (no size either)
}
"""How to make each gate, by the name that a setting uses."""

SIZED = frozenset({"window", "hold_first"})
"""The gates whose name may be followed by a number of characters: `window 400`."""


def spell(name: str, n: int | None = None) -> str:
    """Return a gate's name with its size, as settings and rows hold it."""
    return f"{name} {n or DEFAULT_CHARS}" if name in SIZED else name


def make(spelled: str, check: Check = allow) -> Gate:
    """Return a fresh gate of that name and size; raise `UnknownGate` for any other text."""
    name, _, size = spelled.partition(" ")
    sized = not size or (name in SIZED and size.isdecimal() and 1 <= int(size) <= MOST_CHARS)
    if name not in GATES or not sized:
        raise UnknownGate(
            f"expected one of {', '.join(GATES)} ({' and '.join(sorted(SIZED))} with 1 to {MOST_CHARS}), got {spelled!r}"
        )
    return GATES[name](int(size) if size else DEFAULT_CHARS, check)
