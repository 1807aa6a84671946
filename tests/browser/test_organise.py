"""Finding again and putting in order: search by keyboard, pin, archive, delete and undo, without leaving the page."""

import json
import re

from playwright.sync_api import Browser, expect

from tests.browser.person import NewPerson, Person
from tests.fakes.processes import ServerProcess
from tests.importing.files import plain


def test_search_opens_by_keys_and_leads_to_the_message(walker: Person) -> None:
    """Ctrl+K, words, Enter; by its name first, then the message, also where that stands on another branch."""
    page = walker.page
    walker.ask("slow 5 3 herons at dawn").becomes("confirmed")
    there = page.url
    page.locator(".asked").hover()
    page.locator(".asked [data-edit]").click()
    page.locator(".turn textarea").fill("slow 5 3 egrets")
    page.locator(".turn textarea").press("Control+Enter")
    expect(page.locator(".question")).to_have_text(["slow 5 3 egrets"])
    walker.last().becomes("confirmed")
    walker.page.goto(f"{walker.url}/")
    page.keyboard.press("Control+k")
    dialog = page.locator("#finder")
    expect(dialog.get_by_role("searchbox")).to_be_focused()
    expect(dialog.locator(".hit")).to_have_count(1)  # where one was last
    page.keyboard.type("HERONS")
    expect(dialog.locator("mark")).to_have_text(["herons", "herons"])
    page.keyboard.press("Enter")
    expect(page).to_have_url(there)
    walker.at_hand(page)
    page.keyboard.press("Control+k")
    page.keyboard.type("herons")
    expect(dialog.locator("mark")).to_have_text(["herons", "herons"])
    page.keyboard.press("ArrowDown")
    expect(dialog.locator(".hit").first).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Control+k")
    expect(dialog).to_be_hidden()
    page.keyboard.press("Control+k")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    page.keyboard.press("Control+k")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(re.escape(there) + "#m-"))
    expect(page.locator(".turn:target .question")).to_have_text("slow 5 3 herons at dawn")


def test_a_small_window_begins_at_the_beginning(walker: Person) -> None:
    """The line has the focus and is in sight; for that nothing is scrolled."""
    page = walker.page
    page.set_viewport_size({"width": 480, "height": 420})
    page.goto(f"{walker.url}/")
    expect(page.locator("textarea")).to_be_focused()
    assert page.evaluate("[scrollY, document.documentElement.scrollHeight > innerHeight]") == [0, True]


def test_the_list_is_put_in_order_in_place(walker: Person) -> None:
    """Pin, rename, archive, delete and undo from the menu of an entry; the page that is read stays."""
    page = walker.page
    titles = ["slow 5 3 ants", "slow 5 3 bees", "slow 5 3 cats"]
    for title in titles:
        page.goto(f"{walker.url}/")
        walker.ask(title).becomes("confirmed")
    here = page.url
    contents = page.locator("#contents")

    def choose(title: str, verb: str) -> None:
        item = contents.locator("li").filter(has_text=title)
        item.hover()
        item.locator("summary").click()
        item.get_by_text(verb, exact=True).click()

    choose("ants", "Pin")
    expect(contents.locator("h2").first).to_have_text("Pinned")
    expect(contents.locator("li").first).to_contain_text("ants")
    choose("bees", "Rename")
    page.keyboard.type("Bumblebees")
    page.keyboard.press("Enter")
    expect(contents.get_by_role("link", name="Bumblebees")).to_be_focused()
    choose("ants", "Archive")
    expect(contents.locator(".entry")).to_have_count(2)
    page.locator("#toast").get_by_role("button", name="Undo").click()
    expect(contents.locator(".entry")).to_have_count(3)
    choose("ants", "Archive")
    expect(page.locator("#toast")).to_contain_text("“slow 5 3 ants” was archived.")
    expect(contents.locator(".entry")).to_have_count(2)
    choose("Bumblebees", "Delete")
    expect(page.locator("#toast")).to_contain_text("“Bumblebees” was deleted.")
    expect(contents.locator(".entry")).to_have_count(1)
    page.locator("#toast").get_by_role("button", name="Undo").click()
    expect(contents.locator(".entry")).to_have_count(2)
    assert page.url == here
    choose("cats", "Delete")
    expect(page.locator(".notice.undo")).to_contain_text("was deleted.")
    page.locator(".notice.undo").get_by_role("button", name="Undo").click()
    expect(page).to_have_url(here)
    expect(page.locator("[data-generation]")).to_have_attribute("data-state", "confirmed")
    contents.get_by_role("link", name="Archive").click()
    expect(page.locator(".rows li")).to_have_count(1)
    page.locator(".rows li").get_by_role("button", name="Unarchive").click()
    expect(page.locator(".rows li")).to_have_count(0)


