"""The same page with JavaScript switched off: plain forms, and a page that refreshes itself until the end."""

from playwright.sync_api import expect

from tests.browser.person import NewPerson
from tests.fakes.processes import ServerProcess


def test_ask_stop_and_try_again_work_as_plain_forms(server: ServerProcess, new_person: NewPerson) -> None:
    person = new_person(server.url, scripts=False)
    reply = person.ask("slow 10 50")
    # Nothing is pressed: the page's own refresh brings the end.
    reply.becomes("confirmed")
    assert reply.text.split() == [f"w{n}" for n in range(1, 51)]
    expect(person.page.locator("meta[http-equiv=refresh]")).to_have_count(0)
    running = person.ask("slow 100 600")
    person.stop()
    expect(running.element).to_have_attribute("data-state", "cancelled")
    running.try_again()
    expect(person.page.locator("[data-generation]")).to_have_count(3)
    person.stop()
    person.last().becomes("cancelled")


def test_nothing_is_typed_into_a_page_that_refreshes_itself(
    server: ServerProcess, new_person: NewPerson
) -> None:
    """It would be lost every two seconds: while a reply is written there is Stop, and a sentence that says why."""
    page = (person := new_person(server.url, scripts=False)).page
    expect(page.locator(".keys")).to_be_hidden()
    person.ask("slow 100 600")
    expect(page.get_by_text("This page refreshes itself until the reply has ended.")).to_be_visible()
    expect(page.locator("textarea, select, .keys").filter(visible=True)).to_have_count(0)
    person.stop()
    person.last().becomes("cancelled")
    expect(page.locator("textarea")).to_be_editable()
    expect(page.locator("select[name=model]")).to_be_visible()
    expect(page.locator(".refreshing, .keys").filter(visible=True)).to_have_count(0)
