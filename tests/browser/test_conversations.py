"""Around the reply: two tabs that want different things, a lost network, a text that attacks, the list, the name."""

import re
import time

from playwright.sync_api import expect

from tests.browser.person import NewPerson, Person, numbered
from tests.fakes.processes import ProviderProcess, ServerProcess, wait_for
from tests.fakes.relay import Relay


def test_a_second_question_while_a_reply_is_written(walker: Person) -> None:
    """One reply at a time; whoever asks meanwhile keeps their text and can stop the other."""
    running = walker.ask("slow 50 600").has("w3")
    other = walker.tab()
    other.goto(walker.page.url)
    expect(other.get_by_role("button", name="Stop")).to_be_visible()
    other.locator("textarea").fill("Me too")
    other.locator("textarea").press("Enter")
    expect(other.get_by_role("alert").first).to_contain_text("A reply is being written")
    expect(other.locator("textarea")).to_have_value("Me too")
    other.get_by_role("button", name="Stop").click()
    running.becomes("cancelled")
    other.locator("textarea").press("Enter")
    expect(other.locator("[data-generation]")).to_have_count(2)
    walker.last(other).becomes("confirmed")
    walker.forgive("409")


def test_deleting_a_conversation_ends_its_reply_everywhere(walker: Person, provider: ProviderProcess) -> None:
    text = f"slow 100 600 {walker.name}"
    walker.ask(text).has("w2")
    other = walker.tab()
    other.goto(walker.page.url)
    other.get_by_role("link", name="Delete").click()
    pressed = time.monotonic()
    other.locator("main form button[type=submit]").click()

    def closed() -> float | None:
        [seen] = [record for record in provider.requests() if record["user_text"] == text]
        at: float | None = seen["peer_closed_at"]
        return at

    at = wait_for(closed, what="the provider's connection is closed", timeout_s=5)
    assert at is not None
    assert at - pressed < 1
    expect(walker.page.locator("#connection")).to_contain_text("This conversation is gone")
    answer = walker.page.goto(walker.page.url)
    assert answer is not None
    assert answer.status == 404
    walker.forgive("404")


def test_a_lost_network_loses_no_words(server: ServerProcess, new_person: NewPerson) -> None:
    """The page says that it reconnects, then goes on from where it was: no gap, no repeat, no reload."""
    with Relay(server.port) as relay:
        person = new_person(f"http://127.0.0.1:{relay.port}")
        reply = person.ask("slow 30 200").has("w20")
        relay.cut()
        expect(person.page.locator("#connection")).to_contain_text("Reconnecting")
        before = numbered(reply.text)
        relay.mend()
        reply.has(f"w{before + 30}")
        expect(person.page.locator("#connection")).to_be_hidden()
        for paint in person.paints(reply):
            numbered(paint.text)
        reply.becomes("confirmed")
        assert numbered(reply.text) == 200
        assert person.page.evaluate("performance.getEntriesByType('navigation').length") == 1
        person.forgive("WebSocket connection to", "ERR_CONNECTION", "ERR_EMPTY_RESPONSE")


def test_a_text_that_attacks_stays_text(walker: Person) -> None:
    """Neither the draft's renderer nor the server's lets markup of a model into the page."""
    asked: list[str] = []
    walker.page.on("request", lambda request: asked.append(request.url))
    reply = walker.ask(f"attack {walker.name}")
    reply.has("Look:")
    reply.becomes("confirmed")
    walker.page.reload()
    walker.last().has("Look:")
    assert walker.page.evaluate("window.hacked ?? null") is None
    assert [url for url in asked if ".invalid" in url] == []
    assert walker.page.locator("[data-lane] :is(script, style, iframe, [onerror])").count() == 0
    assert walker.page.locator("[data-lane] a[href^='javascript']").count() == 0
    expect(walker.page.locator("textarea")).to_be_visible()


def test_the_list_the_name_and_the_way_out_and_in(walker: Person) -> None:
    walker.ask("slow 5 3 rope climbing").becomes("confirmed")
    page = walker.page
    page.get_by_role("link", name="Rename").click()
    page.locator("main form input[type=text], main form input:not([type])").first.fill("Ropes & rings")
    page.locator("main form button[type=submit]").first.click()
    expect(page.locator("h1")).to_have_text("Ropes & rings")
    page.goto(f"{walker.url}/")
    page.get_by_role("link", name=re.compile("Ropes & rings")).first.click()
    expect(page.locator("[data-generation]")).to_have_count(1)
    page.get_by_role("button", name="Sign out").click()
    expect(page.locator("input[name=password]")).to_be_visible()
    page.locator("input[name=login]").fill(walker.name)
    page.locator("input[name=password]").fill(walker.password)
    page.locator("main form button[type=submit]").click()
    expect(page.locator("textarea")).to_be_visible()
    expect(page.get_by_role("link", name=re.compile("Ropes & rings"))).to_have_count(1)


def test_a_stranger_finds_nothing(walker: Person, new_person: NewPerson, server: ServerProcess) -> None:
    walker.ask("slow 5 3").becomes("confirmed")
    stranger = new_person(server.url)
    answer = stranger.page.goto(walker.page.url)
    assert answer is not None
    assert answer.status == 404
    stranger.forgive("404")
