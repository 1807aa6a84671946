"""Starts the real server and the scripted provider as processes of their own, and ends them by their own ids.

Takes a folder for data and logs, gives running children on free loopback ports. Used by browser walks and
benches: they test what a person runs, not an application object in the test's process. Knows no page and no
model.
"""

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self, TypeVar

from tests.fakes import prepared

T = TypeVar("T")
ROOT = Path(__file__).resolve().parents[2]
PRIVATE = ("_API_KEY", "_BASE_URL", "_URL", "_FILE")
"""Ends of the environment names that would point a test at something outside; they are not handed on."""

HOLDS = "holds: "
"""How a watched server's lines about itself begin."""


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_for(ask: Callable[[], T], *, what: str, timeout_s: float = 20, step_s: float = 0.02) -> T:
    """Ask until the answer is true, in bounded steps; TimeoutError says what was waited for."""
    end = time.monotonic() + timeout_s
    while True:
        if answer := ask():
            return answer
        if time.monotonic() > end:
            raise TimeoutError(f"{what}: not within {timeout_s} s; last answer {answer!r}")
        time.sleep(step_s)


def get(port: int, path: str, *, timeout_s: float = 5) -> tuple[int, bytes]:
    """Status and body of a GET; status 0 where nobody listens."""
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout_s)
    try:
        client.request("GET", path)
        answer = client.getresponse()
        return answer.status, answer.read()
    except OSError:
        return 0, b""
    finally:
        client.close()


class Child:
    """One process whose output goes to a file; the end of the `with` ends it and all that it started."""

    def __init__(self, *arguments: str, log: Path, environ: Mapping[str, str] | None = None) -> None:
        self.log = log
        with log.open("ab") as out:
            # A session of its own: its group can be ended without touching any other process.
            self.process = subprocess.Popen(
                [sys.executable, *arguments],
                cwd=ROOT,
                env=environment(**(environ or {})),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        return self.process.pid

    def output(self) -> str:
        """All that it has printed so far."""
        return self.log.read_text(errors="replace")

    def alive(self) -> bool:
        """True; raises with the output if it has ended."""
        if (code := self.process.poll()) is not None:
            raise RuntimeError(f"{self.log.name} ended with {code}:\n{self.output()[-4000:]}")
        return True

    def first_line(self) -> dict[str, Any]:
        """The JSON object that it prints first, waited for."""
        wait_for(lambda: self.alive() and "\n" in self.output(), what=f"the first line of {self.log.name}")
        line: dict[str, Any] = json.loads(self.output().split("\n", 1)[0])
        return line

    def kill(self) -> None:
        """`kill -9`, the process alone: what it leaves behind is part of the test."""
        self.process.kill()
        self.process.wait(10)

    def stop(self, *, timeout_s: float = 15) -> int:
        """SIGTERM, then SIGKILL to its group if it does not hear; gives the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout_s)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        return self.process.wait(10)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.stop()
        if kind is not None:
            # The folder of the log goes with the test; what the process said is the first thing to look at.
            sys.stderr.write(f"--- {self.log.name} ---\n{self.output()[-4000:]}\n")


def environment(**more: str) -> dict[str, str]:
    """This process's environment without keys and addresses, with `more`."""
    kept = {name: value for name, value in os.environ.items() if not name.endswith(PRIVATE)}
    for name in ("PORT", "DJANGO_SETTINGS_MODULE"):
        kept.pop(name, None)
    return {**kept, "PYTHONUNBUFFERED": "1", **more}


class ProviderProcess(Child):
    """The scripted provider (`tests.fakes.provider`), steered by words in the user's message."""

    def __init__(self, folder: Path, *, rate: float = 100) -> None:
        log = folder / f"provider-{time.monotonic_ns()}.log"
        super().__init__("-m", "tests.fakes.provider", "--rate", str(rate), log=log)
        self.port: int = self.first_line()["port"]
        self.base_url = f"http://127.0.0.1:{self.port}/v1"

    def requests(self) -> list[dict[str, Any]]:
        """The records of all chat requests so far, in order (`tests.fakes.provider.Record`)."""
        records: list[dict[str, Any]] = json.loads(get(self.port, "/requests")[1])
        return records

    def go_on(self) -> None:
        """Let the replies that are held (`held`, `mull`) go on to their end."""
        get(self.port, "/go")


class ServerProcess(Child):
    """`manage.py serve` on a data folder; ready when `/readyz` says so.

    It has a system prompt of its own, and so shows each word at once: scripts stream words, and the coach shows whole
    sentences. `GYMNASIA_SYSTEM_PROMPT=""` brings the coach.
    """

    program = ("manage.py", "serve")

    def __init__(self, data: Path, *, port: int = 0, provider_url: str = "", **environ: str) -> None:
        self.data, self.port = data, port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        settings = {
            "GYMNASIA_DATA": str(data),
            "GYMNASIA_LOCAL_MODEL": "off",
            "GYMNASIA_SYSTEM_PROMPT": "Answer.",
            "GYMNASIA_SIGNUP_RATE": "1000/m/ip",  # every walk signs up, all from one address
            "GYMNASIA_MESSAGES_PER_HOUR": "0",
            "PORT": str(self.port),
        }
        if provider_url:
            settings["OPENAI_COMPATIBLE_URL"] = provider_url
        prepared.fill(data)
        super().__init__(*self.program, log=data / "serve.log", environ={**settings, **environ})
        try:
            wait_for(self.ready, what="/readyz", timeout_s=60)
        except BaseException:
            self.stop()
            raise

    def ready(self) -> bool:
        """Whether it answers 200 on `/readyz`; raises if it has ended."""
        return self.alive() and get(self.port, "/readyz")[0] == 200


class WatchedServer(ServerProcess):
    """The same, from `tests.fakes.watched`: it tells what it holds."""

    program = ("-m", "tests.fakes.watched")

    def holds(self) -> dict[str, int]:
        """How many listeners, tasks and threads there are in it at this moment."""
        before = self.output().count(HOLDS)
        self.process.send_signal(signal.SIGUSR1)
        wait_for(lambda: self.alive() and self.output().count(HOLDS) > before, what="what it holds")
        line = self.output().rpartition(HOLDS)[2]
        told: dict[str, int] = json.loads(line.partition("\n")[0])
        return told
