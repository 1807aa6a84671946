"""Coming back: whatever the network, the laptop or the frames do, the page shows a beginning of the draft, in one bubble.

Cases 26 and 38 of the public faults; the numbered words tell a gap from a repeat.
"""

import random
import re

from playwright.sync_api import Page, WebSocketRoute, expect

from tests.browser.person import SECOND, NewPerson, Person, Reply, numbered
from tests.browser.test_conversations import CUT
from tests.fakes.processes import ProviderProcess, ServerProcess
from tests.fakes.relay import Relay

SEED = 20261130
SOCKETS = re.compile(r"/ws/conversations/")
# What a browser says when its network is back; a moment later than the page has noticed that the line is closed.
ONLINE = "new Promise((done) => setTimeout(() => done(dispatchEvent(new Event('online'))), 50))"


def one_whole_bubble(person: Person, reply: Reply, words: int) -> None:
    """Every text that was seen was a beginning, each longer than the one before, and nothing was reloaded."""
    reply.becomes("confirmed", timeout_s=60)
    seen = [numbered(paint.text) for paint in person.paints(reply)]
    assert seen == sorted(seen)
    assert numbered(reply.text) == words
    expect(person.page.locator("[data-generation]")).to_have_count(1)
    assert person.page.evaluate("performance.getEntriesByType('navigation').length") == 1


class Mischief:
    """A network that repeats frames, holds some back, and brings old ones again, all by one seed."""

    def __init__(self) -> None:
        self.random = random.Random(SEED)
        self.held: list[str | bytes] = []
        self.old: list[str | bytes] = []
        self.done = 0

    def between(self, page: WebSocketRoute) -> None:
        server = page.connect_to_server()

        def pass_on(frame: str | bytes) -> None:
            what = self.random.random()
            if what < 0.25 and not self.held:
                self.held.append(frame)  # it will come after its successor
                self.done += 1
                return
            page.send(frame)
            for late in self.held:
                page.send(late)
            self.held.clear()
            self.old.append(frame)
            if what > 0.6:
                page.send(self.random.choice(self.old[-30:]))
                self.done += 1

        server.on_message(pass_on)


def test_frames_that_come_twice_late_or_in_disorder_change_nothing(walker: Person) -> None:
    mischief = Mischief()
    walker.page.route_web_socket(SOCKETS, mischief.between)
    reply = walker.ask("slow 20 250")
    one_whole_bubble(walker, reply, 250)
    assert mischief.done > 20


def test_ten_reconnects_and_every_word_once(server: ServerProcess, new_person: NewPerson) -> None:
    with Relay(server.port) as relay:
        person = new_person(f"http://127.0.0.1:{relay.port}")
        with person.page.expect_websocket() as opened:
            reply = person.ask("slow 25 1000").has("w5")
        for _ in range(10):
            before = numbered(reply.text)
            with person.page.expect_websocket() as again:
                relay.cut()
                relay.mend()
                # Not `expect_event`: it takes a reset, which comes as an error before the close, for a failure of its own.
                for _ in range(600):
                    if opened.value.is_closed():
                        break
                    person.page.evaluate("() => new Promise((done) => requestAnimationFrame(done))")
                person.page.evaluate(ONLINE)
            opened = again
            # Words that come prove that the line is open: the next cut is one of a connection, not of an attempt.
            reply.has(f"w{before + 8} ")
        assert reply.state == "buffered"
        one_whole_bubble(person, reply, 1000)
        person.forgive(*CUT)


def test_fifteen_seconds_without_a_network(server: ServerProcess, new_person: NewPerson) -> None:
    """It says so, waits longer from time to time, and goes on where it was."""
    with Relay(server.port) as relay:
        person = new_person(f"http://127.0.0.1:{relay.port}")
        reply = person.ask("slow 60 420").has("w10")
        relay.cut()
        line = person.page.locator("#connection")
        expect(line).to_contain_text("Reconnecting")
        before = numbered(reply.text)
        person.page.wait_for_timeout(15 * SECOND)  # the fault itself
        expect(line).to_contain_text("Reconnecting")
        assert (numbered(reply.text), reply.state) == (before, "buffered")
        relay.mend()
        reply.has(f"w{before + 100}")
        expect(line).to_be_hidden()
        one_whole_bubble(person, reply, 420)
        person.forgive(*CUT)


def test_a_laptop_that_sleeps_through_the_end(
    server: ServerProcess, provider: ProviderProcess, new_person: NewPerson
) -> None:
    """The page stands still in the middle, its connection dies meanwhile, and it wakes up after the reply was ready."""
    with Relay(server.port) as relay:
        person = new_person(f"http://127.0.0.1:{relay.port}")
        reply = person.ask("held 25").has("w20")
        other = person.tab()
        other.goto(person.page.url.replace(str(relay.port), str(server.port)))
        asleep = person.context.new_cdp_session(person.page)
        asleep.send("Page.setWebLifecycleState", {"state": "frozen"})
        relay.cut()
        provider.go_on()
        written = numbered(person.last(other).becomes("confirmed").text)
        relay.mend()
        asleep.send("Page.setWebLifecycleState", {"state": "active"})
        one_whole_bubble(person, reply, written)
        expect(person.page.locator("#connection")).to_be_hidden()
        person.forgive(*CUT)


def reloaded(page: Page, person: Person, at_least: int) -> int:
    """Reload at once; all that had been shown must stand there as soon as the page does."""
    page.reload(wait_until="domcontentloaded")
    reply = person.last(page)
    shown = numbered(reply.text)
    assert shown >= at_least
    assert page.locator("[data-generation]").count() == 1
    return shown


def test_case_26_a_reload_at_any_moment_loses_no_half(walker: Person) -> None:
    """Twice within a moment, between two paints, away and back: w1 … wn without a gap each time."""
    page = walker.page
    walker.ask("slow 40 300").has("w10")
    seen = 0
    for pause_ms in (0, 50, 10, 30, 70):
        page.wait_for_timeout(pause_ms)  # the moment is what is tried
        seen = reloaded(page, walker, seen)
        walker.last(page).has(f"w{seen + 3}")
    where = page.url
    page.goto(f"{walker.url}/")
    page.goto(where)
    assert numbered(walker.last(page).text) >= seen
    reply = walker.last(page).becomes("confirmed", timeout_s=30)
    assert numbered(reply.text) == 300
    page.reload()
    assert numbered(walker.last(page).text) == 300
