"""The loop of one generation: claim, ask, read, paint, end.

Takes a generation's id and gives frames and, at the end, one verb's answer. It knows no table and no browser: verbs write,
the hub carries. Every database step is one crossing to the engine's own thread.
"""

import asyncio
import datetime as dt
import itertools
import logging
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple
from uuid import UUID

import msgspec
import stamina
from django.db import DatabaseError, InterfaceError, OperationalError

from chat import planning, running
from chat.conf import Conf
from chat.drafts import DraftStore
from chat.engine import cancelling
from chat.engine.hub import Hub
from chat.engine.notices import final_frame, turn_notice
from chat.engine.run import Diverged, Run
from chat.journal import Fired
from chat.models import Generation
from chat.providers import WIRES
from chat.providers.base import Endpoint, ResumableWire, Wire
from chat.running import Ended, Job
from chat.states.generation import State
from chat.streaming.outcome import Ending, Outcome, Reason, Verdict
from chat.streaming.reading import Reading, of_verdict, without
from chat.upstream import Garbled, Lost, NotReached, Response, Silent, Upstream

log = logging.getLogger(__name__)
stamina.instrumentation.set_on_retry_hooks(
    []
)  # a retry is the journal's business: its row counts the requests

END_ATTEMPTS = 6  # how often an end that the database refuses is written again, in rising steps
OUTAGE_PAUSE_S = (
    3.0  # how long a database that is locked, full or away is left alone at most before it is asked again
)
OUTAGE = (OperationalError, InterfaceError)
ENDED_BY_OTHERS = {Reason.cancelled, Reason.deleted, Reason.worker_lost, Reason.deadline}


class Refusal(Exception):
    """The provider did not open: a verdict, and how many seconds it asked us to wait, if it did."""

    def __init__(self, verdict: Verdict, retry_after_s: float | None = None) -> None:
        super().__init__(verdict.detail or str(verdict.reason))
        wish = (
            f"; asked to wait {retry_after_s:.0f} s" if retry_after_s else ""
        )  # `replies/endings.py` reads it
        self.verdict = msgspec.structs.replace(verdict, detail=verdict.detail + wish)
        self.retry_after_s = retry_after_s


class Superseded(Exception):
    """Someone else moved the row: a person stopped it, or the reaper took it for lost. Their end stands."""


class Parts(NamedTuple):
    """What a runner works with; one set per process."""

    conf: Conf
    owner: str
    db: Callable[..., Awaitable[Any]]
    upstream: Upstream
    endpoints: Callable[[], Mapping[str, Endpoint]]
    store: DraftStore
    hub: Hub


