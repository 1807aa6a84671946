"""The engine inside the web process: one loop, one tick, one thread for the database.

Verbs call `launch`, `stop` and `closed` from any thread after their commit; the loop's own thread does the rest. Tasks get
a fresh context: one started from a view would inherit that view's thread, and its database connection.
"""

import asyncio
import contextlib
import contextvars
import functools
import logging
import os
import secrets
import socket
import time
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

from django.db import DatabaseError, InterfaceError, close_old_connections, connection

from chat import drafts, launching, readers, running
from chat.conf import Conf
from chat.drafts import DraftStore
from chat.engine.discovery import discover_forever
from chat.engine.hub import Hub
from chat.engine.notices import turn_notice
from chat.engine.reaper import sweep_forever
from chat.engine.run import Run
from chat.engine.runner import Parts, Runner
from chat.models import Generation
from chat.providers.base import Endpoint
from chat.readers import Reader
from chat.running import Ended
from chat.streaming.frames import Turn
from chat.streaming.outcome import Reason
from chat.upstream import Upstream

log = logging.getLogger(__name__)

DRAIN_S = 8.0
DISCONNECT_S = 1.0
RESTART_S = 1.0


class EmbeddedEngine:
    """Runs generations as tasks of this process's event loop. `start` on the loop, `drain` before it stops."""

    def __init__(
        self, conf: Conf, *, store: DraftStore, endpoints: Callable[[], Mapping[str, Endpoint]]
    ) -> None:
        self.conf = conf
        self.store = store
        self.hub = Hub(store)
        self.owner = f"{socket.gethostname()[:40]}:{os.getpid()}:{secrets.token_hex(4)}"
        self.draining = False
        self._endpoints = endpoints
        self._runs: dict[UUID, Run] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        # One thread of its own: on the shared one a slow view delayed first tokens to 100 ms.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="engine-db")
        # What open pages ask for (joining, a finished reply's HTML) must not stand in the way of running replies.
        self._pages_thread = ThreadPoolExecutor(1, thread_name_prefix="pages-db")

    # --- life ---------------------------------------------------------------------------------------------------
    async def start(self) -> None:
        """Begin to serve on the running loop: the client is made, the tick, the saves, the reaper and the look run."""
        self._loop = asyncio.get_running_loop()
        self.upstream = Upstream(
            connect_timeout_s=self.conf.connect_timeout_s,
            idle_timeout_s=self.conf.idle_timeout_s,
            answer_timeout_s=self.conf.no_progress_timeout_s,
        )
        self._runner = Runner(
            Parts(self.conf, self.owner, self.db, self.upstream, self._endpoints, self.store, self.hub)
        )
        await self.db(_connect)
        launching.register_engine(self)
        self._keep(self._tick_forever)
        self._keep(self._save_forever)
        self._keep(self._look_forever)
        self._keep(lambda: discover_forever(self.upstream))
        self._keep(self._end_what_was_left_open)
        self._keep(
            lambda: sweep_forever(
                self.db,
                interval_s=self.conf.sweep_interval_s,
                running_here=lambda: set(self._runs),
                ended=self._ended,
                orphan=self.launch,
            )
        )

    async def drain(self) -> None:
        """Stop: own runs end at once and say why, queued ones are given back, pages are sent away, the rest is cancelled."""
        self.draining = True
        launching.unregister_engine(self)
        for run in list(self._runs.values()):
            self._interrupt(run, Reason.shutdown)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.idle(), DRAIN_S)
        await self.hub.dismiss()  # after the last frames: everyone has been told how their reply ended
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.upstream.aclose()
        for disconnecting in (self.db(_disconnect), self.db_for_pages(_disconnect)):
            # A thread that is still at work closes nothing: it ends with the process.
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(disconnecting, DISCONNECT_S)
        self._thread.shutdown(wait=False)
        self._pages_thread.shutdown(wait=False)

    async def idle(self) -> None:
        """Wait until nothing runs here."""
        while self._runs:
            await asyncio.wait([run.task for run in self._runs.values() if run.task is not None])

    async def db(self, verb: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call a verb on the engine's own database thread; verbs run there one after the other."""
        call = functools.partial(_on_thread, verb, *args, **kwargs)
        return await self._loop.run_in_executor(self._thread, call)

    async def db_for_pages(self, verb: Callable[..., Any], *args: Any) -> Any:
        """The same for what pages read, on a thread beside it."""
        return await self._loop.run_in_executor(
            self._pages_thread, functools.partial(_on_thread, verb, *args)
        )

    def _keep(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run a loop of the process for as long as the process lives: a fault of ours is told, and it goes on."""

        async def forever() -> None:
            while True:
                try:
                    await work()
                    return
                except Exception:
                    log.exception("a loop of the engine failed and begins again")
                    await asyncio.sleep(RESTART_S)

        self._spawn(forever())

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = self._loop.create_task(work, context=contextvars.Context())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    # --- what verbs ask for, from any thread ------------------------------------------------------------------------
    def launch(self, generation: Generation) -> None:
        self._loop.call_soon_threadsafe(self._launch, generation)

    def stop(self, generation: Generation) -> None:
        self._loop.call_soon_threadsafe(lambda: self._spawn(self._ended(Ended(generation))))

    def closed(self, conversation_id: UUID) -> None:
        self._loop.call_soon_threadsafe(lambda: self._spawn(self.hub.close(conversation_id)))

    def signed_out(self, session_key: str) -> None:
        def is_out(reader: Reader) -> bool:
            return reader.session_key == session_key

        self._loop.call_soon_threadsafe(lambda: self._spawn(self.hub.sign_out(is_out)))

    def _launch(self, generation: Generation) -> None:
        if self.draining or generation.pk in self._runs or generation.conversation_id is None:
            return
        run = self._runs[generation.pk] = Run(
            generation, generation.conversation_id, paint_interval_ms=self.conf.paint_interval_ms
        )
        # Not the row: the one that a view made holds its request, with everything on it, for as long as it is held.
        run.task = self._spawn(self._run(run, turn_notice(generation)))

    async def _run(self, run: Run, notice: Turn) -> None:
        try:
            await self.hub.publish(run.conversation_id, run.generation_id, [notice])
            await self._runner.run(run)
        except (DatabaseError, InterfaceError):
            log.exception("generation %s is left to the reaper", run.generation_id)
        finally:
            self._runs.pop(run.generation_id, None)

    def _interrupt(self, run: Run, reason: Reason) -> None:
        """Break off the run's task where it waits, unless it is already writing its end. A run that is just taking
        its lease is left to find `stopping` itself: the lease may be taken by the time a cancellation arrives."""
        if run.task is None or run.ending or run.stopping is not None:
            return
        run.stopping = reason
        if run.job is not None:
            run.task.cancel()

    async def _ended(self, ended: Ended) -> None:
        """A row was ended by someone else than its runner: stop the runner, if it is ours, and tell the pages."""
        row = ended.generation
        run = self._runs.get(row.pk)
        if run is not None:
            self._interrupt(run, Reason(row.reason))
        if run is not None and run.job is not None:
            return  # it tells its end itself
        if row.conversation_id is not None:
            await self._runner.tell_end(row.conversation_id, ended)
        await self._runner.cancel_at_provider(row)

    async def _end_what_was_left_open(self) -> None:
        """Once: what a process that was killed had no time to end at its provider."""
        for row in await self.db(running.left_open):
            await self._runner.cancel_at_provider(row)

    # --- the clock of the process -----------------------------------------------------------------------------------
    async def _tick_forever(self) -> None:
        """Paint every draft that has something new, once per interval. Under load the interval stretches, not the delay."""
        shortest, longest = self.conf.paint_interval_ms / 1000, self.conf.paint_interval_max_ms / 1000
        pause = shortest
        while True:
            await asyncio.sleep(pause)
            begun = time.monotonic()
            for run in list(self._runs.values()):
                if run.throttle.tick(begun):
                    await self._runner.paint(run)
            took = time.monotonic() - begun
            pause = min(longest, max(shortest - took, took))

    async def _save_forever(self) -> None:
        """Once per interval: all checkpoints that are due in one transaction, all leases in another. Half-way between, what
        other processes have ended is let go, so that a stop reaches its provider within a second wherever it was pressed."""
        pause = self.conf.checkpoint_interval_ms / 2000
        while True:
            await self._pause(pause)
            if self._runs:
                await self._let_go(running.held)
            await self._pause(pause)
            now = time.monotonic()
            self.store.purge(now=now, keep_s=self.conf.store_keep_s)
            runs = [run for run in self._runs.values() if run.job is not None]
            if not runs:
                continue
            for run in runs:
                if run.has_stalled(now, limit_s=self.conf.no_progress_timeout_s):
                    self._interrupt(run, Reason.stalled)
            await self._let_go(_save_and_renew, [save for run in runs if (save := run.save())])

    async def _pause(self, pause_s: float) -> None:
        begun = time.monotonic()
        await asyncio.sleep(pause_s)
        overslept_s = time.monotonic() - begun - pause_s
        for run in self._runs.values():
            run.excuse(overslept_s)

    async def _let_go(self, verb: Callable[..., set[UUID]], *args: Any) -> None:
        """Call a verb that tells what this process still holds; what it does not is run here no more."""
        runs = [run for run in self._runs.values() if run.job is not None]
        try:
            held: set[UUID] = await self.db(verb, self.owner, *args)
        except (DatabaseError, InterfaceError):
            log.exception("drafts could not be saved; tried again in a moment")
            return
        for run in runs:
            if run.generation_id not in held and run.task is not None and not run.task.done():
                self._interrupt(run, Reason.worker_lost)

    async def _look_forever(self) -> None:
        """Compare open pages with the stored state. Whose session or conversation has ended, by whatever process, is sent
        away; an end that was lost on its way is sent again."""
        while True:
            await asyncio.sleep(self.conf.look_interval_s)
            reading, shown = self.hub.readers(), self.hub.conversations()
            if not shown:
                continue
            watched = self.hub.unfinished() - self._runs.keys()
            try:
                admitted, standing, rows = await self.db_for_pages(_look, reading, shown, watched)
            except (DatabaseError, InterfaceError):
                log.exception("open pages could not be compared; tried again in a moment")
                continue
            # Who has come since is in neither set.
            await self.hub.sign_out((reading - admitted).__contains__)
            for conversation_id in shown - standing:
                await self.hub.close(conversation_id)
            for row in rows:
                await self.hub.look(row)


def _connect() -> None:
    connection.ensure_connection()


def _disconnect() -> None:
    connection.close()  # each thread has its own: the name must be looked up there


def _look(
    reading: set[Reader], shown: set[UUID], watched: set[UUID]
) -> tuple[set[Reader], set[UUID], list[Generation]]:
    rows = Generation.objects.filter(pk__in=watched).exclude(conversation=None)
    return readers.admitted(reading), readers.standing(shown), list(rows)


def _save_and_renew(owner: str, saves: list[drafts.Save]) -> set[UUID]:
    drafts.save(saves)
    return running.renew(owner)


def _on_thread(verb: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The connection stays open between calls; one that failed is looked at before the next."""
    try:
        return verb(*args, **kwargs)
    except (DatabaseError, InterfaceError):
        close_old_connections()
        raise
