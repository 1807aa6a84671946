"""Versions in a real browser: edit, another answer, go on, switch; in two tabs, after a reload, and without a script."""

import re

from playwright.sync_api import Page, expect

from tests.browser.person import NewPerson, Person
from tests.fakes.processes import ServerProcess


def questions(page: Page) -> list[str]:
    return page.locator(".question").all_text_contents()


def step(page: Page, direction: str, *, group: str = ".asked") -> None:
    page.locator(f"{group} .switcher").last.get_by_role("button", name=f"{direction} version").click()


def test_edit_switch_and_another_answer_in_two_tabs(walker: Person) -> None:
    """Both tabs always show one branch, the same one after a reload, and the focus stays on the switcher."""
    page, other = walker.page, walker.tab()
    walker.ask("rest one").becomes("confirmed")
    walker.ask("slow 5 10").becomes("confirmed")
    other.goto(page.url)
    expect(other.locator(".turn")).to_have_count(2)

    page.locator(".asked").first.hover()
    page.locator(".asked [data-edit]").first.click()
    line = page.locator(".turn textarea")
    expect(line).to_be_focused()
    line.fill("slow 5 20")
    page.get_by_role("button", name="Ask").first.click()
    expect(page.locator(".turn")).to_have_count(1)
    expect(page.locator(".asked .place")).to_have_text("Version 2 / 2")
    walker.last().becomes("confirmed").has("w20")
    expect(other.locator(".question")).to_have_text(["slow 5 20"])  # it was told, and shows no mixture
    expect(other.locator("[data-generation]")).to_have_attribute("data-state", "confirmed")

    step(page, "Previous")
    expect(page.locator(".question")).to_have_text(["rest one", "slow 5 10"])
    expect(page.locator(".asked .switcher").first.get_by_role("button", name="Next version")).to_be_focused()
    expect(page.locator("#announcer")).to_have_text("Version 1 / 2")
    page.reload()
    assert questions(page) == ["rest one", "slow 5 10"]

    # The other tab still shows its branch: what is written there goes on there, and the first tab follows.
    walker.ask("slow 5 30", page=other).becomes("confirmed")
    assert questions(other) == ["slow 5 20", "slow 5 30"]
    expect(page.locator(".question")).to_have_text(["slow 5 20", "slow 5 30"])

    page.locator("[data-again]").last.click()
    menu = page.locator(".models button")
    expect(menu.first).to_be_focused()
    menu.first.click()
    expect(page.locator(".of-reply .place").last).to_have_text("Version 2 / 2")
    walker.last().becomes("confirmed")
    expect(other.locator(".of-reply .place").last).to_have_text("Version 2 / 2")
    expect(page.locator("article")).to_have_count(2)


def test_going_elsewhere_while_a_reply_is_written(walker: Person) -> None:
    """It can be stopped from where the person has gone, and stands where it belongs."""
    page = walker.page
    walker.ask("rest one").becomes("confirmed")
    page.locator(".asked").first.hover()
    page.locator(".asked [data-edit]").first.click()
    page.locator(".turn textarea").fill("slow 50 600")
    page.locator(".turn textarea").press("Control+Enter")
    expect(page.locator(".question")).to_have_text(["slow 50 600"])
    walker.last().has("w3")
    step(page, "Previous")
    expect(page.locator(".question")).to_have_text(["rest one"])
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("button", name="Stop")).to_be_hidden()
    step(page, "Next")
    expect(page.locator(".question")).to_have_text(["slow 50 600"])
    assert walker.last().state == "cancelled"


def test_a_limit_ones_own_version_and_ten_failures(walker: Person) -> None:
    page = walker.page
    cut = walker.ask("limit").becomes("incomplete")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("continues the reply above")).to_be_visible()
    expect(page.locator("article")).to_have_count(2)
    walker.last().becomes("confirmed")
    expect(cut.element).to_have_attribute("data-state", "incomplete")
    page.locator("[data-edit]").last.click()
    line = page.locator(".turn textarea")
    expect(line).to_have_value(re.compile(r"^w1 w2 w3 w4 w5 w6 "))  # both parts, to be made one by the person
    line.fill("My own.")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("[data-state=edited] .mark")).to_have_text("your own version")
    failing = walker.ask("denied").becomes("failed")
    for attempt in range(2, 12):
        failing.try_again()
        failing = walker.last()
        expect(page.locator("article").last.locator(".attempt")).to_have_text(f"attempt {attempt}")
        failing = walker.last().becomes("failed")
    page.reload()
    expect(page.get_by_text("10 earlier attempts")).to_be_visible()
    walker.ask("rest two").becomes("confirmed")


def test_versions_without_a_script(server: ServerProcess, new_person: NewPerson) -> None:
    person = new_person(server.url, scripts=False)
    page = person.page
    person.ask("rest one").becomes("confirmed")
    page.locator(".asked [data-edit]").click()
    page.locator("textarea").fill("rest two")
    page.get_by_role("button", name="Ask").click()
    expect(page.locator("[data-state=confirmed]")).to_have_count(1)
    step(page, "Previous")
    assert questions(page) == ["rest one"]
    page.get_by_role("link", name="Another answer").click()
    expect(page.locator("select[name=model] option")).to_have_count(2)
    page.get_by_role("button", name="Ask").click()
    expect(page.locator(".of-reply .place")).to_have_text("Version 2 / 2")
    expect(page.locator("[data-state=confirmed]")).to_have_count(1)
    page.locator("article [data-edit]").click()
    page.locator("textarea").fill("Mine.")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("[data-state=edited]")).to_contain_text("Mine.")
