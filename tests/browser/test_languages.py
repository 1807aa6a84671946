"""A person whose browser speaks Portuguese or Spanish reads everything in it, the last frame of a reply included."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.person import NewPerson
from tests.fakes.processes import ServerProcess


@pytest.mark.parametrize(
    ("locale", "lang", "ready", "again"),
    [("pt-BR", "pt-br", "pronta", "Tentar de novo"), ("es-MX", "es", "lista", "Intentar de nuevo")],
)
def test_a_conversation_in_the_persons_language(
    server: ServerProcess, new_person: NewPerson, locale: str, lang: str, ready: str, again: str
) -> None:
    """Chosen by the browser, also for what comes over the socket."""
    person = new_person(server.url, locale=locale)
    page = person.page
    expect(page.locator("html")).to_have_attribute("lang", lang)
    reply = person.ask("Hello").becomes("confirmed")
    expect(reply.element.locator(".mark")).to_have_text(ready)
    person.ask("early").becomes("incomplete")
    expect(page.get_by_role("button", name=again)).to_be_visible()
    # Words of ours that stand on every page, looked for one by one.
    english = r"\b(Try again|Sign out|New conversation|Copy|ready|Settings|Rename|Delete)\b"
    assert re.findall(english, page.locator("body").inner_text()) == []
