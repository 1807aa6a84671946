"""Around the reply: two tabs that want different things, a lost network, a text that attacks, the list, the name."""

import re
import time
from urllib.parse import urlsplit

from playwright.sync_api import Page, expect

from tests.browser.person import NewPerson, Person, numbered
from tests.fakes.processes import ProviderProcess, ServerProcess, wait_for
from tests.fakes.relay import Relay

# What a browser says of a network that is away.
CUT = ("WebSocket connection to", "ERR_CONNECTION", "ERR_EMPTY_RESPONSE", "ERR_SOCKET_NOT_CONNECTED")


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
    expect(other.get_by_role("alert")).to_have_count(0)
    expect(other.locator("textarea")).to_be_focused()
    other.locator("textarea").press("Enter")
    expect(other.locator("[data-generation]")).to_have_count(2)
    walker.last(other).becomes("confirmed")
    walker.forgive("409")


def test_deleting_a_conversation_ends_its_reply_everywhere(walker: Person, provider: ProviderProcess) -> None:
    text = f"slow 100 600 {walker.name}"
    walker.ask(text).has("w2")
    other = walker.tab()
    other.goto(walker.page.url)
    with other.expect_response("**/delete/"):
        other.get_by_role("button", name="Delete").click()
    deleted = time.monotonic()

    def closed() -> float | None:
        [seen] = [record for record in provider.requests() if record["user_text"] == text]
        at: float | None = seen["peer_closed_at"]
        return at

    at = wait_for(closed, what="the provider's connection is closed", timeout_s=5)
    assert at is not None
    assert at - deleted < 1
    expect(walker.page.locator("#connection")).to_contain_text("This conversation was deleted")
    answer = walker.page.goto(walker.page.url)
    assert answer is not None
    assert answer.status == 404
    walker.forgive("404")


def has_ended(page: Page, sentence: str) -> None:
    """Nothing on the page looks as if a reply were still being written."""
    reply = page.locator("[data-generation]").last
    expect(reply.locator(".ending p")).to_contain_text(sentence)
    expect(reply.locator(".ending .model")).to_have_text("scripted-1")
    expect(page.locator(".cursor")).to_have_count(0)
    expect(page.get_by_text("draft", exact=True)).to_have_count(0)
    expect(page.get_by_role("button", name="Stop")).to_be_hidden()


def test_a_page_of_a_deleted_conversation_ends_what_it_shows(walker: Person) -> None:
    """The words that were there stay, and what the person has typed goes into a new conversation."""
    page = walker.page
    walker.ask("slow 100 600").has("w3")
    page.locator("textarea").fill("And without")
    other = walker.tab()
    other.goto(page.url)
    other.get_by_role("button", name="Delete").click()
    expect(other.locator("h1")).to_have_text("What shall we work on?")
    has_ended(page, "This conversation was deleted while the reply was being written.")
    numbered(walker.last().text)
    expect(page.get_by_role("button", name="Delete")).to_have_count(0)
    expect(page.locator(".contents .entry")).to_have_count(0)
    expect(page.locator("textarea")).to_have_value("And without")
    gone = page.url
    page.locator("textarea").press("Enter")
    expect(page.locator(".question")).to_have_text("And without")
    assert page.url != gone
    expect(page.locator("textarea")).to_be_focused()
    walker.last().becomes("confirmed")
    walker.forgive("404")


def test_a_page_that_comes_back_to_a_deleted_conversation_ends_too(
    server: ServerProcess, new_person: NewPerson
) -> None:
    """The socket is refused before its handshake, which looks like a server that is away: the page has to ask."""
    with Relay(server.port) as relay:
        person = new_person(f"http://127.0.0.1:{relay.port}")
        person.ask("slow 50 600").has("w5")
        path = urlsplit(person.page.url).path
        elsewhere = person.context.request
        relay.cut()
        expect(person.page.locator("#connection")).to_contain_text("Reconnecting")
        page = elsewhere.get(f"{server.url}{path}delete/").text()
        token = re.findall(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)[0]
        done = elsewhere.post(
            f"{server.url}{path}delete/",
            form={"csrfmiddlewaretoken": token},
            headers={"Accept": "application/json"},
        )
        assert done.json()["url"] == "/"
        relay.mend()
        expect(person.page.locator("#connection")).to_contain_text("This conversation was deleted")
        has_ended(person.page, "This conversation was deleted while the reply was being written.")
        person.forgive(*CUT, "404")


