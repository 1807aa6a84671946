"""The real server on a real PostgreSQL: a conversation, a killed server, and a database that goes away for a while."""

import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import httpx
import pytest

from tests.fakes import postgres
from tests.fakes.postgres import Postgres
from tests.fakes.processes import ProviderProcess, ServerProcess, wait_for

LEASE = {"GYMNASIA_LEASE_S": "1", "GYMNASIA_SWEEP_INTERVAL_S": "0.2", "GYMNASIA_LOOK_INTERVAL_S": "0.5"}


@pytest.fixture(scope="module")
def database() -> Iterator[Postgres]:
    with postgres.running() as server:
        yield server


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProviderProcess]:
    with ProviderProcess(tmp_path_factory.mktemp("provider")) as running:
        yield running


class Visitor:
    """Somebody without a browser: signs up, asks by plain forms, and reads the page's contract."""

    def __init__(self, url: str, name: str) -> None:
        self.client = httpx.Client(base_url=url, follow_redirects=True, timeout=20, trust_env=False)
        form = {"username": name, "password1": "right-horse-battery", "password2": "right-horse-battery"}
        self.post("/accounts/signup/", form)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()

    def post(self, address: str, form: dict[str, str]) -> httpx.Response:
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', self.client.get(address).text)
        assert token is not None
        return self.client.post(address, data={**form, "csrfmiddlewaretoken": token[1]})

    def ask(self, text: str) -> str:
        """Gives the address of the conversation."""
        answer = self.post("/", {"text": text})
        assert answer.status_code == 200, answer.text[:500]
        return str(answer.url)

    def state(self, address: str) -> tuple[str, str]:
        """The last reply's state and reason, as the page says them."""
        page = self.client.get(address).text
        replies = re.findall(r"<article[^>]*>", page)
        assert replies, page[:500]
        state, reason = (re.search(rf'{name}="(\w*)"', replies[-1]) for name in ("data-state", "data-reason"))
        assert state is not None
        return state[1], reason[1] if reason else ""

    def becomes(self, address: str, *states: str) -> tuple[str, str]:
        wait_for(lambda: self.state(address)[0] in states, what=f"one of {states}", timeout_s=30)
        return self.state(address)


def test_a_reply_is_confirmed_and_one_of_a_killed_server_is_told(
    tmp_path: Path, database: Postgres, provider: ProviderProcess
) -> None:
    """Migrated from nothing; after kill -9 the next process ends what was lost, and the conversation goes on."""
    settings = {"DATABASE_URL": database.url, **LEASE}
    at = provider.base_url
    with (
        ServerProcess(tmp_path, port=0, provider_url=at, **settings) as first,
        Visitor(first.url, "ana") as ana,
    ):
        whole = ana.ask("Hello")
        assert ana.becomes(whole, "confirmed") == ("confirmed", "")
        lost = ana.ask("slow 50 600")
        ana.becomes(lost, "buffered")
        first.kill()
        with ServerProcess(tmp_path, port=first.port, provider_url=at, **settings):
            assert ana.becomes(lost, "incomplete") == ("incomplete", "worker_lost")
            assert ana.state(whole) == ("confirmed", "")


def test_a_database_that_restarts_leaves_nothing_generating(
    tmp_path: Path, database: Postgres, provider: ProviderProcess
) -> None:
    """Cut off in the middle of a reply, for longer than its lease: it ends, the server heals by itself, and is ready."""
    settings = {"DATABASE_URL": database.url, **LEASE}
    with (
        ServerProcess(tmp_path, port=0, provider_url=provider.base_url, **settings) as server,
        Visitor(server.url, "eva") as eva,
    ):
        running = eva.ask("slow 40 60")
        eva.becomes(running, "buffered")
        database.stop()
        wait_for(
            lambda: httpx.get(f"{server.url}/readyz", trust_env=False).status_code == 503,
            what="not ready",
        )
        time.sleep(2)  # the fault itself: longer than the lease
        database.start()
        state, _reason = eva.becomes(running, "confirmed", "incomplete", "failed")
        assert state in {"confirmed", "incomplete"}
        wait_for(server.ready, what="ready again")
        again = eva.ask("Hello again")
        assert eva.becomes(again, "confirmed") == ("confirmed", "")
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(15) == 0
