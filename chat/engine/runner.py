"""The loop of one generation: claim, ask, read, paint, end.

Takes a generation's id and gives frames and, at the end, one verb's answer. It knows no table and no browser: verbs write,
the hub carries. Every database step is one crossing to the engine's own thread.
"""

import asyncio
import datetime as dt
import logging
import math
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

import stamina
from django.db import DatabaseError, InterfaceError

from chat import running
from chat.conf import Conf
from chat.drafts import DraftStore, Save
from chat.engine.hub import Hub
from chat.journal import Fired
from chat.models import Generation
from chat.providers import WIRES
from chat.providers.base import Endpoint, Wire
from chat.providers.profiles import profile
from chat.running import Ended, Job
from chat.streaming.draft import Draft
from chat.streaming.frames import Final, Turn
from chat.streaming.gates import GATES
from chat.streaming.outcome import Ending, Outcome, Reason, Verdict
from chat.streaming.pipeline import Append, Pipeline, WireReader
from chat.streaming.reading import Reading
from chat.streaming.throttle import Throttle
from chat.upstream import Lost, NotReached, Response, Silent, Upstream

log = logging.getLogger(__name__)
T = TypeVar("T")

END_ATTEMPTS = 6  # how often the end is written to a database that answers with an error, in rising steps

ENDED_BY_OTHERS = {Reason.cancelled, Reason.deleted, Reason.worker_lost, Reason.deadline}


class Refusal(Exception):
    """The provider did not open: a verdict, and how many seconds it asked us to wait, if it did."""

    def __init__(self, verdict: Verdict, retry_after_s: float | None = None) -> None:
        super().__init__(verdict.detail or str(verdict.reason))
        self.verdict = verdict
        self.retry_after_s = retry_after_s


class Superseded(Exception):
    """Someone else moved the row: a person stopped it, or the reaper took it for lost. Their end stands."""


class Run:
    """One generation that this process runs."""

    def __init__(self, generation: Generation, conversation_id: UUID, *, paint_interval_ms: float) -> None:
        self.generation_id = generation.pk
        self.conversation_id = conversation_id
        self.draft = Draft(generation.number)
        self.throttle: Throttle[bool] = Throttle(paint_interval_ms)
        self.task: asyncio.Task[None] | None = None
        self.job: Job | None = None
        self.pipeline: Pipeline | None = None
        self.reader: WireReader | None = None
        self.saved_seq = 0
        self.progress: str | None = None
        self.progress_at = time.monotonic()
        self.stopping: Reason | None = None
        self.ending = False

    def append(self, released: list[Append]) -> None:
        for piece in released:
            self.draft.append(piece.lane, piece.text)

    def has_stalled(self, now: float, *, limit_s: float) -> bool:
        """Whether the open stream has brought nothing but comments and pings for too long."""
        if self.reader is None or self.reader.last_event != self.progress:
            self.progress = self.reader.last_event if self.reader else None
            self.progress_at = now
        return now - self.progress_at > limit_s

    def save(self) -> Save | None:
        """The checkpoint that is due, if the draft has grown since the last one."""
        if self.job is None or self.ending or self.draft.seq == self.saved_seq:
            return None
        self.saved_seq = self.draft.seq
        return Save(self.generation_id, self.job.generation.fence, self.draft.snapshot())


class Parts(NamedTuple):
    """What a runner works with; one set per process."""

    conf: Conf
    owner: str
    db: Callable[..., Awaitable[Any]]
    upstream: Upstream
    endpoints: Callable[[], Mapping[str, Endpoint]]
    store: DraftStore
    hub: Hub


