"""What the coach holds back is not on the page before it is checked; what it takes back is marked; a plan is a table."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.person import NewPerson, Person
from tests.fakes.processes import ProviderProcess, ServerProcess


@pytest.fixture(scope="module")
def coach(tmp_path_factory: pytest.TempPathFactory, provider: ProviderProcess) -> Iterator[ServerProcess]:
    """A server with the coach, whose replies take gates."""
    folder: Path = tmp_path_factory.mktemp("coach")
    with ServerProcess(folder, provider_url=provider.base_url, GYMNASIA_SYSTEM_PROMPT="") as running:
        yield running


@pytest.fixture
def person(coach: ServerProcess, new_person: NewPerson) -> Person:
    return new_person(coach.url)


def test_health_advice_is_held_and_then_set_in_ink(person: Person) -> None:
    """Never an empty bubble: the status says what is being done, until the whole answer stands there."""
    reply = person.ask("My knee hurts. May I squat? careful").becomes("buffered")
    expect(reply.element.locator(".mark.checking")).to_have_text("checking the health advice")
    expect(reply.element.locator(".mark.checking")).to_be_visible()
    assert reply.text == ""
    reply.becomes("confirmed")
    assert reply.text.endswith("fine for you.")
    assert [paint.state for paint in person.paints(reply)] == ["confirmed"]


def test_an_answer_that_breaks_a_rule_is_taken_back(person: Person) -> None:
    """What was seen stays, struck out; nothing of it can be copied, also after a reload."""
    reply = person.ask("How do I lift more? harmful").becomes("failed")
    for _ in range(2):
        assert (reply.reason, reply.text) == ("policy", "Warm up well first.")
        assert reply.ending.startswith("withdrawn This reply broke one of our rules for safe advice")
        expect(reply.element.locator("[data-copy]")).to_have_count(0)
        person.page.reload()
        reply = person.last()


def test_a_plan_is_held_and_then_a_table(person: Person) -> None:
    """Asked for in words or by the button; no JSON is ever on the page, and a bad one leaves a card and another try."""
    reply = person.ask("Make me a training plan. regimen").becomes("buffered")
    expect(reply.element.locator(".mark.checking")).to_have_text("making the plan, and checking it")
    reply.becomes("confirmed")
    expect(reply.element.locator("caption")).to_have_text(["Day A", "Day B"])
    assert not [paint for paint in person.paints(reply) if "{" in paint.text]
    person.page.get_by_role("button", name="Training plan").click()
    expect(person.page.locator("#composer-error")).to_contain_text("Write first what the plan is for")
    expect(person.page.locator("textarea")).to_be_focused()
    person.page.locator("textarea").fill("Another one: scribble")
    person.page.get_by_role("button", name="Training plan").click()
    expect(person.page.locator("[data-generation]")).to_have_count(2)
    failed = person.last().becomes("failed")
    assert (failed.reason, failed.text) == ("invalid_plan", "")
    expect(failed.element.get_by_role("button", name="Try again")).to_be_visible()
    person.page.reload()
    person.page.get_by_role("link", name="My plans").click()
    expect(person.page.locator("details.version")).to_have_count(1)
    expect(person.page.get_by_role("rowheader", name="Push-up")).to_be_visible()
