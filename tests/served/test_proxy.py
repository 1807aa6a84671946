"""Case 37: a real nginx in front with what it comes with, plus the upgrade: silences, two in series, and no upgrade at all.

The times are the real ones divided by about twelve: nginx cuts a line that is silent for five seconds instead of sixty, the
server's heart beats every second or two, the model says nothing for seven.
"""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.fakes.device import Device
from tests.fakes.processes import WatchedServer, free_port, get, wait_for
from tests.fakes.provider import ScriptedProvider
from tests.fakes.script import DONE, FIN, T, Wait, play
from tests.served.conftest import FINALS, generation, serve

NGINX = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
pytestmark = pytest.mark.skipif(NGINX is None, reason="nginx is not installed")

CONF = """
daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 256; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  map $http_upgrade $connection_upgrade {{ default upgrade; '' close; }}
  server {{
    listen 127.0.0.1:{port};
    location / {{
      proxy_pass http://127.0.0.1:{target};
      proxy_set_header Host $http_host;
      proxy_read_timeout 5s;
      {upgrade}
    }}
  }}
}}
"""
UPGRADE = """
      proxy_http_version 1.1;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $connection_upgrade;
"""


@contextmanager
def nginx(folder: Path, target: int, *, upgrade: bool = True) -> Iterator[int]:
    """A proxy before the port `target`; gives its own."""
    assert NGINX is not None
    folder.mkdir()
    port = free_port()
    text = CONF.format(folder=folder, port=port, target=target, upgrade=UPGRADE if upgrade else "")
    (folder / "nginx.conf").write_text(text)
    with (folder / "out.log").open("wb") as out:
        process = subprocess.Popen(
            [NGINX, "-p", str(folder), "-c", "nginx.conf", "-e", f"{folder}/error.log"],
            stdout=out,
            stderr=out,
        )
    try:
        wait_for(lambda: get(port, "/healthz")[0] == 200, what=f"nginx: {(folder / 'out.log').read_text()}")
        yield port
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(10)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, provider: ScriptedProvider) -> Iterator[WatchedServer]:
    with serve(tmp_path_factory.mktemp("behind"), provider, GYMNASIA_HEARTBEAT_S="1") as running:
        yield running


@pytest.fixture(scope="module")
def ana(server: WatchedServer) -> Device:
    return Device(server, "ana")


SILENT = play(T("Before. "), Wait(7000), T("After."), FIN("stop"), DONE, hold_ms=7000)


def test_case_37_a_socket_outlives_silences_that_are_longer_than_the_proxys_patience(
    server: WatchedServer, provider: ScriptedProvider, ana: Device, tmp_path: Path
) -> None:
    """Before the first token and in the middle. The line is the same from beginning to end, and every word comes once."""
    with ExitStack() as stack:
        port = server.port
        for number in range(2):
            port = stack.enter_context(nginx(tmp_path / f"nginx-{number}", port))
        provider.queue.append(SILENT)
        started = ana.ask("silent behind two")
        page = stack.enter_context(ana.through(port).follow(started["conversation"]))
        final = page.to_the_end(timeout_s=30)
        assert (final["state"], page.text, page.gaps) == ("confirmed", "Before. After.", 0)


def test_case_37_events_are_neither_held_back_nor_cut_by_a_proxy_that_knows_no_upgrade(
    server: WatchedServer, provider: ScriptedProvider, ana: Device, tmp_path: Path
) -> None:
    """The fallback: a stock proxy buffers, unless the response says that it may not; heartbeats keep it open."""
    with nginx(tmp_path / "nginx", server.port, upgrade=False) as port:
        provider.queue.append(SILENT)
        started = ana.ask("events behind one")
        seen: list[str] = []
        for piece in ana.through(port).events(started["conversation"]):
            seen.append(piece)
            if '"Before. "]' in piece:
                # Not held back: the reply is still being written while its first words are here. Which of the unfinished
                # states the row has is not told by a frame: it is painted first and written right after.
                assert generation(server, started["generation"])["state"] not in FINALS
            if "event: end" in piece:
                break
        text = "".join(seen)
        assert text.count("retry:") == 1
        assert ": heartbeat" in text
        assert [word for word in ("Before. ", "After.") if word not in text] == []
        assert '"state":"confirmed"' in text