class Runner:
    """Runs generations, one task each."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts

    async def run(self, run: Run) -> None:
        """From claim to last frame. Whatever happens, the row is final or given back when this returns."""
        job: Job | None = await self.parts.db(running.claim, run.generation_id, owner=self.parts.owner)
        if job is None:
            return
        run.job = job
        self.parts.store.open(run.generation_id, run.draft)
        try:
            reading = await self._ask(run, job) if run.stopping is None else _stopped(run, run.stopping)
        except asyncio.CancelledError:
            if run.stopping is None:
                raise
            reading = _stopped(run, run.stopping)
        except Superseded:
            run.stopping = run.stopping or Reason.cancelled
            reading = _stopped(run, run.stopping)
        except Exception:
            log.exception("the runner of generation %s failed", run.generation_id)
            reading = _stopped(run, Reason.internal)
        run.ending = True
        await self._end(run, job, reading)

    # --- asking -------------------------------------------------------------------------------------------------
    async def _ask(self, run: Run, job: Job) -> Reading:
        """Open a stream and read it; while queued, ask again within bounds (`Retry-After` honoured)."""
        conf, row = self.parts.conf, job.generation
        endpoint = self.parts.endpoints().get(row.endpoint)
        if endpoint is None:
            detail = f"expected an endpoint that is set up, got {row.endpoint!r}"
            return of_verdict(Verdict(Outcome.failed, Reason.not_found, retryable=False, detail=detail))
        if row.automatic_retries:
            pause = conf.retry_backoff_s * 2 ** (row.automatic_retries - 1)
            await asyncio.sleep(pause * random.uniform(0.5, 1.0))  # noqa: S311 (jitter, not a secret)
        wire = WIRES[endpoint.wire]
        try:
            async for attempt in stamina.retry_context(
                on=self._wait_before_next,
                attempts=conf.request_attempts,
                timeout=None,
                wait_initial=conf.retry_backoff_s,
                wait_max=conf.retry_after_max_s,
                wait_jitter=conf.retry_backoff_s,
            ):
                with attempt:
                    return await self._request(run, job, endpoint, wire, number=attempt.num)
        except Refusal as refusal:
            return of_verdict(refusal.verdict)
        raise AssertionError("unreachable: the retry context returns or raises")

    def _wait_before_next(self, error: Exception) -> bool | float:
        """Whether to ask again, and after how many seconds if the provider said so."""
        if not isinstance(error, Refusal) or not error.verdict.retryable:
            return False
        if error.retry_after_s is None:
            return True
        return error.retry_after_s if error.retry_after_s <= self.parts.conf.retry_after_max_s else False

    async def _request(self, run: Run, job: Job, endpoint: Endpoint, wire: Wire, *, number: int) -> Reading:
        request = wire.request(job.prompt, endpoint=endpoint, model=job.generation.model)
        try:
            async with self.parts.upstream.open(request) as response:
                if response.is_event_stream:
                    return await self._read(run, job, response, endpoint, wire, number=number)
                body = await response.body(at_most=self.parts.conf.max_error_body_bytes)
                verdict = wire.http_error(response.status, dict(response.headers), body)
                if response.status // 100 == 2:
                    kind = response.headers.get("content-type", "no content type")[:80]
                    detail = f"expected an event stream, got {kind}; {verdict.detail}"
                    verdict = Verdict(
                        Outcome.failed, Reason.bad_response, verdict.provider_reason, False, detail
                    )
                raise Refusal(verdict, retry_after_s(response.headers.get("retry-after", "")))
        except NotReached as fault:
            detail = f"no answer from the provider: {fault}"
            raise Refusal(Verdict(Outcome.failed, Reason.connect_failed, None, True, detail)) from None

    # --- reading ------------------------------------------------------------------------------------------------
    async def _read(
        self, run: Run, job: Job, response: Response, endpoint: Endpoint, wire: Wire, *, number: int
    ) -> Reading:
        """Read the open stream to its evidence or its end. The `opened` move and the reading go on side by side, and
        the first paint comes before its own move: what a person waits for never waits for the database."""
        conf = self.parts.conf
        gate = GATES[job.flow.gate]
        reader = run.reader = wire.reader(profile(endpoint.profile))
        pipeline = run.pipeline = Pipeline(
            reader,
            max_event_bytes=conf.max_event_bytes,
            gate=lambda _kind: gate(),
            framing=wire.framing,
        )
        opening = asyncio.create_task(self._opened(run, job, wire.name, requests=number))
        first_event_at: dt.datetime | None = None
        told = False
        ending: Ending = "eof"
        try:
            async for chunk in response.chunks():
                if first_event_at is None:
                    first_event_at = dt.datetime.now(dt.UTC)
                released = pipeline.feed(chunk)
                if released:
                    run.append(released)
                    await self.paint_if_due(run)
                if pipeline.started and not told:
                    told = True
                    now = dt.datetime.now(dt.UTC)
                    _must_move(await opening)
                    times = {"first_event_at": first_event_at, "first_text_at": now}
                    _must_move(await self.parts.db(running.first_delta, job, **times))
                    await self._notify(run, job)
                if pipeline.finished or pipeline.fault is not None:
                    break
        except Lost:
            ending = "cut"
        except Silent:
            ending = "stalled"
        _must_move(await opening)
        run.append(pipeline.close(ending))
        if pipeline.started and not told:
            now = dt.datetime.now(dt.UTC)
            times = {"first_event_at": first_event_at or now, "first_text_at": now}
            _must_move(await self.parts.db(running.first_delta, job, **times))
        return pipeline.reading()

    async def _opened(self, run: Run, job: Job, wire: str, *, requests: int) -> Fired:
        fired: Fired = await self.parts.db(running.opened, job, wire=wire, requests=requests)
        if fired is Fired.MOVED and not run.ending:
            await self._notify(run, job)
        return fired

    async def _notify(self, run: Run, job: Job) -> None:
        """Tell every page where the generation stands now."""
        await self.parts.hub.publish(run.conversation_id, run.generation_id, [turn_notice(job.generation)])

    # --- painting -----------------------------------------------------------------------------------------------
    async def paint_if_due(self, run: Run) -> None:
        """New text: paint it now if the throttle says so; otherwise the tick of the process will."""
        if run.throttle.feed(True, time.monotonic()):
            await self.paint(run)

    async def paint(self, run: Run) -> None:
        frames = run.draft.paint()
        if frames:
            await self.parts.hub.publish(run.conversation_id, run.generation_id, frames)

    # --- ending -------------------------------------------------------------------------------------------------
    async def _end(self, run: Run, job: Job, reading: Reading) -> None:
        """Paint what is left, write the end, tell everyone. A queued run of a server that stops is given back."""
        run.throttle.close()
        await self.paint(run)
        if run.stopping is Reason.shutdown and run.pipeline is None:
            self.parts.store.drop(run.generation_id)
            await self.parts.db(running.release, job)
            return
        text = run.draft.snapshot()
        # What ended it already has its own move in the journal; the runner only hands in what it still knows.
        verb = running.wind_down if run.stopping in ENDED_BY_OTHERS else running.end
        for attempt in range(END_ATTEMPTS):
            try:
                ended = await self.parts.db(verb, job, reading, text)
                break
            except (DatabaseError, InterfaceError):
                log.exception("the end of generation %s could not be written", run.generation_id)
                await asyncio.sleep(0.1 * 2**attempt)
        else:  # the reaper ends it when the lease has run out; pages learn it then
            self.parts.store.drop(run.generation_id)
            return
        await self.tell_end(run.conversation_id, ended)

    async def tell_end(self, conversation_id: UUID, ended: Ended) -> None:
        """The last frame of a generation, kept for late readers, then the notice for pages that never saw it run."""
        row = ended.generation
        entry = self.parts.store.get(row.pk)
        final = final_frame(row, seq=entry.draft.seq + 1 if entry else 0, successor=ended.successor)
        if entry is not None:
            if entry.final is not None:
                return
            self.parts.store.close(row.pk, final, now=time.monotonic())
        await self.parts.hub.publish(conversation_id, row.pk, [final, turn_notice(row)])


def _must_move(fired: Fired) -> None:
    if fired is not Fired.MOVED:
        raise Superseded


def _stopped(run: Run, reason: Reason) -> Reading:
    """What had been read when the run was stopped, judged by who stopped it."""
    outcome = Outcome.failed if reason is Reason.internal else Outcome.incomplete
    verdict = Verdict(outcome, reason, retryable=False if outcome is Outcome.failed else None)
    if run.pipeline is None:
        # Nothing was opened: from `queued` only a failure leads out.
        return of_verdict(Verdict(Outcome.failed, reason, retryable=False))
    return of_verdict(verdict, so_far=run.pipeline.reading())


def of_verdict(verdict: Verdict, *, so_far: Reading | None = None) -> Reading:
    """A reading that ends with `verdict`, with what had been read before, if anything."""
    return Reading(
        outcome=verdict.outcome,
        reason=verdict.reason,
        provider_reason=verdict.provider_reason,
        retryable=verdict.retryable,
        detail=verdict.detail,
        answer=so_far.answer if so_far else "",
        reasoning_parts=so_far.reasoning_parts if so_far else [],
        refusal=so_far.refusal if so_far else "",
        tool_calls=[],
        response_id=so_far.response_id if so_far else None,
        usage=so_far.usage if so_far else None,
        last_event=so_far.last_event if so_far else None,
    )


def retry_after_s(value: str) -> float | None:
    """Seconds out of a `Retry-After` header: a number or an HTTP date (RFC 9110, 10.2.3); None if it says nothing."""
    value = value.strip()
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        pass
    else:
        return max(0.0, seconds) if math.isfinite(seconds) else None
    from email.utils import parsedate_to_datetime

    try:
        at = parsedate_to_datetime(value)
    except ValueError:
        return None
    if at.tzinfo is None:  # "-0000": a time in UTC that says nothing about its place
        at = at.replace(tzinfo=dt.UTC)
    return max(0.0, (at - dt.datetime.now(dt.UTC)).total_seconds())


def final_frame(row: Generation, *, seq: int, successor: Generation | None = None) -> Final:
    """The last frame of a generation; the page's own process adds the HTML for its reader."""
    return Final(
        generation=str(row.pk),
        handle=row.number,
        seq=seq,
        state=row.state,
        reason=row.reason or None,
        html="",
        successor=str(successor.pk) if successor else None,
    )


def turn_notice(row: Generation) -> Turn:
    """How a generation stands: unnumbered, and harmless when it comes twice."""
    return Turn(
        generation=str(row.pk),
        handle=row.number,
        parent=str(row.parent_id) if row.parent_id else None,
        state=row.state,
        reason=row.reason or None,
        attempt=row.attempt,
        retry_of=str(row.retry_of_id) if row.retry_of_id else None,
    )
