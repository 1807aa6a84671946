"""The walk of a chaos run: people on a real server, its faults, and a log of what they were told.

Takes a plan and a folder; gives the log for the checker. It talks to the server by HTTP alone, as pages do, and only looks
into the database (reading) to see which conversations are still being written. Imports nothing of the product.
"""

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AsyncExitStack, closing
from pathlib import Path
from random import Random
from typing import Any

import aiohttp

from tests.chaos.checker import Entry, Report, judge
from tests.chaos.plan import PEOPLE, SLOTS, Run, Wave
from tests.chaos.provider import ChaosProvider
from tests.fakes import prepared
from tests.fakes.processes import ROOT, ServerProcess, environment, free_port

KNOBS: dict[str, float] = {
    "messages_per_hour": 0,
    "idle_timeout_s": 1.5,
    "no_progress_timeout_s": 2.5,
    "retry_after_max_s": 2,
    "retry_backoff_s": 0.1,
    "connect_timeout_s": 2,
    "lease_s": 2,
    "sweep_interval_s": 0.3,
    "checkpoint_interval_ms": 200,
}
"""Every clock of the product, turned down so that its end is seen soon."""

POLL_S = 0.05
PATIENCE_S = 60.0
"""How long a run is waited for; what is unfinished then is stuck, and the checker says so."""


