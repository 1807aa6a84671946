"""What goes wrong before or instead of an answer, as a person meets it: one sentence, what to do, and no word lost."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.person import NewPerson, Person
from tests.fakes.processes import ProviderProcess, ServerProcess


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory, provider: ProviderProcess) -> Iterator[ServerProcess]:
    """A server that lets a person ask five times an hour."""
    data = tmp_path_factory.mktemp("strict")
    with ServerProcess(data, provider_url=provider.base_url, GYMNASIA_MESSAGES_PER_HOUR="5") as running:
        yield running


@pytest.fixture
def limited(strict: ServerProcess, new_person: NewPerson) -> Person:
    return new_person(strict.url)


def test_each_refusal_says_what_to_do_and_the_limit_says_when(limited: Person) -> None:
    page = limited.page
    told = {
        "denied": ("unauthorized", "The provider did not accept this server's key. Another model may work."),
        "gone": ("not_found", "The provider does not know this model any more. Choose another one below."),
        "later": ("rate_limited", "The provider has too many requests. It can be asked again in 10 minutes."),
        "full": ("context_window", "This conversation no longer fits into the model."),
    }
    for wish, (reason, sentence) in told.items():
        reply = limited.ask(wish).becomes("failed")
        assert reply.reason == reason
        assert sentence in reply.ending
        expect(reply.element.get_by_role("button", name="Try again")).to_be_visible()
    expect(limited.last().element.get_by_role("link", name="New conversation")).to_be_visible()
    limited.ask("And now?").becomes("confirmed")
    line = page.locator("textarea")
    line.fill("One more")
    line.press("Enter")
    limit = "That was more than this server allows within an hour. You can ask again in"
    expect(page.locator("#composer-error")).to_contain_text(limit)
    expect(line).to_have_value("One more")
    limited.forgive("429")


def test_offline_the_text_waits_for_the_line(server: ServerProcess, new_person: NewPerson) -> None:
    """Said at once, and taken back by itself when the server is there again."""
    person = new_person(server.url)
    page = person.page
    person.ask("Hello").becomes("confirmed")
    person.context.set_offline(True)
    line = page.locator("textarea")
    line.fill("Is anybody there?")
    line.press("Enter")
    expect(page.locator("#composer-error")).to_contain_text("Your text is kept here")
    expect(line).to_have_value("Is anybody there?")
    person.context.set_offline(False)
    line.press("Enter")
    expect(page.locator("[data-generation]")).to_have_count(2)
    person.last().becomes("confirmed")
    person.forgive("ERR_INTERNET_DISCONNECTED", "WebSocket")
