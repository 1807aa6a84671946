"""Stop in every state, by POST, from any device: the provider's connection is closed within a second, and one end stands.

Case 23 of the public faults, in every moment that it names.
"""

import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing
from pathlib import Path

import pytest

from tests.fakes.device import Device
from tests.fakes.processes import WatchedServer, wait_for
from tests.fakes.provider import ScriptedProvider
from tests.fakes.script import DONE, FIN, Cut, Paced, Script, Stall, T, Wait, page, play
from tests.served.conftest import closed_after, finals, generation, request_of, rows, serve, until

SOON_S = 1.0
FOR_EVER = float("inf")
BUSY = b'{"error":{"message":"Slow down.","type":"rate_limit_error","code":"rate_limit_exceeded"}}'


@pytest.fixture(scope="module")
def ana(server: WatchedServer) -> Device:
    return Device(server, "ana")


@pytest.fixture(scope="module")
def phone(server: WatchedServer, ana: Device) -> Device:
    """The same person, signed in on another device."""
    return Device(server, ana.name, known=True)


WHERE: dict[str, tuple[Script, str, str]] = {
    "before the first byte": (play(T("never"), hold_ms=FOR_EVER), "queued", ""),
    "before the first token": (play(Stall()), "received", ""),
    "between tokens": (play(Paced(tuple(T(f"w{n} ") for n in range(600)), 20)), "buffered", "w5 "),
    "in a silence": (play(T("w0 "), Wait(50), T("w1 "), Stall()), "buffered", "w1 "),
}


@pytest.mark.parametrize("where", WHERE)
def test_the_providers_connection_is_closed_within_a_second(
    server: WatchedServer, provider: ScriptedProvider, ana: Device, phone: Device, where: str
) -> None:
    """A picture that stops while the provider writes on costs money. Who stopped it, and when, is kept; the text that was
    shown is the text that is kept, to the letter; a second click changes nothing."""
    script, state, seen = WHERE[where]
    provider.queue.append(script)
    started = ana.ask(where)
    record = request_of(provider, where)
    until(server, started["generation"], state)
    with ana.follow(started["conversation"]) as feed:
        feed.until(lambda page: seen in page.text)
        pressed = time.monotonic()
        assert phone.stop(started["generation"]) is True
        assert closed_after(provider, record, pressed) < SOON_S
        assert ana.stop(started["generation"]) is False
        final = feed.to_the_end()
    row = generation(server, started["generation"])
    assert (final["state"], row["state"], row["reason"], row["late"]) == (*["cancelled"] * 3, 1)
    assert finals(server, started["generation"]) == [("cancel", "cancelled")]
    [who] = rows(server, "SELECT username FROM auth_user WHERE id = ?", str(row["cancelled_by_id"]))
    assert (who["username"], row["cancel_requested_at"] is not None) == ("ana", True)
    assert (row["draft"] or "", feed.gaps) == (feed.text, 0)


@pytest.mark.parametrize(
    ("why", "script"),
    [
        ("the provider said wait", page(BUSY, status=429, Retry_After="30")),
        ("the line was lost before", play(T("Half"), Cut())),
    ],
)
def test_while_it_waits_for_a_retry_no_request_follows(
    server: WatchedServer, provider: ScriptedProvider, ana: Device, phone: Device, why: str, script: Script
) -> None:
    """Whether the request or the whole reply is to be tried again. The page may still show the first attempt: its Stop
    stops the one that followed by itself."""
    provider.queue.append(script)
    started = ana.ask(why)
    request_of(provider, why)
    if "line" in why:
        until(server, started["generation"], "incomplete")
    else:
        wait_for(lambda: waiting(server), what="a runner that waits")
    pressed = time.monotonic()
    assert phone.stop(started["generation"]) is True
    assert time.monotonic() - pressed < SOON_S
    wait_for(lambda: not waiting(server), what="its task is gone", timeout_s=SOON_S)
    mine = "SELECT state FROM chat_generation WHERE conversation_id = ? ORDER BY number"
    found = [row["state"] for row in rows(server, mine, started["conversation"].replace("-", ""))]
    assert found[-1] == "cancelled"
    again = ana.ask(f"{why}, and then?", conversation=started["conversation"])
    until(server, again["generation"], "confirmed")
    assert len([each for each in provider.requests if each.user_text == why]) == 1


def waiting(server: WatchedServer) -> bool:
    return bool(rows(server, "SELECT id FROM chat_generation WHERE state = 'queued' AND owner != ''"))


def test_while_it_is_validated_the_line_is_closed_already_and_one_of_both_wins(
    server: WatchedServer, provider: ScriptedProvider, ana: Device, phone: Device
) -> None:
    """The end and the stop wait for the same lock of the database, as long as somebody else holds it."""
    words = "while validating"
    provider.queue.append(play(T("One "), Wait(300), T("two."), FIN("stop"), DONE, Stall()))
    started = ana.ask(words)
    record = request_of(provider, words)
    until(server, started["generation"], "buffered")
    with closing(sqlite3.connect(server.data / "gymnasia.sqlite3", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        # Its head went out at once; 300 ms later it was whole, and nobody needs the line any more.
        assert closed_after(provider, record, record.head_sent_at or 0) < 0.3 + SOON_S
        with ThreadPoolExecutor(2) as pool:
            clicks = [pool.submit(device.stop, started["generation"]) for device in (ana, phone)]
            assert wait(clicks, timeout=0.2).done == set()
            other.execute("ROLLBACK")
            stopped = [click.result(20) for click in clicks]
    row = until(server, started["generation"], "confirmed", "cancelled")
    assert sorted(stopped) == ([False, True] if row["state"] == "cancelled" else [False, False])
    assert len(finals(server, started["generation"])) == 1


def test_stop_from_a_page_of_another_process(tmp_path: Path, provider: ScriptedProvider) -> None:
    """Two processes on one database: the one that runs the reply learns it at its next look."""
    with serve(tmp_path, provider) as runs, serve(tmp_path, provider) as other:
        here = Device(runs, "ana")
        provider.queue.append(play(Paced(tuple(T(f"w{n} ") for n in range(600)), 20)))
        started = here.ask("from afar")
        record = request_of(provider, "from afar")
        until(runs, started["generation"], "buffered")
        pressed = time.monotonic()
        assert here.at(other).stop(started["generation"]) is True
        assert closed_after(provider, record, pressed) < SOON_S
        assert finals(runs, started["generation"]) == [("cancel", "cancelled")]
