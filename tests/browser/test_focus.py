"""Who works by keyboard is never put back to the top of the page: after each command the focus stands somewhere sensible."""

from playwright.sync_api import Locator, Page, expect

from tests.browser.person import Person


def test_editing_asking_again_and_switching(walker: Person) -> None:
    page = walker.page
    line = page.locator("#text")
    walker.ask("rest one").becomes("confirmed")
    page.keyboard.press("Control+Shift+E")
    edit = page.locator(".turn textarea")
    expect(edit).to_be_focused()
    # What is wrong is told where it was written, and the text stays.
    edit.fill("x" * 40_000)
    page.keyboard.press("Control+Enter")
    expect(page.locator(".turn form.edit").get_by_role("alert")).to_contain_text("This text cannot be kept")
    expect(edit).to_be_focused()
    expect(edit).to_have_accessible_description(
        "This text cannot be kept: it is empty or too long, or what it belongs to is gone."
    )
    edit.fill("rest two")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".question")).to_have_text(["rest two"])
    expect(line).to_be_focused()
    walker.last().becomes("confirmed")
    page.locator("article [data-edit]").press("Enter")
    expect(edit).to_be_focused()
    edit.fill("My own.")
    page.get_by_role("button", name="Save").press("Enter")
    expect(page.locator("[data-state=edited]")).to_contain_text("My own.")
    expect(line).to_be_focused()
    page.locator(".of-reply [data-switch=previous]").press("Enter")
    expect(page.locator(".of-reply [data-switch=following]")).to_be_focused()
    page.locator("[data-again]").press("Enter")
    page.locator(".models button").first.press("Enter")
    expect(page.locator(".of-reply .place")).to_contain_text("/ 3")
    expect(line).to_be_focused()
    walker.last().becomes("confirmed")
    walker.forgive("status of 400")


def test_putting_the_list_in_order(walker: Person) -> None:
    page = walker.page
    for title in ("slow 5 3 ants", "slow 5 3 bees", "slow 5 3 cats"):
        page.goto(f"{walker.url}/")
        walker.ask(title).becomes("confirmed")
    contents = page.locator("#contents")

    def press(root: Locator | Page, title: str, verb: str) -> None:
        item = root.locator("li").filter(has_text=title)
        if root is contents:
            item.locator("summary").press("Enter")
        item.get_by_text(verb, exact=True).press("Enter")

    def entry(title: str) -> Locator:
        return contents.locator("a.entry").filter(has_text=title)

    press(contents, "bees", "Pin")
    expect(contents.locator("h2").first).to_have_text("Pinned")
    expect(entry("bees")).to_be_focused()
    press(contents, "bees", "Archive")
    expect(contents.locator(".entry")).to_have_count(2)
    expect(page.locator("#toast").get_by_role("button", name="Undo")).to_be_focused()
    press(contents, "ants", "Delete")
    expect(page.locator("#toast").get_by_role("button", name="Undo")).to_be_focused()
    page.keyboard.press("Enter")
    expect(entry("ants")).to_be_focused()
    # The page of all conversations is fetched anew, and the focus is where it was.
    page.goto(f"{walker.url}/conversations/")
    rows = page.locator("main .rows")
    press(rows, "ants", "Pin")
    expect(rows.locator("li").filter(has_text="ants").get_by_role("button", name="Unpin")).to_be_visible()
    expect(rows.locator("a.title").filter(has_text="ants")).to_be_focused()
    press(rows, "ants", "Delete")
    expect(page.locator("#toast").get_by_role("button", name="Undo")).to_be_focused()
    page.keyboard.press("Enter")
    expect(rows.locator("a.title").filter(has_text="ants")).to_be_focused()
