"""Replies that do not become an answer: the page says why, offers a retry, and keeps them apart from messages."""

import json
import re

import pytest
from playwright.sync_api import expect

from tests.browser.person import Person
from tests.fakes.processes import ProviderProcess


@pytest.mark.parametrize(
    ("wish", "state", "reason", "kept"),
    [
        ("early", "incomplete", "stream_truncated", "w1 w2 w3 w4 w5 w6"),
        ("stall", "incomplete", "stalled", "w1 w2 w3 w4 w5 w6"),
        ("limit", "incomplete", "max_tokens", "w1 w2 w3 w4 w5 w6"),
        ("filter", "incomplete", "content_filter", "w1 w2 w3 w4 w5 w6"),
        ("refuse", "failed", "model_refusal", ""),
        ("denied", "failed", "unauthorized", ""),
        ("html", "failed", "bad_response", ""),
        ("empty", "failed", "empty_answer", ""),
    ],
)
def test_a_reply_without_an_answer_says_why(
    walker: Person, wish: str, state: str, reason: str, kept: str
) -> None:
    """Half an answer that looks like one is the fault that this product exists to prevent."""
    reply = walker.ask(f"Please {wish}").becomes(state)
    assert (reply.reason, reply.text) == (reason, kept)
    assert len(reply.ending) > 20
    expect(reply.element.locator("[data-copy]")).to_have_count(0)
    walker.page.reload()
    again = walker.last()
    assert (again.generation, again.state, again.text) == (reply.generation, state, kept)
    expect(again.element.get_by_role("button", name="Try again")).to_be_visible()


def messages(record: dict[str, str]) -> list[dict[str, str]]:
    """The prompt of a request as the provider got it."""
    found: list[dict[str, str]] = json.loads(record["body"])["messages"]
    return found


def test_what_was_not_an_answer_is_not_sent_to_the_provider(
    walker: Person, provider: ProviderProcess
) -> None:
    """The next prompt is made of messages alone; the two questions in a row arrive as one turn."""
    mark = walker.name
    walker.ask(f"early {mark}").becomes("incomplete")
    walker.ask(f"And now? {mark}").becomes("confirmed")
    walker.ask(f"And then? {mark}").becomes("confirmed")
    [last] = [seen for seen in provider.requests() if seen["user_text"] == f"And then? {mark}"]
    turns = [
        (message["role"], message["content"]) for message in messages(last) if message["role"] != "system"
    ]
    answer = " ".join(f"w{n}" for n in range(1, 41))
    assert [(role, text.strip()) for role, text in turns] == [
        ("user", f"early {mark}\n\nAnd now? {mark}"),
        ("assistant", answer),
        ("user", f"And then? {mark}"),
    ]


def test_a_lost_connection_is_followed_by_new_attempts(walker: Person) -> None:
    """Each attempt is a reply of its own: what the first had shown never runs into the second."""
    first = walker.ask(f"mend cut {walker.name}")
    first.becomes("incomplete")
    expect(walker.page.locator("[data-generation]")).to_have_count(2)
    second = walker.page.locator('[data-generation][data-state="confirmed"]')
    expect(second).to_have_count(1, timeout=20_000)
    assert first.reason == "connection_lost"
    assert (second.locator("[data-lane=answer]").text_content() or "").split() == [
        f"w{n}" for n in range(1, 41)
    ]


def test_attempts_are_bounded_and_then_the_person_is_asked(walker: Person) -> None:
    """An overloaded provider is tried twice more by itself, never for ever."""
    walker.ask(f"error {walker.name}")
    replies = walker.page.locator("[data-generation]")
    expect(replies).to_have_count(3)
    expect(walker.page.locator('[data-generation][data-state="failed"]')).to_have_count(3)
    assert [one.get_attribute("data-reason") for one in replies.all()] == ["provider_error"] * 3
    assert walker.page.locator(".attempt").all_text_contents() == ["attempt 2", "attempt 3"]
    expect(walker.last().element.get_by_role("button", name="Try again")).to_be_visible()


def test_try_again_brings_an_answer(walker: Person) -> None:
    reply = walker.ask(f"mend limit {walker.name}").becomes("incomplete")
    reply.try_again()
    expect(walker.page.locator("[data-generation]")).to_have_count(2)
    answer = walker.last().becomes("confirmed")
    assert answer.text.split() == [f"w{n}" for n in range(1, 41)]
    expect(answer.element).to_contain_text(re.compile("ready"))
    walker.page.reload()
    expect(walker.page.locator('[data-generation][data-state="confirmed"]')).to_have_count(1)
