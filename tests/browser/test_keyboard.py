"""Everything by keyboard: the listed keys, an input method that composes, and a focus that is never lost."""

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.person import NewPerson, Person
from tests.fakes.processes import ProviderProcess, ServerProcess

# What an input method sends for a key of a composition, which the page must leave alone.
COMPOSED = """([key, options]) => document.activeElement.dispatchEvent(
  new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true, isComposing: true, keyCode: 229, ...options}))"""


def focused(page: Page) -> str:
    """What has the focus, in a word."""
    found: str = page.evaluate("document.activeElement.id || document.activeElement.tagName")
    return found


def test_the_list_opens_by_its_keys_and_gives_the_focus_back(walker: Person) -> None:
    page = walker.page
    dialog = page.get_by_role("dialog", name="Keyboard shortcuts")
    page.locator("textarea").focus()
    page.keyboard.press("Control+/")
    expect(dialog).to_be_visible()
    page.keyboard.press("Control+Shift+O")  # what lies below is out of reach
    expect(dialog).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    assert focused(page) == "text"
    page.get_by_role("link", name="Enter asks").click()
    expect(dialog).to_be_visible()
    dialog.get_by_role("button", name="Close").press("Enter")
    expect(dialog).to_be_hidden()


def test_the_other_keys_do_what_they_are_listed_for(walker: Person) -> None:
    page = walker.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    walker.ask("slow 5 3").becomes("confirmed")
    walker.ask("slow 5 4").becomes("confirmed")
    page.keyboard.press("Control+Shift+C")
    expect(page.locator("[data-copy]").last).to_contain_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == "w1 w2 w3 w4 "
    page.locator("[data-copy]").first.focus()
    page.keyboard.press("Shift+Escape")
    assert focused(page) == "text"
    page.keyboard.press("Control+Shift+O")
    expect(page.locator("h1")).to_have_text("What shall we work on?")


@pytest.mark.parametrize("key", ["Enter", "Escape"])
def test_nothing_fires_while_an_input_method_composes(walker: Person, key: str) -> None:
    """Enter chooses a word and Escape gives one up: neither asks, neither stops."""
    page = walker.page
    reply = walker.ask("slow 50 600").has("w2")
    page.locator("textarea").fill("かんじ")
    page.locator("textarea").focus()
    page.evaluate(COMPOSED, [key, {}])
    page.evaluate(COMPOSED, ["/", {"ctrlKey": True}])
    reply.has("w9")
    assert reply.state == "buffered"
    expect(page.locator("textarea")).to_have_value("かんじ")
    expect(page.get_by_role("dialog")).to_have_count(0)
    walker.stop()
    reply.becomes("cancelled")


def test_the_focus_survives_the_end_of_a_reply(walker: Person, provider: ProviderProcess) -> None:
    """The final frame sets the whole reply anew; somebody who reads by keyboard stays where they were."""
    page = walker.page
    reply = walker.ask("mull")
    summary = reply.element.locator(".reasoning summary")
    expect(summary).to_be_visible()  # what is hidden takes no focus
    summary.focus()
    provider.go_on()
    reply.becomes("confirmed")
    expect(summary).to_be_focused()
    again = walker.ask("early").becomes("incomplete")
    again.element.get_by_role("button", name="Try again").press("Enter")
    expect(page.locator("[data-generation]")).to_have_count(3)
    walker.last().becomes("incomplete")
    assert focused(page) != "BODY"


