"""A draft as it grows: in one tab, after a reload, in a second tab, and until Stop."""

import time

from playwright.sync_api import expect

from tests.browser.person import UNFINISHED, Person, numbered
from tests.fakes.processes import ProviderProcess, wait_for


def test_a_draft_grows_and_becomes_an_answer(walker: Person) -> None:
    reply = walker.ask("slow 20 60").becomes("confirmed")
    seen = walker.paints(reply)
    drafts = [paint.text for paint in seen if UNFINISHED.match(paint.state)]
    assert len(drafts) >= 2
    assert [numbered(text) for text in drafts] == sorted(numbered(text) for text in drafts)
    assert numbered(reply.text) == 60
    expect(reply.element.locator("[data-copy]")).to_be_visible()


def test_a_reload_in_mid_stream_shows_all_and_goes_on(walker: Person) -> None:
    """The half that was there before the reload is the half that other products lose."""
    reply = walker.ask("slow 25 200").has("w20")
    for at in (40, 60, 90):
        before = numbered(reply.text)
        walker.page.reload()
        reply = walker.last()
        assert UNFINISHED.match(reply.state)
        assert numbered(reply.text) >= before
        reply.has(f"w{at}")
    reply.becomes("confirmed")
    assert numbered(reply.text) == 200


def test_a_second_tab_learns_of_new_replies(walker: Person, provider: ProviderProcess) -> None:
    first = walker.ask("slow 5 20").becomes("confirmed")
    other = walker.tab()
    other.goto(walker.page.url)
    expect(other.locator("[data-generation]")).to_have_count(1)
    asked = walker.ask("held 20")
    expect(other.locator("[data-generation]")).to_have_count(2)
    twin = walker.last(other)
    assert (twin.generation, first.state) == (asked.generation, "confirmed")
    twin.has("w10")
    assert UNFINISHED.match(twin.state)
    provider.go_on()
    twin.becomes("confirmed")
    assert numbered(twin.text) == numbered(asked.becomes("confirmed").text)
    expect(other.locator(".question").last).to_have_text("held 20")


def test_stop_closes_the_providers_connection(walker: Person, provider: ProviderProcess) -> None:
    """Case 23: a Stop that only stops the picture leaves the provider writing, and somebody paying. Who clicks twice has
    stopped it once, and pressed nothing else."""
    text = f"slow 100 600 {walker.name}"
    reply = walker.ask(text).has("w5")

    def record() -> dict[str, float]:
        [found] = [seen for seen in provider.requests() if seen["user_text"] == text]
        return found

    with walker.page.expect_response("**/stop/"):
        walker.page.get_by_role("button", name="Stop").dblclick()
    stopped = time.monotonic()
    wait_for(lambda: record()["peer_closed_at"], what="the provider's connection is closed", timeout_s=5)
    assert record()["peer_closed_at"] - stopped < 1
    reply.becomes("cancelled")
    expect(walker.page.locator("[data-generation]")).to_have_count(1)
    shown = numbered(reply.text)
    assert 5 <= shown <= len(record()["paced_at"])  # type: ignore[arg-type]
    walker.page.reload()
    kept = walker.last()
    assert (kept.state, numbered(kept.text)) == ("cancelled", shown)
    expect(kept.element.get_by_role("button", name="Try again")).to_be_visible()


def test_stop_before_the_first_byte(walker: Person, provider: ProviderProcess) -> None:
    text = f"hold {walker.name}"
    reply = walker.ask(text)
    wait_for(lambda: text in [seen["user_text"] for seen in provider.requests()], what="the request")
    before, stopped = time.monotonic(), walker.stop()
    reply.becomes("cancelled")
    [record] = [seen for seen in provider.requests() if seen["user_text"] == text]
    assert before < record["peer_closed_at"] < stopped + 1


def test_reasoning_is_open_while_it_is_written_and_folds_for_the_answer(
    walker: Person, provider: ProviderProcess
) -> None:
    reply = walker.ask("mull")
    block = reply.element.locator("details.reasoning")
    expect(block).to_have_attribute("open", "")
    provider.go_on()
    reply.becomes("confirmed")
    expect(block).not_to_have_attribute("open", "")
    assert reply.text == "Here is the reply."
