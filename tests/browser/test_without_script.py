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
