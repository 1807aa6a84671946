"""The draft: what a gate released, append-only, with a number for each paint.

Takes text for a lane; gives numbered paints, and any stretch of them again. Text that is appended but not yet
painted is in no frame, snapshot or checkpoint. Does not know timing, stores or sockets.
"""

from __future__ import annotations

from chat.streaming.frames import Paint, Snapshot

LANES = ("answer", "reasoning", "refusal")
PAINT_CHARS = 16_384
"""The longest text of one paint: one giant event must not become one giant frame."""


class Draft:
    """One generation's draft. Paint numbers run 1, 2, 3 …; each is one append to one lane."""

    __slots__ = ("_before", "_painted", "_pending", "_texts", "handle")

    def __init__(self, handle: int) -> None:
        self.handle = handle
        self._before = 0
        self._painted: list[tuple[str, str]] = []
        self._pending: list[tuple[str, list[str]]] = []
        self._texts: dict[str, list[str]] = {lane: [] for lane in LANES}

    @classmethod
    def restored(cls, saved: Snapshot) -> Draft:
        """Return the draft that stood at this snapshot: its text counts as painted, its numbers go on."""
        draft = cls(saved.handle)
        draft._before = saved.seq
        for lane, text in zip(LANES, (saved.answer, saved.reasoning, saved.refusal), strict=True):
            draft._texts[lane].append(text)
        return draft

    @property
    def seq(self) -> int:
        """The number of the last paint; 0 before the first."""
        return self._before + len(self._painted)

    def covers(self, seq: int) -> bool:
        """Whether `since` can tell all that was painted after that number."""
        return self._before <= seq <= self.seq

    @property
    def is_pending(self) -> bool:
        """Whether something was appended since the last paint."""
        return bool(self._pending)

    def append(self, lane: str, text: str) -> None:
        """Add released text to the end of a lane; it waits for the next paint."""
        if lane not in self._texts:
            raise KeyError(f"expected one of the lanes {', '.join(LANES)}, got {lane!r}")
        if not text:
            return
        if self._pending and self._pending[-1][0] == lane:
            self._pending[-1][1].append(text)
        else:
            self._pending.append((lane, [text]))

    def paint(self) -> list[Paint]:
        """Number what is pending and return it: one paint for each run of text in one lane."""
        paints = []
        for lane, pieces in self._pending:
            whole = "".join(pieces)
            for start in range(0, len(whole), PAINT_CHARS):
                text = whole[start : start + PAINT_CHARS]
                self._painted.append((lane, text))
                paints.append(Paint(self.handle, self.seq, text, lane))
            self._texts[lane].append(whole)
        self._pending.clear()
        return paints

    def since(self, seq: int) -> list[Paint]:
        """Return what was painted after that number; neighbours of one lane are joined, up to the length of a paint."""
        paints = []
        position = max(seq - self._before, 0)
        while position < len(self._painted):
            before = position
            lane, text = self._painted[position]
            length = len(text)
            position += 1
            while position < len(self._painted) and self._painted[position][0] == lane:
                length += len(self._painted[position][1])
                if length > PAINT_CHARS:
                    break
                position += 1
            text = "".join(text for _, text in self._painted[before:position])
            after = None if position == before + 1 else self._before + before
            paints.append(Paint(self.handle, self._before + position, text, lane, after))
        return paints

    def text(self, lane: str) -> str:
        """Return all text painted in that lane: exactly what a page that stands at `seq` shows."""
        pieces = self._texts[lane]
        if len(pieces) > 1:
            pieces[:] = ["".join(pieces)]
        return pieces[0] if pieces else ""

    def snapshot(self) -> Snapshot:
        """Return the whole draft as one frame, for a page that has fallen behind or has just come."""
        return Snapshot(self.handle, self.seq, *(self.text(lane) for lane in LANES))
