"""A person whose browser speaks Portuguese or Spanish reads everything in it, the last frame of a reply included."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.person import NewPerson, Person
from tests.fakes.processes import ServerProcess

# Where the text of the first such element stands in it.
SIDE = """(selector) => {
  const element = document.querySelector(selector);
  if (element instanceof HTMLTextAreaElement) return element.matches(":dir(rtl)") ? "right" : "left";
  const range = document.createRange();
  range.selectNodeContents(element);
  const text = range.getClientRects()[0], box = element.getBoundingClientRect();
  return text.left - box.left > box.right - text.right ? "right" : "left";
}"""
SIDES = {
    ".question": "right",
    ".turn:last-of-type .question": "left",
    ".turn:last-of-type [data-lane=answer] p": "right",
}


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


def test_right_to_left_stands_at_the_right(walker: Person) -> None:
    """Whoever writes Arabic or Hebrew reads it where it begins: on the line, as a message, in an answer, in the list."""
    page = walker.page
    page.locator("textarea").fill("ابدأ ببطء")
    assert page.evaluate(SIDE, "textarea") == "right"
    walker.ask("ابدأ ببطء").becomes("confirmed")
    walker.ask("rtl").becomes("confirmed")
    expect(page.locator("h1:dir(rtl)")).to_have_text("ابدأ ببطء")
    expect(page.locator(".contents .title:dir(rtl)")).to_have_text("ابدأ ببطء")
    assert [page.evaluate(SIDE, each) for each in SIDES] == list(SIDES.values())