class Walk:
    """One server, one provider, many people."""

    def __init__(self, folder: Path, provider: ChaosProvider, *, tell: Callable[[str], None]) -> None:
        self.folder, self.provider, self.tell = folder, provider, tell
        self.database = folder / "gymnasia.sqlite3"
        self.log: list[Entry] = [{"what": "knobs", **KNOBS}]
        self.peak = self.flying = 0
        self._port = free_port()
        self._slots = asyncio.Semaphore(SLOTS)
        self._up = asyncio.Event()
        self._people: list[list[aiohttp.ClientSession]] = []
        self._busy: set[str] = set()
        self._polls = 0
        self._polled = asyncio.Condition()

    # --- the server -----------------------------------------------------------------------------------------
    def _serve(self) -> ServerProcess:
        knobs = {f"GYMNASIA_{name.upper()}": str(value) for name, value in KNOBS.items()}
        return ServerProcess(
            self.folder,
            port=self._port,
            provider_url=self.provider.base_url,
            OPENAI_BASE_URL=self.provider.base_url,
            OPENAI_API_KEY="scripted",
            OPENAI_COMPATIBLE_MODELS="scripted-1",
            **knobs,
        )

    def _end(self) -> None:
        self.server.stop()  # whichever stands last

    def _note(self, what: str, **entry: Any) -> None:
        self.log.append({"what": what, **entry})

    async def run(self, waves: list[Wave]) -> Report:
        """Walk all waves, then have the database judged while the server still stands."""
        prepared.fill(self.folder)
        made = subprocess.run(  # noqa: ASYNC221 - nothing else runs yet
            [sys.executable, "-m", "tests.chaos.prepare", str(PEOPLE)],
            cwd=ROOT,
            env=environment(GYMNASIA_DATA=str(self.folder), GYMNASIA_LOCAL_MODEL="off"),
            stdout=subprocess.PIPE,
            check=True,
        )
        self.server = await asyncio.to_thread(self._serve)
        async with AsyncExitStack() as stack:
            stack.callback(self._end)
            await self._sign_in(stack, json.loads(made.stdout))
            self._ready()
            polling = asyncio.create_task(self._poll())
            for number, wave in enumerate(waves, 1):
                begun = time.monotonic()
                await self._wave(wave)
                took = time.monotonic() - begun
                name = wave.signal or "ordinary"
                self.tell(f"wave {number} of {len(waves)}: {len(wave.runs)} {name} runs in {took:.1f} s")
            polling.cancel()
            self.log += self.provider.log()
            lines = [json.dumps(entry, ensure_ascii=False) for entry in self.log]
            (self.folder / "chaos.jsonl").write_text("\n".join(lines) + "\n")
            return judge(self.database, self.log)

    def _ready(self) -> None:
        self._note("served", at=time.time())
        self._up.set()

    async def _disturb(self, wave: Wave) -> None:
        """What happens to the server in this wave; it serves again at the end."""
        await asyncio.sleep(wave.moment_s)
        self.tell(f"{wave.signal} with {self.flying} in flight")
        self._up.clear()
        if wave.signal == "frozen":
            os.kill(self.server.pid, signal.SIGSTOP)
            await asyncio.sleep(KNOBS["lease_s"] + Random(wave.runs[0].seed).uniform(-0.5, 1.0))
            os.kill(self.server.pid, signal.SIGCONT)
        else:
            await asyncio.to_thread(self.server.kill if wave.signal == "sigkill" else self.server.stop)
            self.server = await asyncio.to_thread(self._serve)
        self._ready()

    # --- people ---------------------------------------------------------------------------------------------
    async def _sign_in(self, stack: AsyncExitStack, people: list[list[str]]) -> None:
        """Each session opens the page once, which gives it its CSRF cookie."""
        for keys in people:
            sessions = []
            for key in keys:
                session = await stack.enter_async_context(
                    aiohttp.ClientSession(
                        self.server.url,
                        cookies={"sessionid": key},
                        cookie_jar=aiohttp.CookieJar(unsafe=True),  # an address instead of a name
                        connector=aiohttp.TCPConnector(limit=0, force_close=True),
                        timeout=aiohttp.ClientTimeout(total=30),
                    )
                )
                async with session.get("/") as page:
                    page.raise_for_status()
                sessions.append(session)
            self._people.append(sessions)

    async def _post(
        self, run: Run, path: str, fields: dict[str, str], *, other: bool = False, plain: bool = False
    ) -> tuple[int, Any]:
        """POST a form with its CSRF token; gives the status and the JSON, or where a plain form is sent to."""
        session = self._people[run.person][run.session ^ other]
        token = next(cookie.value for cookie in session.cookie_jar if cookie.key == "csrftoken")
        headers = {} if plain else {"Accept": "application/json"}
        form = {**fields, "csrfmiddlewaretoken": token}
        async with session.post(path, data=form, headers=headers, allow_redirects=False) as answer:
            if plain:
                return answer.status, answer.headers.get("Location", "")
            return answer.status, await answer.json(content_type=None)

    async def _send(self, run: Run) -> tuple[str, str]:
        """Ask, again and again where the server is away; gives the conversation and, for scripts, the generation."""
        for attempt in range(20):
            text = run.text + (f" Asked {attempt + 1} times." if attempt else "")
            self._note("tried", run=run.number, text=text)
            try:
                status, answer = await self._post(
                    run, "/", {"text": text, "model": run.model}, plain=run.plain
                )
            except (aiohttp.ClientError, TimeoutError):
                await asyncio.sleep(0.1)
                await self._up.wait()
                continue
            if status not in (201, 303):
                raise RuntimeError(f"run {run.number}: expected 201 or 303, got {status}: {answer}")
            self._note("accepted", run=run.number, text=text, status=status)
            if run.plain:
                return answer.rstrip("/").rpartition("/")[2], ""
            return answer["conversation"], answer["generation"]
        raise RuntimeError(f"run {run.number} was never accepted")

    async def _stop(self, run: Run, generation: str, after_s: float) -> None:
        """Press Stop on the other device."""
        await asyncio.sleep(after_s)
        _, answer = await self._post(run, f"/generations/{generation}/stop/", {}, other=True)
        self._note("stop", generation=generation, stopped=answer["stopped"])

    async def _one(self, run: Run, *, delay_s: float = 0.0) -> None:
        await asyncio.sleep(delay_s)
        async with self._slots:
            self._note("run", run=run.number, kind=run.kind)
            self.flying += 1
            self.peak = max(self.peak, self.flying)
            try:
                conversation, generation = await self._send(run)
                async with asyncio.timeout(PATIENCE_S):
                    await asyncio.gather(*(self._stop(run, generation, at) for at in run.stops()))
                    await self._until_quiet(conversation.replace("-", ""))
            except TimeoutError:
                self.tell(f"run {run.number} ({run.kind}) is not over after {PATIENCE_S:.0f} s")
            finally:
                self.flying -= 1

    async def _wave(self, wave: Wave) -> None:
        rng = Random(wave.runs[0].seed + wave.runs[0].number)
        async with asyncio.TaskGroup() as group:
            for run in wave.runs:
                group.create_task(self._one(run, delay_s=rng.uniform(0, 0.5)))
            if wave.signal:
                group.create_task(self._disturb(wave))

    # --- looking ----------------------------------------------------------------------------------------------
    async def _poll(self) -> None:
        """Which conversations have an unfinished generation, over and over."""
        query = (
            "SELECT conversation_id FROM chat_generation"
            " WHERE state NOT IN ('confirmed', 'cancelled', 'incomplete', 'failed', 'expired')"
        )
        while True:
            with closing(sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)) as connection:
                self._busy = {row[0] for row in connection.execute(query)}
            async with self._polled:
                self._polls += 1
                self._polled.notify_all()
            await asyncio.sleep(POLL_S)

    async def _until_quiet(self, conversation: str) -> None:
        """Wait for a look that began after now and finds nothing unfinished."""
        seen = self._polls
        async with self._polled:
            await self._polled.wait_for(lambda: self._polls > seen and conversation not in self._busy)
