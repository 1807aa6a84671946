"""What a tab tells of what it does not show: a reply that ended while nobody looked, and what was done in another tab."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.person import Person
from tests.browser.test_transports import NO_SOCKETS, feeds, swallow
from tests.fakes.processes import ProviderProcess

# Headless pages are always looked at, and their notifications go nowhere: both are stood in for.
STAND_IN = """
window.notes = [];
window.isAway = false;
for (const [name, value] of [["hidden", () => isAway], ["visibilityState", () => (isAway ? "hidden" : "visible")]])
  Object.defineProperty(document, name, { get: value });
window.waiting = [];
const frame = window.requestAnimationFrame.bind(window);
// A hidden page gets no frames, not even those that it has asked for.
window.requestAnimationFrame = (run) => frame((at) => (isAway ? waiting.push(run) : run(at)));
window.look = (away) => {
  window.isAway = away;
  document.dispatchEvent(new Event("visibilitychange"));
  if (!away) for (const run of waiting.splice(0)) requestAnimationFrame(run);
};
window.focused = 0;
window.focus = () => window.focused++;
window.Notification = class extends EventTarget {
  static permission = "default";
  static asked = 0;
  static async requestPermission() { Notification.asked++; return (Notification.permission = "granted"); }
  constructor(title, { body }) { super(); notes.push([title, body]); window.lastNote = this; }
  close() { notes.push(["closed"]); }
};
"""


def icon(page: Page) -> str:
    """Which of its faces the tab shows."""
    href = page.locator("link[rel=icon]").get_attribute("href") or ""
    return href.rsplit("/", 1)[1].split(".")[0]


def becomes(page: Page, face: str) -> None:
    page.wait_for_function(
        "(face) => document.querySelector('link[rel=icon]').href.includes(`/${face}.`)",
        arg=face,
        polling=50,  # not by frames: a page that nobody looks at has none
    )


def test_a_hidden_tab_tells_how_a_reply_ended(walker: Person, provider: ProviderProcess) -> None:
    """Ready only when it is; nothing at all before the person has asked for it; nothing left once they have looked."""
    page = walker.page
    page.add_init_script(STAND_IN)
    walker.ask("slow 20 5").becomes("confirmed")
    page.reload()
    title = page.title()
    assert (icon(page), page.evaluate("Notification.asked")) == ("favicon", 0)
    reply = walker.ask("held").has("w5")
    assert icon(page) == "favicon-running"
    page.evaluate("look(true)")
    provider.go_on()
    becomes(page, "favicon-ready")
    assert reply.state == "confirmed"
    assert (page.title(), page.evaluate("notes")) == (f"● Ready · {title}", [])
    page.evaluate("look(false)")
    assert (page.title(), icon(page)) == (title, "favicon")

    switch = page.get_by_role("button", name="Tell me when it is ready")
    switch.click()
    expect(switch).to_have_attribute("aria-pressed", "true")
    assert page.evaluate("Notification.asked") == 1
    page.evaluate("Notification.permission = 'denied'")
    switch.click()
    expect(page.locator("#toast")).to_contain_text("Your browser does not let this page notify you.")
    expect(switch).to_have_attribute("aria-pressed", "false")
    page.evaluate("Notification.permission = 'granted'")
    switch.click()
    expect(switch).to_have_attribute("aria-pressed", "true")
    walker.ask("held").has("w5")
    page.evaluate("look(true)")
    assert page.evaluate("notes") == []
    provider.go_on()
    page.wait_for_function("() => notes.length > 0", polling=50)
    heading = page.locator(".headline h1").text_content()
    assert (page.evaluate("notes"), icon(page)) == ([["Ready", heading]], "favicon-ready")
    page.evaluate("lastNote.dispatchEvent(new Event('click')); look(false)")
    assert (page.evaluate("focused"), page.evaluate("notes[1]"), icon(page)) == (1, ["closed"], "favicon")

    walker.ask("held").has("w5")
    page.evaluate("look(true)")
    walker.stop()
    becomes(page, "favicon-look")
    assert (page.evaluate("notes.at(-1)"), page.title()) == (["Ended", heading], f"○ Ended · {title}")
    switch.click()
    expect(switch).to_have_attribute("aria-pressed", "false")


@pytest.mark.parametrize("by", ["events", "poll"])
def test_a_hidden_tab_without_a_socket_tells_it_too(
    walker: Person, provider: ProviderProcess, by: str
) -> None:
    """It holds no stream while nobody looks, for a browser has few connections to a server; it asks now and then, and hears
    the end of a reply before anybody looks again."""
    page = walker.page
    page.add_init_script(STAND_IN + NO_SOCKETS)
    if by == "poll":
        page.route(re.compile(r"/events(\?|$)"), swallow)
    walker.ask("rest one").becomes("confirmed")
    page.reload()
    title, heading = page.title(), page.locator(".headline h1").text_content()
    page.get_by_role("button", name="Tell me when it is ready").click()
    seen = feeds(walker)
    reply = walker.ask("held").has("w5")
    page.evaluate("look(true)")
    provider.go_on()
    page.wait_for_function("() => notes.length > 0", polling=50)
    assert (page.evaluate("notes"), icon(page)) == ([["Ready", heading]], "favicon-ready")
    assert (reply.state, page.title(), seen[-1]) == ("confirmed", f"● Ready · {title}", "poll")
    page.evaluate("look(false)")
    assert (page.title(), icon(page)) == (title, "favicon")
    walker.ask("slow 20 5").becomes("confirmed")
    assert seen[-1] == by


def test_a_tab_hears_of_what_was_done_elsewhere(walker: Person) -> None:
    """A name at once; another branch is said and not followed, since somebody may be reading."""
    page, other = walker.page, walker.tab()
    walker.ask("slow 5 5").becomes("confirmed")
    other.goto(page.url)
    page.bring_to_front()
    page.locator(".asked").hover()
    page.locator(".asked [data-edit]").click()
    page.locator(".turn textarea").fill("slow 5 6")
    page.get_by_role("button", name="Ask").first.click()
    expect(page.locator(".question")).to_have_text(["slow 5 6"])
    walker.last().becomes("confirmed").has("w6")
    expect(other.locator(".question")).to_have_text(["slow 5 6"])
    page.locator(".asked .switcher").get_by_role("button", name="Previous version").click()
    expect(page.locator(".question")).to_have_text(["slow 5 5"])
    said = other.locator("#changed")
    expect(said).to_be_visible()
    assert other.locator(".question").all_text_contents() == ["slow 5 6"]
    said.get_by_role("link").click()
    expect(other.locator(".question")).to_have_text(["slow 5 5"])
    expect(said).to_be_hidden()

    entry = page.locator(".contents li", has=page.locator("[aria-current]"))
    entry.locator("summary").click()
    entry.locator("[data-rename]").click()
    page.keyboard.type("Short rests")
    page.keyboard.press("Enter")
    expect(other.locator(".headline h1")).to_have_text("Short rests")
    expect(other).to_have_title("Short rests · Gymnasia")
