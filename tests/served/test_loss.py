"""What happens to the process that runs a reply: frozen, killed, stopped, without a database, without room on the disk.

Case 27 of the public faults, but for its page: that stands in tests/browser/test_restart.py.
"""

import os
import resource
import signal
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Event

from tests.fakes.device import Device
from tests.fakes.processes import WatchedServer, get, wait_for
from tests.fakes.provider import ScriptedProvider
from tests.fakes.script import DONE, FIN, Paced, Stall, T, Wait, play
from tests.served.conftest import closed_after, finals, generation, request_of, rows, serve, until

WORDS = tuple(T(f"w{n} ") for n in range(100))
NEVER = Event()


@contextmanager
def frozen(pid: int) -> Iterator[None]:
    """SIGSTOP, and SIGCONT at the end."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
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
        with frozen(server.pid):
            NEVER.wait(2.5)  # the fault itself: real time in which nobody reads
        row = until(server, started["generation"], "confirmed", "incomplete", "failed")
        assert (row["state"], row["reason"]) == ("confirmed", "")


def test_who_was_frozen_past_its_lease_changes_nothing_when_it_wakes_up(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    """Another process ends its reply within the lease plus one sweep, and tells its open pages without a reload; the woken
    runner's fence is old: its text, its whole end even, go nowhere, and its provider is let go."""
    with (
        serve(tmp_path, provider, GYMNASIA_LEASE_S="1.5", GYMNASIA_SWEEP_INTERVAL_S="0.3") as runs,
        serve(tmp_path, provider, GYMNASIA_SWEEP_INTERVAL_S="0.3", GYMNASIA_LOOK_INTERVAL_S="0.3") as other,
    ):
        ana = Device(runs, "ana")
        provider.queue.append(
            play(T("One "), Wait(300), T("two "), Wait(3500), T("three."), FIN("stop"), DONE)
        )
        started = ana.ask("fenced")
        record = request_of(provider, "fenced")
        wait_for(
            lambda: (generation(runs, started["generation"])["draft"] or "") == "One two ", what="a draft"
        )
        with ana.at(other).follow(started["conversation"]) as page, frozen(runs.pid):
            began = time.monotonic()
            final = page.to_the_end()
            assert time.monotonic() - began < 1.5 + 0.3 + 0.3 + 1
            assert (final["state"], final["reason"], page.text) == ("incomplete", "worker_lost", "One two ")
            before = generation(other, started["generation"])
            provider.wait_until(lambda _: record.finished_at, timeout_s=10)
        wait_for(lambda: runs.holds()["tasks"] <= other.holds()["tasks"], what="the woken runner has ended")
        after = generation(other, started["generation"])
        assert {**after, "late": 0} == {**before, "late": 0}
        assert finals(other, started["generation"]) == [("ended_short", "incomplete")]
        assert rows(other, "SELECT text FROM chat_message WHERE kind = 'answer'") == []
        # Nothing hangs: the same conversation goes on, in either process.
        again = ana.at(other).ask("and now", conversation=started["conversation"])
        until(other, again["generation"], "confirmed")


@contextmanager
def full_disk(server: WatchedServer) -> Iterator[None]:
    """From now on no file of this process may grow: what a full disk looks like to it."""
    _, most = resource.prlimit(server.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (0, most))
    try:
        yield
    finally:
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (most, most))


def test_a_full_disk_costs_no_reply_that_ends_while_it_lasts(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    """The stream ends whole, and nothing can be written, for longer than the lease: it is confirmed when there is room."""
    with serve(tmp_path, provider, GYMNASIA_LEASE_S="1", GYMNASIA_SWEEP_INTERVAL_S="0.2") as server:
        ana = Device(server, "ana")
        provider.queue.append(play(T("One "), Wait(500), T("two."), FIN("stop"), DONE))
        started = ana.ask("no room")
        record = request_of(provider, "no room")
        until(server, started["generation"], "buffered")
        with full_disk(server):
            provider.wait_until(lambda _: record.finished_at)
            assert ana.post("/", text="and this?")[0] >= 500
            NEVER.wait(2)  # twice the lease; its log is a file too, and can say nothing
            assert generation(server, started["generation"])["state"] == "buffered"
            assert get(server.port, "/healthz")[0] == 200
        row = until(server, started["generation"], "confirmed", "incomplete", "failed")
        assert (row["state"], row["reason"]) == ("confirmed", "")
        [answer] = rows(server, "SELECT text FROM chat_message WHERE kind = 'answer'")
        assert answer["text"] == "One two."
        until(server, ana.ask("now there is")["generation"], "confirmed")


def test_a_locked_database_holds_up_and_loses_nothing(tmp_path: Path, provider: ScriptedProvider) -> None:
    """A backup, a person at a shell: somebody holds the lock while a reply opens, streams and ends."""
    with serve(tmp_path, provider, GYMNASIA_LEASE_S="1", GYMNASIA_SWEEP_INTERVAL_S="0.2") as server:
        ana = Device(server, "ana")
        provider.queue.append(play(T("One "), Wait(300), T("two."), FIN("stop"), DONE, hold_ms=400))
        started = ana.ask("locked")
        record = request_of(provider, "locked")
        with closing(sqlite3.connect(tmp_path / "gymnasia.sqlite3", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            provider.wait_until(lambda _: record.finished_at)
            NEVER.wait(1.5)  # longer than the lease
            other.execute("ROLLBACK")
        row = until(server, started["generation"], "confirmed", "incomplete", "failed")
        assert (row["state"], row["reason"]) == ("confirmed", "")


def test_a_killed_process_is_followed_by_one_that_ends_what_it_ran(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    """No page says "generating" after a restart: within the lease plus one sweep it is final, and what was still queued
    runs, with nobody's browser open."""
    clocks = {"GYMNASIA_LEASE_S": "1", "GYMNASIA_SWEEP_INTERVAL_S": "0.2"}
    with serve(tmp_path, provider, **clocks) as server:  # type: ignore[arg-type]
        ana = Device(server, "ana")
        provider.queue.append(play(T("One "), T("two "), Stall()))
        opened = ana.ask("killed in mid-text")
        wait_for(lambda: generation(server, opened["generation"])["draft"], what="a checkpoint")
        provider.queue.append(play(hold_ms=float("inf")))
        queued = ana.ask("killed before the first byte")
        request_of(provider, "killed before the first byte")
        server.kill()
    with serve(tmp_path, provider, port=server.port, **clocks) as server:
        row = until(server, opened["generation"], "incomplete", timeout_s=1 + 0.2 + 2)
        assert (row["reason"], row["draft"]) == ("worker_lost", "One two ")
        until(server, queued["generation"], "confirmed")
        status, page = ana.get(f"/conversations/{opened['conversation']}/")
        assert (status, 'data-state="incomplete"' in page, "One two" in page) == (200, True, True)


def test_who_was_deactivated_has_nothing_written_for_them(tmp_path: Path, provider: ScriptedProvider) -> None:
    with serve(tmp_path, provider, GYMNASIA_SWEEP_INTERVAL_S="0.2") as server:
        ana = Device(server, "ana")
        provider.queue.append(play(Paced(WORDS, 10)))
        started = ana.ask("deactivated")
        record = request_of(provider, "deactivated")
        until(server, started["generation"], "buffered")
        with closing(sqlite3.connect(tmp_path / "gymnasia.sqlite3", timeout=10)) as other, other:
            other.execute("UPDATE auth_user SET is_active = 0")
            since = time.monotonic()
        assert closed_after(provider, record, since) < 2
        assert finals(server, started["generation"]) == [("cancel", "cancelled")]
