"""Whether the process lives is another question than whether it should be given work."""

import shutil
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test import Client

from chat import catalogue, consumers
from chat.local_model import Absent
from chat.views import health

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _well(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that runs, without a local model."""
    monkeypatch.setattr(catalogue, "_local", Absent("it is switched off"))
    monkeypatch.setattr(consumers, "_engine", SimpleNamespace(draining=False))


def ready() -> tuple[int, Any]:
    response = Client().get("/readyz")
    return response.status_code, response.json()


WELL = {
    "ready": True,
    "database": "migrated",
    "local_model": "absent: it is switched off",
    "engine": "running",
}


def test_it_lives_for_anybody_and_whatever_else_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """A probe has no account, and a restart helps nobody whose database is away."""
    monkeypatch.setattr(consumers, "_engine", None)
    response = Client().get("/healthz")
    assert (response.status_code, response.json()) == (200, {"status": "ok"})


def test_it_is_ready_with_a_model_or_declared_without(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ready() == (200, WELL)
    monkeypatch.setattr(catalogue, "local_state", lambda: "ready")
    assert ready() == (200, WELL | {"local_model": "ready"})


def test_it_is_not_ready_while_the_model_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "local_state", lambda: "loading")
    assert ready() == (503, WELL | {"ready": False, "local_model": "loading"})


@pytest.mark.parametrize(("engine", "told"), [(None, "absent"), (SimpleNamespace(draining=True), "draining")])
def test_it_is_not_ready_without_an_engine_that_takes_work(
    monkeypatch: pytest.MonkeyPatch, engine: Any, told: str
) -> None:
    monkeypatch.setattr(consumers, "_engine", engine)
    assert ready() == (503, WELL | {"ready": False, "engine": told})


def test_it_is_not_ready_before_it_is_migrated(monkeypatch: pytest.MonkeyPatch) -> None:
    class Behind:
        loader = SimpleNamespace(graph=SimpleNamespace(leaf_nodes=list))

        def __init__(self, _: object) -> None: ...

        def migration_plan(self, _: object) -> list[int]:
            return [1, 2]

    monkeypatch.setattr(health, "MigrationExecutor", Behind)
    assert ready() == (503, WELL | {"ready": False, "database": "2 migrations to run"})


def test_a_database_that_is_away_is_told_without_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """An address or a user name could be among them."""

    def away(_: object) -> None:
        raise OperationalError("password authentication failed for user ana")

    monkeypatch.setattr(health, "MigrationExecutor", away)
    assert ready() == (503, WELL | {"ready": False, "database": "not reached: OperationalError"})


def test_it_is_not_ready_while_the_disk_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading goes on for a while; nobody could sign in or send anything."""
    usage = SimpleNamespace(free=health.LEAST_ROOM_BYTES)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage)
    assert ready() == (200, WELL)
    usage.free = 12_345
    if connection.vendor == "sqlite":
        full = {"ready": False, "database": "no room to write: 12,345 bytes are free"}
        assert ready() == (503, WELL | full)
    else:  # the database's disk is not ours to look at
        assert ready() == (200, WELL)
