"""The whole promise with the real local model: sign up, ask, see it grow, reload, stop, try again, confirmed."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.person import UNFINISHED, NewPerson
from tests.fakes.processes import ServerProcess

pytestmark = pytest.mark.local_model


@pytest.fixture(scope="module")
def local_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with ServerProcess(tmp_path_factory.mktemp("local"), GYMNASIA_LOCAL_MODEL="on") as running:
        yield running


def test_a_real_conversation(local_server: ServerProcess, new_person: NewPerson) -> None:
    person = new_person(local_server.url)
    reply = person.ask("Write a long story about a small boat and a storm.")
    seen = person.sees_paints(3, reply)
    drafts = [paint for paint in seen if UNFINISHED.match(paint.state)]
    assert len(drafts) >= 2
    before = drafts[-1].text
    person.page.reload()
    reply = person.last()
    assert UNFINISHED.match(reply.state)
    assert len(reply.text) >= len(before) - 2  # Markdown that was open may close differently
    person.sees_paints(1, reply)
    person.stop()
    reply.becomes("cancelled")
    assert reply.text
    reply.try_again()
    expect(person.page.locator("[data-generation]")).to_have_count(2)
    person.sees_paints(2, person.last())
    person.stop()
    person.last().becomes("cancelled")
    answer = person.ask("Say hello in one short sentence.").becomes("confirmed", timeout_s=60)
    assert answer.text
    expect(answer.element.locator("[data-copy]")).to_be_visible()
    person.page.reload()
    assert person.last().text == answer.text
