"""Pages that do not read, pages by the dozen, and pages that are closed in the middle, on the real server."""

import threading
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.fakes.device import Device
from tests.fakes.processes import WatchedServer, wait_for
from tests.fakes.provider import ScriptedProvider
from tests.fakes.script import DONE, FIN, Paced, Stall, T, Until, play
from tests.served.conftest import closed_after, generation, request_of, until

WORDS = tuple(T(f"w{n} ") for n in range(1, 501))
TEXT = "".join(f"w{n} " for n in range(1, 501))


@pytest.fixture(scope="module")
def ana(server: WatchedServer) -> Device:
    return Device(server, "ana")


def test_case_38_a_page_that_does_not_read_and_fifty_that_watch_all_end_with_the_same_text(
    server: WatchedServer, provider: ScriptedProvider, ana: Device
) -> None:
    """Five hundred words pass by a page that reads nothing and acknowledges nothing. It is sent a bounded part of them;
    when it reads again it converges: gaps are filled from the store, and the last frame is there."""
    # Who joins after the end is told of it, and of nothing before: the words begin when everybody is there.
    joined = threading.Event()
    provider.queue.append(play(Until(joined), Paced(WORDS, 200), FIN("stop"), DONE))
    started = ana.ask("five hundred words")
    with ExitStack() as stack:
        deaf = stack.enter_context(ana.follow(started["conversation"], max_queue=1))
        watchers = [stack.enter_context(ana.follow(started["conversation"])) for _ in range(50)]
        joined.set()
        until(server, started["generation"], "confirmed")
        for watcher in watchers:
            assert watcher.to_the_end()["state"] == "confirmed"
        deaf.until(lambda page: page.final is not None or len(page.frames) > 60, silent=True)
        assert len(deaf.frames) < 200
        assert deaf.to_the_end()["state"] == "confirmed"
        assert {watcher.gaps for watcher in watchers} == {0}
        assert {watcher.text.strip() for watcher in (*watchers, deaf)} <= {TEXT.strip(), deaf.text.strip()}
        for page in (*watchers, deaf):
            assert page.final is not None
            assert "w500" in page.final["html"]
            assert page.text == TEXT[: len(page.text)]
    wait_for(lambda: server.holds()["listeners"] == 0, what="everyone is forgotten")


def test_a_hundred_tabs_that_are_closed_in_the_middle_leave_nothing_behind(
    server: WatchedServer, provider: ScriptedProvider, ana: Device
) -> None:
    """No task, no subscription, no connection, whether they say goodbye or are torn away; the reply goes on to its end."""
    provider.queue.append(play(Paced(WORDS, 50), FIN("stop"), DONE))
    started = ana.ask("a hundred tabs")
    until(server, started["generation"], "buffered")
    alone, files = server.holds(), connections(server)
    with ExitStack() as stack:
        tabs = [stack.enter_context(ana.follow(started["conversation"])) for _ in range(100)]
        for tab in tabs:
            tab.until(lambda page: "w3 " in page.text)
        assert server.holds()["listeners"] == 100
        for tab in tabs[::2]:
            tab.tear()

    def forgotten() -> bool:
        held = server.holds()
        return (held["listeners"], held["tasks"] <= alone["tasks"]) == (0, True) and connections(
            server
        ) <= files

    wait_for(forgotten, what="everyone is forgotten")
    until(server, started["generation"], "confirmed")


def connections(server: WatchedServer) -> int:
    """How many sockets the process holds."""
    count = 0
    for entry in Path(f"/proc/{server.pid}/fd").iterdir():
        try:
            count += str(entry.readlink()).startswith("socket:")
        except FileNotFoundError:  # it was closed while we looked
            continue
    return count


def test_a_conversation_that_is_deleted_in_one_tab_ends_the_other_and_the_provider(
    server: WatchedServer, provider: ScriptedProvider, ana: Device
) -> None:
    """Both cleanly: a socket that is closed as gone, a row without a text, and no draft that is left behind."""
    provider.queue.append(play(T("One "), T("two "), Stall()))
    started = ana.ask("to be deleted")
    record = request_of(provider, "to be deleted")
    with ana.follow(started["conversation"]) as tab:
        tab.until(lambda page: "two " in page.text)
        status, _ = ana.post(f"/conversations/{started['conversation']}/delete/")
        assert status == 200
        assert closed_after(provider, record, record.received_at) > 0
        assert tab.farewell() == 4404
    row = generation(server, started["generation"])
    assert (row["state"], row["reason"]) == ("cancelled", "deleted")
    wait_for(lambda: server.holds()["listeners"] == 0, what="everyone is forgotten")
