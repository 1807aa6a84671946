"""A conversation of two thousand messages in a real browser: it opens at its end, and goes back and forth as one scrolls."""

import re

from playwright.sync_api import Page, expect

from tests.browser.long import long_conversation
from tests.browser.person import NewPerson, Person
from tests.fakes.processes import ServerProcess


def first(page: Page) -> str:
    return page.locator(".question").first.text_content() or ""


def go_up(page: Page) -> None:
    page.evaluate("scrollTo({top: document.querySelector('.turn').offsetTop - 500, behavior: 'instant'})")


def test_scrolling_up_brings_earlier_messages_and_moves_nothing(
    walker: Person, server: ServerProcess
) -> None:
    page, url = walker.page, long_conversation(server, walker.name, 1000)
    page.goto(url)
    expect(page.locator(".turn")).to_have_count(25)
    expect(page.locator(".turn").last).to_be_in_viewport()
    # What is looked at stays where it is, to the pixel, while a hundred messages come above it.
    for shown in (50, 75):
        marked = page.evaluate_handle("document.querySelector('.turn')")
        page.evaluate("scrollTo({top: 900, behavior: 'instant'})")
        before = marked.evaluate("(turn) => turn.getBoundingClientRect().top")
        go_up(page)
        moved = page.evaluate("scrollY")
        expect(page.locator(".turn")).to_have_count(shown)
        place = marked.evaluate("(turn) => turn.getBoundingClientRect().top")
        assert abs(place - (before + 900 - moved)) <= 1, (before, moved, place)
    assert first(page) == "Question 926?"
    page.evaluate("scrollTo({top: document.body.scrollHeight, behavior: 'instant'})")
    reply = walker.ask("slow 20 30")
    expect(page.locator(".turn")).to_have_count(76)
    reply.becomes("confirmed")
    # Editing an old message: all that was loaded before it stays, and the switcher leads there and back.
    turn = page.locator(".turn", has_text="Question 930?")
    turn.locator(".asked").hover()
    turn.locator(".asked [data-edit]").click()
    page.locator(".turn textarea").fill("slow 5 5")
    page.locator(".turn textarea").press("Control+Enter")
    expect(page.locator(".turn")).to_have_count(5)
    walker.last().becomes("confirmed")
    page.locator(".asked .switcher").last.get_by_role("button", name="Previous version").click()
    expect(page.locator(".turn")).to_have_count(76)
    expect(page.locator(".asked .place")).to_be_in_viewport()
    assert first(page) == "Question 926?"


def test_an_old_message_is_opened_with_what_stands_around_it(walker: Person, server: ServerProcess) -> None:
    """From there a person scrolls to the end; what they ask before that stands at the end all the same."""
    page, url = walker.page, long_conversation(server, walker.name, 100)
    page.goto(f"{walker.url}/search/?q=%22question+30%3F%22")
    page.locator("a.hit").first.click()
    # First that: the hit, too, has the words.
    expect(page).to_have_url(re.compile(rf"^{re.escape(url)}\?at=[0-9a-f-]+#m-[0-9a-f-]+$"))
    expect(page.get_by_text("Question 30?", exact=True)).to_be_in_viewport()
    hash_ = page.url.partition("#")[2]
    # The same by a link that knows only the conversation, as somebody wrote it down.
    page.goto("about:blank")
    page.goto(f"{url}#{hash_}")
    expect(page.get_by_text("Question 30?", exact=True)).to_be_in_viewport()
    while page.locator("#later").count():
        shown = page.locator(".turn").count()
        page.locator("#later").scroll_into_view_if_needed()
        expect(page.locator(".turn").nth(shown)).to_be_attached()
    expect(page.locator(".question").last).to_have_text("Question 100?")
    walker.ask("slow 5 5").becomes("confirmed")
    page.goto(f"{walker.url}/")
    page.goto(f"{url}#{hash_}")
    expect(page.locator("#later")).to_be_attached()
    page.locator("textarea").fill("slow 5 6")
    page.locator("textarea").press("Enter")
    expect(page).to_have_url(url)
    expect(page.locator(".question").last).to_have_text("slow 5 6")
    walker.last().becomes("confirmed")


def test_earlier_messages_without_a_script(server: ServerProcess, new_person: NewPerson) -> None:
    """A link, and the page begins where one had been."""
    person = new_person(server.url, scripts=False)
    page = person.page
    page.goto(long_conversation(server, person.name, 60))
    page.get_by_role("link", name="Earlier messages").click()
    expect(page.get_by_text("Question 35?", exact=True)).to_be_in_viewport()
    page.get_by_role("link", name="Earlier messages").click()
    assert first(page) == "Question 1?"
    page.get_by_role("link", name="Later messages").click()
    expect(page.locator(".question")).to_have_count(25)
    page.get_by_role("link", name="To the end").click()
    expect(page.locator(".question").last).to_have_text("Question 60?")
