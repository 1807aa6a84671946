"""Where sentences end, in Portuguese, Spanish, English and CJK prose as models write it (Markdown included).

Takes pieces of text; gives whole sentences, spaces after them included, so that joining all of them gives the
text back. A line end always ends one (list items and headings have no full stop). Inside a code fence each
line is one. Does not know gates or drafts. It needs to see the next word before it decides, so the last
sentence comes at `close`.
"""

from __future__ import annotations

import re

from chat.streaming.errors import FeedAfterClose

MAX_SENTENCE_CHARS = 2000
"""A sentence that is longer is cut here, so that a text without any end neither waits for ever nor costs more and more."""

# Words before a full stop that do not end a sentence, all languages in one: a wrong "no" only waits longer.
_ABBREVIATIONS_TEXT = """
    sr sra srta srs sras dr dra drs dras prof profa exmo exma ilmo ilma eng enga av al r pça ex obs pág págs pag p pp
    art arts inc séc sec cap vol núm num nº n tel cel fig figs ed eds org aprox máx mín máx seg ter qua qui sex sáb dom
    jan fev mar abr mai jun jul ago set out nov dez mr mrs ms st jr vs etc cf viz approx dept est min max
    ee uu dña lic ing gral pdte atte avda c ctra izq dcha ud uds vd vds ene apr may aug sept sep oct dec feb
    i.e e.g p.ex p.ej a.c d.c a.m p.m u.s u.k
"""
_ABBREVIATIONS = frozenset(_ABBREVIATIONS_TEXT.split())

_END = re.compile(r"[.!?…。！？]+[\"'”’»)\]*_`」』）】]*|\n")
_WIDE = frozenset("。！？")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_MAYBE_FENCE = re.compile(r" {0,3}(`{0,2}|~{0,2})$")
_LIST_NUMBER = re.compile(r"\s*(?:[-*>#]\s+)*\(?(?:\d{1,3}|[^\W\d_]|[ivxIVX]{2,4})$")
_WORD_BEFORE = re.compile(r"([^\s(\[{\"'“‘«]*)$")
_EMOJI = re.compile("[\u2600-\u27bf\u2b50\u2b55\ufe0f\u200d\u20e3\U0001f000-\U0001faff]+ *")
# A gap is spaces only: the line end after them is a sentence end of its own and must be seen.
_GAP = re.compile(r"[^\S\n]*")


class Sentences:
    """Cuts a growing text into sentences; gives the same ones for every way the text comes in pieces."""

    __slots__ = ("_closed", "_fence", "_held", "_line_start", "_seen")

    def __init__(self) -> None:
        self._held = ""
        self._seen = (
            0  # how much of the held text holds no end for sure, so that no character is judged twice
        )
        self._fence = ""
        self._line_start = True
        self._closed = False

    def feed(self, text: str) -> list[str]:
        """Return the sentences that this piece completes."""
        if self._closed:
            raise FeedAfterClose(self)
        self._held += text
        return self._take(last=False)

    def close(self) -> list[str]:
        """Return the rest, cut as if a line end followed."""
        self._closed = True
        found = self._take(last=True)
        rest, self._held = self._held, ""
        return [*found, rest] if rest else found

    def _take(self, *, last: bool) -> list[str]:
        found: list[str] = []
        start = 0
        while True:
            end = self._next_end(start, last=last)
            limit = start + MAX_SENTENCE_CHARS
            if end is None and len(self._held) < limit:
                break
            end = limit if end is None else min(end, limit)
            sentence = self._held[start:end]
            self._line_start = sentence.endswith("\n")
            found.append(sentence)
            start = end
            self._seen = end
        if start:
            self._held = self._held[start:]
            self._seen -= start
        return found

    def _next_end(self, start: int, *, last: bool) -> int | None:
        """Return where the sentence that begins at `start` ends, or None while that cannot be known."""
        if self._line_start and not self._judge_line_start(start, last=last):
            return None
        if self._fence:
            line_end = self._held.find("\n", start, start + MAX_SENTENCE_CHARS)
            return None if line_end < 0 else self._leave_fence(start, line_end + 1)
        position = max(start, self._seen)
        while match := _END.search(self._held, position):
            if match.group() == "\n":
                return match.end()
            end = self._judge(start, match, last=last)
            if end is None:
                self._seen = match.start()
                return None
            if end:
                return end
            position = match.end()
        self._seen = len(self._held)
        return None

    def _judge_line_start(self, start: int, *, last: bool) -> bool:
        """See whether a line opens a fence; say no while its first characters leave that open."""
        match = _FENCE.match(self._held, start)
        if match and not self._fence:
            limit = start + MAX_SENTENCE_CHARS
            if self._held.find("\n", match.end(), limit) < 0:
                # Nobody knows yet whether it is one; a "fence" that is longer than any line is none.
                self._line_start = len(self._held) < limit
                return not self._line_start
            self._fence = match.group(1)
            self._line_start = False
            return True
        if not self._fence and not last and _MAYBE_FENCE.match(self._held, start):
            return False
        self._line_start = False
        return True

    def _leave_fence(self, start: int, end: int) -> int:
        line = self._held[start:end].strip()
        if line and set(line) == {self._fence[0]} and len(line) >= len(self._fence):
            self._fence = ""
        return end

    def _judge(self, start: int, match: re.Match[str], *, last: bool) -> int | None:
        """Return the end of the sentence, 0 if this is none, None if more text is needed to tell."""
        held = self._held
        wide = match.group()[0] in _WIDE
        after = match.end()
        gap = _GAP.match(held, after)
        following = gap.end() if gap else after
        if following == len(held):
            # More full stops, closing quotes or an emoji may follow.
            return after if last and following == after else (following if last else None)
        if held[following] == "\n":
            return following + 1
        if following == after and not wide:
            emoji = _EMOJI.match(held, after)
            if not emoji:
                return 0
        if match.group()[0] == "." and not self._ends_word(start, match.start(), held[following]):
            return 0
        emoji = _EMOJI.match(held, following)
        if emoji:
            following = emoji.end()
            if following == len(held) and not last:
                return None
            if following < len(held) and held[following] == "\n":
                return following + 1
        return following

    def _ends_word(self, start: int, stop: int, following: str) -> bool:
        """Say whether a full stop here ends a sentence, and not an abbreviation or a list number."""
        held = self._held
        if held.startswith("..", stop):
            return not following.islower()
        before = held[max(start, stop - 40) : stop]
        if stop - start <= 40 and _LIST_NUMBER.fullmatch(before) and not before.strip().isupper():
            return False
        word = _WORD_BEFORE.search(before)
        text = word.group(1).lower() if word else ""
        if text in _ABBREVIATIONS or (len(text) == 1 and text.isalpha()):
            return False
        return not following.islower()
