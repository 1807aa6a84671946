"""What happens to the process that runs a reply: frozen, killed, stopped, without a database, without room on the disk."""

import os
import signal
from pathlib import Path
from threading import Event

from tests.fakes.device import Device
from tests.fakes.provider import ScriptedProvider
from tests.fakes.script import DONE, FIN, Paced, T, play
from tests.served.conftest import serve, until

WORDS = tuple(T(f"w{n} ") for n in range(100))
NEVER = Event()


def frozen(pid: int, for_s: float) -> None:
    """SIGSTOP, real time, SIGCONT: the fault itself."""
    os.kill(pid, signal.SIGSTOP)
    NEVER.wait(for_s)
    os.kill(pid, signal.SIGCONT)


def test_who_was_frozen_reads_what_came_meanwhile_before_it_calls_the_provider_silent(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    """A laptop that sleeps, a machine that is paused: longer than every limit on silence, while the provider went on."""
    with serve(
        tmp_path, provider, GYMNASIA_IDLE_TIMEOUT_S="1", GYMNASIA_NO_PROGRESS_TIMEOUT_S="1.2"
    ) as server:
        ana = Device(server, "ana")
        provider.queue.append(play(Paced(WORDS, 25), FIN("stop"), DONE))
        started = ana.ask("frozen")
        until(server, started["generation"], "buffered")
        frozen(server.pid, 2.5)
        row = until(server, started["generation"], "confirmed", "incomplete", "failed")
        assert (row["state"], row["reason"]) == ("confirmed", "")
