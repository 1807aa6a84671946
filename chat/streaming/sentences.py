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
    i.e e.g p.ex p.ej ej a.c d.c a.m p.m u.s u.k ph.d m.sc b.sc
"""
_ABBREVIATIONS = frozenset(_ABBREVIATIONS_TEXT.split())
# The same words end a sentence where a capital follows: who lists, or tells the time, may well stop there.
_MAY_END = frozenset({"etc", "a.c", "d.c", "a.m", "p.m"})
_UNITS = frozenset({"min", "max", "seg", "h", "m", "s", "g", "l"})
_INITIALS = re.compile(r"(?:[A-Z]\.)+[A-Z]")

_END = re.compile(r"[.!?…。！？．｡‼⁇⁈⁉؟।]+[\"'”’»)\]*_`」』）】]*(?:\[\^?\w{1,4}\])*|\n")
_OPEN_NOTE = re.compile(r"\[\^?\w{0,4}\Z")
_WIDE = frozenset("。！？．｡")
# A fence may stand in a list, at any depth, and in a quotation.
_BEFORE_FENCE = r"(?:[ \t]{0,12}(?:>|[-*+]|\d{1,9}[.)])){0,6}[ \t]{0,12}"
_FENCE = re.compile(_BEFORE_FENCE + r"(`{3,}|~{3,})")
_MAYBE_FENCE = re.compile(_BEFORE_FENCE + r"(?:\d{0,9}|`{0,2}|~{0,2})\Z")
_ROW = re.compile(r"[ \t>]*\|")
_LIST_NUMBER = re.compile(r"\s*(?:(?:[-*>]|#{1,6})\s+)*\(?(?:\d{1,3}|[^\W\d_]|[ivxIVX]{2,4})$")
_NUMBER_BEFORE = re.compile(r"\d\s*\w+$")
_WORD_BEFORE = re.compile(r"([^\s(\[{\"'“‘«]*)$")
_EMOJI = re.compile("[\u2600-\u27bf\u2b50\u2b55\ufe0f\u200d\u20e3\U0001f000-\U0001faff]+ *")
# A gap is spaces only: the line end after them is a sentence end of its own and must be seen.
_GAP = re.compile(r"[^\S\n]*")


class Sentences:
    """Cuts a growing text into sentences; gives the same ones for every way the text comes in pieces."""

    __slots__ = ("_closed", "_fence", "_held", "_line_start", "_row", "_seen")

    def __init__(self) -> None:
        self._held = ""
        self._seen = (
            0  # how much of the held text holds no end for sure, so that no character is judged twice
        )
        self._fence = ""
        self._row = False  # whether the line is one of a table
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
        was_inside = bool(self._fence)
        if self._line_start and not self._judge_line_start(start, last=last):
            return None
        if self._fence or self._row:
            line_end = self._held.find("\n", start, start + MAX_SENTENCE_CHARS) + 1
            if was_inside and line_end:  # the line that opens a bare fence looks as the one that closes it
                self._leave_fence(start, line_end)
            return line_end or None
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
            line_end = self._held.find("\n", match.end(), limit)
            if line_end < 0:
                # Nobody knows yet whether it is one; a "fence" that is longer than any line is none.
                self._line_start = len(self._held) < limit
                return not self._line_start
            # A line such as ```this``` is no fence: nothing would ever close it.
            if match.group(1)[0] == "~" or "`" not in self._held[match.end() : line_end]:
                self._fence = match.group(1)
                self._line_start = self._row = False
                return True
        if not self._fence and not last and _MAYBE_FENCE.match(self._held, start):
            return False
        self._row = not self._fence and _ROW.match(self._held, start) is not None
        self._line_start = False
        return True

    def _leave_fence(self, start: int, end: int) -> None:
        line = self._held[start:end].lstrip(" \t>").rstrip()
        if line and set(line) == {self._fence[0]} and len(line) >= len(self._fence):
            self._fence = ""

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
        if following == after and _OPEN_NOTE.match(held, after) and not last:
            return None  # a footnote's mark belongs to the sentence before it
        if following == after and not wide:
            emoji = _EMOJI.match(held, after)
            if not emoji:
                return 0
        if match.group()[0] in ".．" and not self._ends_word(start, match.start(), held[following]):
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
        as_written = word.group(1) if word else ""
        text = as_written.lower()
        if following.isdigit() and (text == "no" or (held[stop] == "．" and before[-1:].isdigit())):
            return False  # "No. 5", "３．５"
        if following.isupper() and (text in _MAY_END or (text in _UNITS and _NUMBER_BEFORE.search(before))):
            return True
        if text in _ABBREVIATIONS or (len(text) == 1 and text.isalpha()) or _INITIALS.fullmatch(as_written):
            return False
        return not following.islower()