def test_code_is_copied_and_wrapped_only_when_it_is_ready(
    server: ServerProcess, new_person: NewPerson
) -> None:
    person = new_person(server.url, permissions=["clipboard-read", "clipboard-write"])
    page = person.page
    reply = person.ask("How long should I rest?").has("def rest_seconds")
    if reply.state == "buffered":
        assert reply.element.locator(".code-tools").count() == 0
    reply.becomes("confirmed")
    wrap = reply.element.get_by_role("button", name="Wrap")
    wrap.press("Enter")
    expect(wrap).to_have_attribute("aria-pressed", "true")
    expect(reply.element.locator(".code.wrapped pre")).to_have_css("white-space", "pre-wrap")
    reply.element.locator(".code-tools").get_by_role("button", name="Copy").press("Enter")
    expect(page.locator("#announcer")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()").startswith("def rest_seconds(reps: int)")


def test_light_and_dark_are_chosen_at_once_and_kept(walker: Person) -> None:
    """And the last choice is the one that is kept, also where the first one is long on its way."""
    page, root = walker.page, walker.page.locator("html")
    on_its_way: list[Route] = []
    page.route("**/theme/", lambda route: on_its_way.append(route), times=1)  # noqa: PLW0108 (Playwright marks it)
    page.get_by_role("button", name="Dark").press("Enter")
    expect(root).to_have_attribute("data-theme", "dark")
    expect(page.locator("body")).to_have_css("color-scheme", "dark")
    page.get_by_role("button", name="Light", exact=True).press("Enter")
    expect(root).to_have_attribute("data-theme", "light")
    with page.expect_response(lambda answer: '"theme"\r\n\r\nlight' in (answer.request.post_data or "")):
        on_its_way[0].continue_()
    page.reload()
    expect(root).to_have_attribute("data-theme", "light")
    with page.expect_response("**/theme/"):
        page.get_by_role("button", name="Like the system").press("Enter")
    page.reload()
    assert root.get_attribute("data-theme") is None


def test_a_listener_hears_the_start_progress_and_the_end_and_no_token(walker: Person) -> None:
    page = walker.page
    page.goto(f"{walker.url}/")
    page.add_init_script(
        """addEventListener("DOMContentLoaded", () => { window.heard = [];
        new MutationObserver(() => heard.push(document.getElementById("announcer").textContent))
          .observe(document.getElementById("announcer"), {childList: true, characterData: true, subtree: true}); })"""
    )
    walker.ask("slow 5 3").becomes("confirmed")
    walker.ask("slow 5 4").becomes("confirmed")
    page.wait_for_function("() => heard.at(-1) === 'Ready'")
    page.evaluate("heard.length = 0")
    walker.ask("stall").has("w6")
    page.wait_for_function("() => heard.some((words) => words.startsWith('Words so far'))")
    walker.last().becomes("incomplete")
    heard: list[str] = page.evaluate("heard")
    assert heard[0] == "Reply started"
    assert heard[-1].endswith("The model went silent, so we stopped waiting.")
    assert [words for words in heard if words.startswith("w")] == []
    assert len(heard) < 8


def test_at_320_pixels_nothing_scrolls_sideways(server: ServerProcess, new_person: NewPerson) -> None:
    """640 pixels at 200 % are 320; what is wide scrolls inside."""
    person = new_person(server.url, viewport={"width": 320, "height": 600})
    for question in ("How long should I rest?", "attack"):
        person.ask(question).becomes("confirmed")
    for path in ("/", "/shortcuts/", "/presets/", "/usage/", person.page.url.removeprefix(server.url)):
        person.page.goto(f"{server.url}{path}")
        assert person.page.evaluate("document.documentElement.scrollWidth") == 320, path


def test_the_first_words_do_not_wait_for_markdown(walker: Person) -> None:
    """On a slow line the modules come late: the draft stands there plain, and is set when they have come."""
    page = walker.page
    walker.ask("slow 5 3").becomes("confirmed")
    page.reload()  # a page of its own, on which nothing has been written yet
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/vendor/**", hold)
    reply = walker.ask("What is good to eat?")
    reply.has("**a bowl of rice")
    for route in held:
        route.continue_()
    page.unroute("**/vendor/**")
    reply.becomes("confirmed")
    expect(reply.element.locator("strong")).to_contain_text("a bowl of rice")
