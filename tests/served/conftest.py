"""A provider on a thread of the tests, and servers that a test may start, freeze, starve and kill by their own ids."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.fakes.processes import ServerProcess, WatchedServer, wait_for
from tests.fakes.provider import Record, ScriptedProvider

FINALS = {"confirmed", "cancelled", "incomplete", "failed", "expired"}


@pytest.fixture(scope="module")
def provider() -> Iterator[ScriptedProvider]:
    with ScriptedProvider() as running:
        yield running


def serve(folder: Path, provider: ScriptedProvider, *, port: int = 0, **environ: str) -> WatchedServer:
    """A server on this folder, quickly: static files are not collected, since no page's looks matter here."""
    static = folder / "static"
    static.mkdir(parents=True, exist_ok=True)
    (static / "staticfiles.json").write_text("{}")
    settings = {"OPENAI_COMPATIBLE_MODELS": "scripted-1", "GYMNASIA_DEBUG": "1", **environ}
    return WatchedServer(folder, port=port, provider_url=provider.base_url, **settings)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, provider: ScriptedProvider) -> Iterator[WatchedServer]:
    """One server for the tests of a file that leave it as it is."""
    with serve(tmp_path_factory.mktemp("server"), provider) as running:
        yield running


def rows(server: ServerProcess, query: str, *values: str) -> list[sqlite3.Row]:
    """Read the database of a server past the product: ids stand there without their dashes."""
    path = server.data / "gymnasia.sqlite3"
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=20)) as connection:
        connection.row_factory = sqlite3.Row
        found: list[sqlite3.Row] = connection.execute(query, values).fetchall()
        return found


def generation(server: ServerProcess, generation_id: str) -> sqlite3.Row:
    """A generation's row with its draft."""
    query = (
        "SELECT g.*, c.answer AS draft FROM chat_generation g"
        " LEFT JOIN chat_checkpoint c ON c.generation_id = g.id WHERE g.id = ?"
    )
    return rows(server, query, generation_id.replace("-", ""))[0]


def finals(server: ServerProcess, generation_id: str) -> list[tuple[str, str]]:
    """Every move into a final state that its journal holds: (trigger, state)."""
    query = "SELECT trigger, to_state FROM chat_journalrow WHERE subject_id = ? ORDER BY sequence"
    moves = rows(server, query, generation_id.replace("-", ""))
    return [(move["trigger"], move["to_state"]) for move in moves if move["to_state"] in FINALS]


def until(server: ServerProcess, generation_id: str, *states: str, timeout_s: float = 20) -> sqlite3.Row:
    """Wait until the row stands in one of these states."""

    def reached() -> sqlite3.Row | None:
        row = generation(server, generation_id)
        return row if row["state"] in states else None

    found = wait_for(reached, what=f"one of {states}", timeout_s=timeout_s)
    assert found is not None
    return found


def request_of(provider: ScriptedProvider, text: str, *, number: int = 0, timeout_s: float = 10) -> Record:
    """The provider's record of the request with this question, waited for."""
    provider.wait_until(
        lambda seen: len([each for each in seen if each.user_text == text]) > number, timeout_s=timeout_s
    )
    return [each for each in provider.requests if each.user_text == text][number]


def closed_after(provider: ScriptedProvider, record: Record, since: float, *, timeout_s: float = 5) -> float:
    """After how many seconds from `since` the provider saw its connection close."""
    provider.wait_until(lambda _: record.peer_closed_at is not None, timeout_s=timeout_s)
    assert record.peer_closed_at is not None
    return record.peer_closed_at - since