class Source(NamedTuple):
    """Where a reply comes from."""

    endpoint: Endpoint
    wire: Wire


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
        if job.saved is not None:
            run.restore(job.saved)
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
        except Diverged:
            reading = _stopped(run, Reason.divergent)
        except Exception:
            log.exception("the runner of generation %s failed", run.generation_id)
            reading = _stopped(run, Reason.internal)
        run.ending = True
        await self._end(run, job, self._without_key(job, reading))

    def _without_key(self, job: Job, reading: Reading) -> Reading:
        """What a provider says of itself is kept; should it echo our key, in whatever place, that is not."""
        endpoint = self.parts.endpoints().get(job.generation.endpoint)
        key = endpoint.key.reveal() if endpoint and endpoint.key else ""
        return without(reading, key) if key else reading

    # --- asking -------------------------------------------------------------------------------------------------
    async def _ask(self, run: Run, job: Job) -> Reading:
        """Open a stream and read it; while queued, ask again within bounds (`Retry-After` honoured)."""
        conf, row = self.parts.conf, job.generation
        endpoint = self.parts.endpoints().get(row.endpoint)
        if endpoint is None:
            detail = f"expected an endpoint that is set up, got {row.endpoint!r}"
            return of_verdict(Verdict(Outcome.failed, Reason.not_found, retryable=False, detail=detail))
        source = Source(endpoint, WIRES[endpoint.wire])
        if row.state != State.queued:
            return await self._take_over(run, job, source)
        if row.automatic_retries:
            pause = conf.retry_backoff_s * 2 ** (row.automatic_retries - 1)
            await asyncio.sleep(pause * random.uniform(0.5, 1.0))  # noqa: S311 (jitter, not a secret)
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
                    return await self._request(run, job, source, number=attempt.num)
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

    async def _request(self, run: Run, job: Job, source: Source, *, number: int) -> Reading:
        job.generation.wire, job.generation.requests = source.wire.name, number
        prompt = planning.asked(job.prompt, source.endpoint) if job.flow.is_plan else job.prompt
        request = source.wire.request(prompt, endpoint=source.endpoint, model=job.generation.model)
        try:
            async with self.parts.upstream.open(request) as response:
                if not response.is_event_stream:
                    raise await self._refusal(response, source.wire)
                run.begin(source.endpoint, source.wire, job, self.parts.conf)
                # The move and the reading go on side by side: a first text never waits for the database.
                run.opening = asyncio.create_task(self._opened(run, job, source.wire.name, requests=number))
                ending = await self._consume(run, job, response)
        except NotReached as fault:
            detail = f"no answer from the provider: {fault}"
            raise Refusal(Verdict(Outcome.failed, Reason.connect_failed, None, True, detail)) from None
        except Garbled as fault:  # it has arrived there, and a second one may cost a second time
            detail = f"expected an HTTP answer, got none that can be read: {fault}"
            raise Refusal(Verdict(Outcome.failed, Reason.bad_response, None, False, detail)) from None
        return await self._conclude(run, job, source, ending)

    async def _refusal(self, response: Response, wire: Wire) -> Refusal:
        """What an answer means that is no event stream."""
        body = await response.body(at_most=self.parts.conf.max_error_body_bytes)
        verdict = wire.http_error(response.status, dict(response.headers), body)
        if response.status // 100 == 2:
            detail = f"expected an event stream, got {response.kind}; {verdict.detail}"
            verdict = Verdict(Outcome.failed, Reason.bad_response, verdict.provider_reason, False, detail)
        wait_s = response.retry_after_s
        return Refusal(verdict, verdict.retry_after_s if wait_s is None else wait_s)

    # --- reading ------------------------------------------------------------------------------------------------
    async def _consume(self, run: Run, job: Job, response: Response) -> Ending:
        """Read one body to its evidence or its end. The first paint comes before its own move."""
        pipeline = run.stream
        try:
            async for chunk in response.chunks():
                run.first_event_at = run.first_event_at or dt.datetime.now(dt.UTC)
                released = pipeline.feed(chunk)
                if released:
                    run.append(released)
                    await self.paint_if_due(run)
                if pipeline.started and not run.told:
                    await self._tell_first_text(run, job)
                if run.has_news_of_its_id() and job.generation.settings.get("background"):
                    await self._written(running.note_response, job, run.response_id)
                if pipeline.finished:
                    break
        except Lost:
            return "cut"
        except Silent:
            return "stalled"
        return "eof"

    async def _conclude(self, run: Run, job: Job, source: Source, ending: Ending) -> Reading:
        ending = await self._go_on(run, job, source, ending)
        await _settled(run)
        run.append(run.stream.close(ending))
        if run.stream.started and not run.told:
            await self._tell_first_text(run, job)
        reading = run.stream.reading()
        if reading.confirmable:
            # What is still held gets its check, and is shown with the answer that it becomes, or never: in no paint.
            run.stream.release()
            reading = run.stream.reading()
        if reading.outcome is Outcome.open:  # it may still run there, but it cannot be reached from here
            reason = reading.reason or Reason.connection_lost
            return of_verdict(Verdict(Outcome.incomplete, reason), so_far=reading)
        return reading

    # --- going on by a cursor -----------------------------------------------------------------------------------
    async def _go_on(self, run: Run, job: Job, source: Source, ending: Ending) -> Ending:
        """Where the provider's own cursor proves continuity, read on after what was accepted: the same generation."""
        failures = 0
        while isinstance(source.wire, ResumableWire) and run.goes_on(ending):
            if failures >= self.parts.conf.resume_attempts:
                break
            if failures:
                pause = self.parts.conf.retry_backoff_s * 2 ** (failures - 1)
                await asyncio.sleep(pause * random.uniform(0.5, 1.0))  # noqa: S311 (jitter)
            failures += 1
            seen = run.last_event
            request = source.wire.resume_request(
                endpoint=source.endpoint, response_id=run.response_id, last_event=seen
            )
            try:
                async with self.parts.upstream.open(request) as response:
                    if not response.is_event_stream:
                        refusal = await self._refusal(response, source.wire)
                        if refusal.verdict.retryable:
                            continue
                        break
                    run.stream.reconnect()
                    ending = await self._consume(run, job, response)
            except (NotReached, Garbled):
                continue
            if run.last_event != seen:
                failures = 0
        return ending

    async def _take_over(self, run: Run, job: Job, source: Source) -> Reading:
        """A lost runner's generation that goes on at its provider: read again from the first event, what people have
        seen of it must come again to the letter, and the rest is appended."""
        run.told = job.generation.state != State.received
        run.begin(source.endpoint, source.wire, job, self.parts.conf)
        run.response_id = job.generation.provider_response_id
        run.taken_over = True
        reading = await self._conclude(run, job, source, "cut")
        if reading.reason is Reason.connection_lost and run.last_event is None:
            return of_verdict(Verdict(Outcome.incomplete, Reason.worker_lost), so_far=reading)
        return reading

    async def cancel_at_provider(self, row: Generation) -> None:
        """Have the provider end what runs there without a connection, and keep what it answers, apart from our end."""
        endpoint = self.parts.endpoints().get(row.endpoint)
        if endpoint is None:
            return
        answers = cancelling.answers(
            row, endpoint, self.parts.upstream, backoff_s=self.parts.conf.retry_backoff_s
        )
        async for answer in answers:
            await self.parts.db(running.note_provider_cancel, row, answer)

    # --- moving and telling -------------------------------------------------------------------------------------
    async def _written(self, verb: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call a verb until the database takes it. One that is locked, full or being restarted costs no reply: this process
        never reaps what it runs, and where another one did meanwhile, the verb says so."""
        for attempt in itertools.count():
            try:
                return await self.parts.db(verb, *args, **kwargs)
            except OUTAGE:
                log.exception("the database is away; %s is tried again", verb.__name__)
                await asyncio.sleep(min(OUTAGE_PAUSE_S, 0.1 * 2**attempt))
        raise AssertionError("unreachable: the count has no end")

    async def _opened(self, run: Run, job: Job, wire: str, *, requests: int) -> Fired:
        fired: Fired = await self._written(running.opened, job, wire=wire, requests=requests)
        if fired is Fired.MOVED and not run.ending:
            await self._notify(run, job)
        return fired

    async def _tell_first_text(self, run: Run, job: Job) -> None:
        run.told = True
        now = dt.datetime.now(dt.UTC)
        await _settled(run)
        times = {"first_event_at": run.first_event_at or now, "first_text_at": now}
        _must_move(await self._written(running.first_delta, job, **times))
        await self._notify(run, job)

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
        """Paint what is left, write the end, tell everyone. What is queued, or goes on at its provider, is
        given back by a server that stops."""
        run.throttle.close()
        await self.paint(run)
        if run.opening is not None:  # the move that came before, which an outage may have held up
            await asyncio.wait([run.opening])
        text = run.draft.snapshot()
        if run.stopping is Reason.shutdown and (run.pipeline is None or run.goes_on("cut")):
            self.parts.store.drop(run.generation_id)
            if run.response_id:  # noting it may have been interrupted, and without it nobody can go on
                await self.parts.db(running.note_response, job, run.response_id)
            await self.parts.db(running.release, job, text)
            return
        # What ended it already has its own move in the journal; the runner only hands in what it still knows.
        verb = running.wind_down if run.stopping in ENDED_BY_OTHERS else running.end
        for attempt in range(END_ATTEMPTS):
            try:
                ended = await self._written(verb, job, reading, text)
                break
            except DatabaseError:
                log.exception("the end of generation %s could not be written", run.generation_id)
                await asyncio.sleep(0.1 * 2**attempt)
        else:  # the reaper ends it when the lease has run out; pages learn it then
            self.parts.store.drop(run.generation_id)
            return
        await self.tell_end(run.conversation_id, ended)
        # However it ended here, nobody will read what still comes; unless another runner goes on with it.
        if run.is_open_there:
            await self.cancel_at_provider(ended.generation)

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


async def _settled(run: Run) -> None:
    """Wait until the opening is written. Shielded: who is interrupted while waiting must not take the move along, or what
    people have seen text of would end as never opened."""
    if run.opening is not None:
        _must_move(await asyncio.shield(run.opening))


def _must_move(fired: Fired) -> None:
    if fired is not Fired.MOVED:
        raise Superseded


def _stopped(run: Run, reason: Reason) -> Reading:
    """What had been read when the run was stopped, judged by who stopped it."""
    outcome = Outcome.failed if reason in {Reason.internal, Reason.divergent} else Outcome.incomplete
    verdict = Verdict(outcome, reason, retryable=False if outcome is Outcome.failed else None)
    if run.pipeline is None:
        # Nothing was opened: from `queued` only a failure leads out.
        return of_verdict(Verdict(Outcome.failed, reason, retryable=False))
    return of_verdict(verdict, so_far=run.pipeline.reading())
