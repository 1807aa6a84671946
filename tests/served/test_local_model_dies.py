"""The real local model is killed under a server that goes on: its reply ends with a reason, and the next one is answered."""

import os
import signal
from pathlib import Path

import psutil
import pytest

from tests.fakes.device import Device
from tests.fakes.processes import WatchedServer, get, wait_for
from tests.fakes.provider import ScriptedProvider
from tests.served.conftest import serve, until

pytestmark = pytest.mark.local_model


def model_of(server: WatchedServer) -> int | None:
    """The id of the model's process, a child of the server's."""
    for child in psutil.Process(server.pid).children():
        try:
            if "local_model_server" in " ".join(child.cmdline()):
                return child.pid
        except psutil.Error:  # it is just dying
            continue
    return None


def test_the_real_model_is_back_after_a_kill(tmp_path: Path, provider: ScriptedProvider) -> None:
    with serve(
        tmp_path,
        provider,
        GYMNASIA_LOCAL_MODEL="on",
        GYMNASIA_AUTOMATIC_RETRIES="0",
        OPENAI_COMPATIBLE_URL="",
        OPENAI_COMPATIBLE_MODELS="",
    ) as server:
        ana = Device(server, "ana")
        started = ana.ask("Write a very long story about a small boat.")
        until(server, started["generation"], "buffered", timeout_s=60)
        first = model_of(server)
        assert first is not None
        os.kill(first, signal.SIGKILL)
        row = until(server, started["generation"], "incomplete", "failed")
        assert (row["state"], row["reason"], bool(row["draft"])) == ("incomplete", "connection_lost", True)
        wait_for(lambda: model_of(server) not in (None, first), what="another process", timeout_s=20)
        wait_for(
            lambda: b'"local_model": "ready"' in get(server.port, "/readyz")[1],
            what="it is loaded",
            timeout_s=60,
        )
        again = ana.ask("Say hello in one short sentence.")
        row = until(server, again["generation"], "confirmed", "failed", "incomplete", timeout_s=90)
        assert (row["state"], row["endpoint"]) == ("confirmed", "local")
        [second] = [model_of(server)]
    assert second is not None
    wait_for(lambda: not psutil.pid_exists(second), what="the model ends with its server", timeout_s=6)
