"""One generation that this process runs: its draft, its stream and its clocks. No network and no database.

Takes released text and the time; gives checkpoints that are due, and whether the stream has stalled.
"""

import asyncio
import datetime as dt
import time
from uuid import UUID

from chat.conf import Conf
from chat.drafts import Save
from chat.flows import gates_of
from chat.journal import Fired
from chat.models import Generation
from chat.providers.base import Endpoint, Wire
from chat.providers.profiles import profile
from chat.running import Job
from chat.streaming.draft import LANES, Draft
from chat.streaming.frames import Snapshot
from chat.streaming.outcome import Ending, Outcome, Reason
from chat.streaming.pipeline import Append, Pipeline, WireReader
from chat.streaming.throttle import Throttle


class Diverged(Exception):
    """A generation that was taken over says something else than what people have already seen."""


class Run:
    """One generation that this process runs."""

    def __init__(self, generation: Generation, conversation_id: UUID, *, paint_interval_ms: float) -> None:
        self.generation_id = generation.pk
        self.conversation_id = conversation_id
        self.draft = Draft(generation.number)
        self.throttle: Throttle[bool] = Throttle(paint_interval_ms)
        self.shown: dict[str, str] = {}
        self.task: asyncio.Task[None] | None = None
        self.job: Job | None = None
        self.opening: asyncio.Task[Fired] | None = None
        self.pipeline: Pipeline | None = None
        self.reader: WireReader | None = None
        self.response_id = ""
        self.first_event_at: dt.datetime | None = None
        self.told = False
        self.taken_over = False
        self.saved_seq = 0
        self.progress = 0
        self.progress_at = time.monotonic()
        self.stopping: Reason | None = None
        self.ending = False

    def begin(self, endpoint: Endpoint, wire: Wire, job: Job, conf: Conf) -> None:
        """A stream was opened: from here on there is something to read. The gate is the one that was chosen when the
        generation was queued."""
        row = job.generation
        self.reader = wire.reader(profile(endpoint.profile))
        self.pipeline = Pipeline(
            self.reader,
            max_event_bytes=conf.max_event_bytes,
            max_chars=conf.max_answer_chars,
            gate=gates_of(job.flow, row.gate, row.gate_rule),
            framing=wire.framing,
        )

    @property
    def stream(self) -> Pipeline:
        """The stream that is being read; `begin` comes first."""
        if self.pipeline is None:
            raise RuntimeError("expected an open stream, got a run that has not begun")
        return self.pipeline

    @property
    def last_event(self) -> str | None:
        """The provider's cursor, None before the first event."""
        return self.reader.last_event if self.reader else None

    @property
    def is_open_there(self) -> bool:
        """Whether the provider has not said its last word, as far as this runner has heard."""
        return self.reader is None or not self.reader.finished

    def has_news_of_its_id(self) -> bool:
        """Whether the provider has named the response, and nobody has been told yet."""
        found = (self.reader.response_id if self.reader else None) or ""
        news, self.response_id = bool(found) and found != self.response_id, found or self.response_id
        return news

    def goes_on(self, ending: Ending) -> bool:
        """Whether the reply may still be written at the provider, so that reading on by its cursor makes sense."""
        if self.reader is None or self.stream.finished or not self.response_id:
            return False
        untouched = self.taken_over and self.reader.last_event is None
        return untouched or self.reader.close(ending).outcome is Outcome.open

    def restore(self, saved: Snapshot) -> None:
        """Go on where a lost runner stopped: its last checkpoint counts as painted, and is not painted again."""
        self.draft = Draft.restored(saved)
        self.saved_seq = saved.seq
        self.shown = {lane: self.draft.text(lane) for lane in LANES}

    def append(self, released: list[Append]) -> None:
        """Add released text to the draft. What a restored draft shows already must come again, to the letter."""
        for piece in released:
            text, shown = piece.text, self.shown.get(piece.lane, "")
            if shown:
                length = min(len(shown), len(text))
                if shown[:length] != text[:length]:
                    raise Diverged
                self.shown[piece.lane], text = shown[length:], text[length:]
            self.draft.append(piece.lane, text)

    def has_stalled(self, now: float, *, limit_s: float) -> bool:
        """Whether the open stream has brought nothing but comments and pings for too long."""
        # By the count: a cursor may move with pings, or stand still where only some events are numbered.
        if self.reader is None or self.reader.accepted != self.progress:
            self.progress = self.reader.accepted if self.reader else 0
            self.progress_at = now
        return now - self.progress_at > limit_s

    def excuse(self, slept_s: float) -> None:
        """A process that was frozen, or busy, could not see events come: that time is no silence of the provider's."""
        self.progress_at += slept_s

    def save(self) -> Save | None:
        """The checkpoint that is due, if the draft has grown since the last one."""
        if self.job is None or self.ending or self.draft.seq == self.saved_seq:
            return None
        self.saved_seq = self.draft.seq
        return Save(self.generation_id, self.job.generation.fence, self.draft.snapshot())
