"""The whole promise with the real local model: sign up, ask, see it grow, reload, stop, try again, confirmed."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from chat import local_model
from tests.browser.person import UNFINISHED, NewPerson
from tests.fakes.processes import ServerProcess, wait_for

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


@pytest.fixture(scope="module")
def doors_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server that knows the local model as if it were three vendors: llama.cpp speaks the wire of each."""
    data = tmp_path_factory.mktemp("doors")
    model = local_model.start(data=data)
    assert isinstance(model, local_model.LocalModel), model
    try:
        wait_for(model.ready, what="the local model", timeout_s=60)
        addresses: dict[str, Any] = {f"{name}_BASE_URL": model.base_url for name in ("OPENAI", "ANTHROPIC")}
        with ServerProcess(data, **addresses) as running:
            yield running
    finally:
        model.stop()


@pytest.mark.parametrize(
    "choice", ["openai:gpt-4.1-mini", "openai-responses:gpt-5-mini", "anthropic:claude-haiku-4-5-20251001"]
)
def test_each_of_its_doors_confirms_a_reply(
    doors_server: ServerProcess, new_person: NewPerson, choice: str
) -> None:
    """/v1/chat/completions, /v1/responses (which has neither numbers nor output indexes here) and /v1/messages."""
    person = new_person(doors_server.url)
    person.page.locator("select[name=model]").select_option(choice)
    reply = person.ask("Say hello in one short sentence.").becomes("confirmed", timeout_s=90)
    assert any(UNFINISHED.match(paint.state) for paint in person.paints(reply))
    assert reply.text
    expect(reply.element.locator("[data-copy]")).to_be_visible()
    person.page.reload()
    assert (person.last().state, person.last().text) == ("confirmed", reply.text)
