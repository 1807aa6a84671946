"""`kill -9` of the server in mid-stream: nothing hangs, nothing half becomes a message, little is lost.

Case 27 of the public faults; the rest of it stands in tests/served/test_loss.py.
"""

import time
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.person import NewPerson, numbered
from tests.fakes.processes import ProviderProcess, ServerProcess


def test_a_killed_server_leaves_a_labelled_draft(
    tmp_path: Path, provider: ProviderProcess, new_person: NewPerson
) -> None:
    """The page stays open all the while and learns the end without a reload."""
    words_a_second = 20
    with ServerProcess(tmp_path, provider_url=provider.base_url) as server:
        person = new_person(server.url)
        reply = person.ask("slow 50 600").has("w60")
        server.kill()
        shown = numbered(reply.text)
    with ServerProcess(tmp_path, port=server.port, provider_url=provider.base_url):
        started = time.monotonic()
        reply.becomes("incomplete", timeout_s=15)
        # The socket that was torn down and the tries while nobody listened were this test's own doing.
        person.forgive(
            "WebSocket connection to", "ERR_CONNECTION", "ERR_EMPTY_RESPONSE", "ERR_SOCKET_NOT_CONNECTED"
        )
        assert time.monotonic() - started < 15
        assert reply.reason == "worker_lost"
        kept = numbered(reply.text)
        # One second of words, and one paint that may have been on its way.
        assert shown - words_a_second * 1.1 <= kept <= shown + words_a_second
        expect(reply.element.get_by_role("button", name="Try again")).to_be_visible()
        assert len(reply.ending) > 20
        person.page.reload()
        again = person.last()
        assert (again.state, numbered(again.text)) == ("incomplete", kept)
        answer = person.ask("slow 5 10").becomes("confirmed")
        assert numbered(answer.text) == 10


def test_a_server_that_is_told_to_stop_says_so_at_once(
    tmp_path: Path, provider: ProviderProcess, new_person: NewPerson
) -> None:
    """An update in mid-reply: the page shows the reason before the server is gone, and the next server agrees."""
    with ServerProcess(tmp_path, provider_url=provider.base_url) as server:
        person = new_person(server.url)
        reply = person.ask("slow 50 600").has("w20")
        assert server.stop() == 0
        reply.becomes("incomplete")
        shown = numbered(reply.text)
        assert reply.reason == "shutdown"
    with ServerProcess(tmp_path, port=server.port, provider_url=provider.base_url):
        person.page.reload()
        again = person.last()
        assert (again.state, again.reason, numbered(again.text)) == ("incomplete", "shutdown", shown)
        expect(again.element.get_by_role("button", name="Try again")).to_be_visible()
        person.forgive(
            "WebSocket connection to", "ERR_CONNECTION", "ERR_EMPTY_RESPONSE", "ERR_SOCKET_NOT_CONNECTED"
        )