def sign_in(person: Person, page: Page) -> None:
    page.locator("input[name=login]").fill(person.name)
    page.locator("input[name=password]").fill(person.password)
    page.locator("main form button[type=submit]").click()
    expect(page.locator("textarea")).to_be_visible()


def test_who_was_signed_out_elsewhere_goes_on_after_signing_in(walker: Person) -> None:
    """The page is told at once: it says so and stands still, keeps what was typed, and goes on when it may again."""
    page = walker.page
    walker.ask("slow 20 600").has("w3")
    page.locator("textarea").fill("Me too")
    other = walker.tab()
    other.goto(page.url)
    other.get_by_role("button", name="Sign out").click()
    expect(other.get_by_text("You have signed out.")).to_be_visible()
    has_ended(page, "You have been signed out, so this page no longer follows the reply.")
    expect(page.locator("#connection")).to_contain_text("You have been signed out.")
    expect(page.locator("textarea")).to_be_focused()
    page.locator("textarea").press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("You have been signed out.")
    expect(page.locator("textarea")).to_have_value("Me too")
    sign_in(walker, other)
    page.locator("textarea").press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("A reply is being written.")
    expect(page.locator("#connection")).to_be_hidden()
    walker.last().has("w4")
    walker.stop()
    walker.last().becomes("cancelled")
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(page.locator("textarea")).to_have_value("Me too")
    walker.forgive("409", "403", "WebSocket connection to")


def test_an_error_goes_with_its_reason(
    server: ServerProcess, provider: ProviderProcess, new_person: NewPerson
) -> None:
    """What the line says is true at each moment: busy, then cut off, then nothing."""
    with Relay(server.port) as relay:
        person = new_person(f"http://127.0.0.1:{relay.port}")
        page, alert = person.page, person.page.get_by_role("alert")
        reply = person.ask("held 30").has("w3")
        page.locator("textarea").fill("Me too")
        page.locator("textarea").press("Enter")
        expect(alert).to_contain_text("A reply is being written.")
        relay.cut()
        expect(alert).to_contain_text("The connection to the server is lost. Your text is kept")
        page.locator("textarea").press("Enter")
        expect(alert).to_contain_text("The connection to the server is lost. Your text is kept")
        relay.mend()
        expect(alert).to_have_count(0)
        provider.go_on()
        reply.becomes("confirmed")
        expect(page.locator("textarea")).to_have_value("Me too")
        slow = person.ask("held 30").has("w3")
        page.locator("textarea").fill("Again")
        page.locator("textarea").press("Enter")
        expect(alert).to_contain_text("A reply is being written.")
        provider.go_on()
        slow.becomes("confirmed")
        expect(alert).to_have_count(0)
        person.forgive(*CUT)


def test_the_line_has_the_focus_when_it_is_needed(walker: Person) -> None:
    """After the first question and after Stop; not where the reader has gone elsewhere."""
    page = walker.page
    line = page.locator("textarea")
    expect(line).to_be_focused()
    walker.ask("slow 50 600").has("w2")
    expect(line).to_be_focused()
    assert "#" not in page.url
    walker.stop()
    walker.last().becomes("cancelled")
    expect(line).to_be_focused()
    running = walker.ask("slow 50 600").has("w2")
    page.get_by_role("link", name="Rename").focus()
    page.keyboard.press("Escape")
    running.becomes("cancelled")
    expect(page.get_by_role("link", name="Rename")).to_be_focused()


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
        person.forgive(*CUT)


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