def test_all_of_it_without_a_script(server: ServerProcess, new_person: NewPerson) -> None:
    person = new_person(server.url, scripts=False)
    page = person.page
    person.ask("slow 5 3 plain herons").becomes("confirmed")
    here = page.url
    page.locator("#contents").get_by_role("link", name="Search").click()
    page.get_by_role("searchbox").fill("herons")
    page.get_by_role("searchbox").press("Enter")
    page.locator("main .hit[data-message]").click()
    expect(page).to_have_url(re.compile(re.escape(here) + "#m-"))
    item = page.locator("#contents li")
    item.hover()
    item.locator("summary").click()
    item.get_by_role("button", name="Pin").click()
    expect(page.locator("#contents h2").first).to_have_text("Pinned")
    page.locator(".headline").get_by_role("button", name="Delete").click()
    expect(page.locator("#contents .entry")).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(page).to_have_url(here)
    page.locator(".headline").get_by_role("link", name="Rename").click()
    page.get_by_role("textbox", name="Name").fill("Birds")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Birds")
    item.hover()
    item.locator("summary").click()
    item.get_by_role("button", name="Archive").click()
    expect(page.locator("#contents .entry")).to_have_count(0)
    page.goto(f"{server.url}/presets/")
    page.get_by_role("textbox", name="Name").fill("Brief")
    page.locator("main textarea").fill("Answer in one sentence.")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Answer in one sentence.")).to_be_visible()
    page.goto(f"{here}export/")
    with page.expect_download() as download:
        page.get_by_role("listitem").filter(has_text="Markdown").get_by_role("link").click()
    assert "slow 5 3 plain herons" in download.value.path().read_text(encoding="utf-8")


def test_a_link_is_read_by_somebody_without_an_account(
    server: ServerProcess, new_person: NewPerson, chromium: Browser
) -> None:
    """As it was when it was made, and no longer than until it is revoked; made and revoked without a script."""
    walker = new_person(server.url, scripts=False)
    page = walker.page
    walker.ask("slow 5 3 shared herons").becomes("confirmed")
    page.locator(".headline").get_by_role("link", name="Share").click()
    page.get_by_role("button", name="Make a link").click()
    link = page.locator("a.address")
    address = link.get_attribute("href") or ""
    with chromium.new_context() as anybody:
        other = anybody.new_page()
        other.goto(address)
        expect(other.locator(".question")).to_have_text("slow 5 3 shared herons")
        expect(other.locator(".reply .answer")).to_contain_text("w3")
        expect(other.get_by_text("ready", exact=True)).to_be_visible()
        page.get_by_role("button", name="Revoke").click()
        expect(page.get_by_text("You share nothing.")).to_be_visible()
        answer = other.reload()
        assert answer is not None
        assert answer.status == 404


def test_an_import_comes_once(server: ServerProcess, new_person: NewPerson) -> None:
    """The report refreshes itself, also without a script; the second time everything is there already."""
    walker = new_person(server.url, scripts=False)
    page = walker.page
    file = {
        "name": "conversations.json",
        "mimeType": "application/json",
        "buffer": json.dumps([plain()]).encode(),
    }
    for said in ("1 conversation came", "1 was here already"):
        page.goto(f"{walker.url}/import/")
        page.locator("input[type=file]").set_input_files(file)  # type: ignore[arg-type]
        page.get_by_role("button", name="Import").click()
        expect(page.get_by_text(said)).to_be_visible(timeout=20_000)
    page.goto(f"{walker.url}/")
    expect(page.locator("#contents .entry")).to_have_count(1)
    page.locator("#contents .entry").click()
    expect(page.locator(".question")).to_have_text("How long?")
