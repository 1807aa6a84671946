"""A person at the browser: signs up, asks, looks, stops, tries again; and what their browser complained about.

Takes a Playwright context and the address of the server; gives waits on conditions, never sleeps. Knows the page by its
contract (`data-generation`, `data-state`, the only textarea) and by the words that a person reads.
"""

import itertools
import re
import time
from collections.abc import Callable
from typing import NamedTuple

from playwright.sync_api import BrowserContext, ConsoleMessage, Error, Locator, Page, expect

MS = 1
SECOND = 1000 * MS
UNFINISHED = re.compile("^(queued|received|buffered|assembled|validated)$")
NAMES = itertools.count(1)

# Notes each change of a draft's text with the state in which it was seen, and every report of the page's policy.
WATCH = """
window.paints = [];
window.reports = [];
addEventListener("securitypolicyviolation", (e) => reports.push(`${e.violatedDirective} ${e.blockedURI} ${e.sample}`));
new MutationObserver((records) => {
  const seen = new Set();
  for (const record of records) {
    const node = record.target;
    const lane = (node instanceof Element ? node : node.parentElement)?.closest("[data-lane=answer]");
    const reply = lane?.closest("[data-generation]");
    if (!reply || seen.has(reply)) continue;
    seen.add(reply);
    const last = paints.findLast((paint) => paint.generation === reply.dataset.generation);
    const text = lane.textContent.trim();
    if (text && text !== last?.text) paints.push({generation: reply.dataset.generation, state: reply.dataset.state, text});
  }
}).observe(document, {subtree: true, childList: true, characterData: true});
"""


class Paint(NamedTuple):
    """One change of a reply's text, with the state that the page showed at that moment."""

    generation: str
    state: str
    text: str


class Reply:
    """One reply on a page."""

    def __init__(self, element: Locator) -> None:
        self.element = element

    @property
    def generation(self) -> str:
        return self.element.get_attribute("data-generation") or ""

    @property
    def state(self) -> str:
        return self.element.get_attribute("data-state") or ""

    @property
    def reason(self) -> str:
        return self.element.get_attribute("data-reason") or ""

    @property
    def text(self) -> str:
        """The answer's text as it stands on the page."""
        return (self.element.locator("[data-lane=answer]").text_content() or "").strip()

    @property
    def ending(self) -> str:
        """The sentence that says how it ended."""
        return " ".join((self.element.locator(".ending p").text_content() or "").split())

    def becomes(self, state: str, *, timeout_s: float = 20) -> "Reply":
        """Wait for a state."""
        expect(self.element).to_have_attribute("data-state", state, timeout=timeout_s * SECOND)
        return self

    def has(self, text: str | re.Pattern[str], *, timeout_s: float = 20) -> "Reply":
        """Wait for text in the answer."""
        expect(self.element.locator("[data-lane=answer]")).to_contain_text(text, timeout=timeout_s * SECOND)
        return self

    def try_again(self) -> None:
        """Press the button that a reply without an answer offers."""
        self.element.get_by_role("button", name="Try again").click()


class Person:
    """One browser profile with its pages, signed up under a name of its own."""

    def __init__(self, context: BrowserContext, url: str, *, scripts: bool = True, name: str = "") -> None:
        self.context, self.url, self.scripts = context, url, scripts
        self.name = name or f"walker-{next(NAMES)}"
        self.password = f"long-enough-{self.name}-93"
        self.complaints: list[str] = []
        if scripts:
            context.add_init_script(WATCH)
        self.page = self.tab()

    def tab(self) -> Page:
        """A new page whose errors are collected."""
        page = self.context.new_page()
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.complaints.append(f"uncaught: {error}"))
        return page

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.complaints.append(f"{message.type}: {message.text} ({message.location.get('url')})")

    def forgive(self, *patterns: str) -> None:
        """Drop complaints that a test has caused itself."""
        self.complaints = [
            complaint
            for complaint in self.complaints
            if not any(re.search(one, complaint) for one in patterns)
        ]

    def policy_reports(self) -> list[str]:
        """What the content security policy refused on the open pages."""
        found: list[str] = []
        for page in self.context.pages:
            try:
                found += page.evaluate("window.reports ?? []")
            except Error as error:
                # A page that is just going away has nothing to report.
                if "context was destroyed" not in str(error):
                    raise
        return found

    def sign_up(self) -> "Person":
        """From the front page, as a newcomer finds the way."""
        self.page.goto(f"{self.url}/")
        self.page.locator('a[href^="/accounts/signup/"]').first.click()  # by its address: in any language
        self.page.locator("input[name=username]").fill(self.name)
        for field in ("password1", "password2"):
            self.page.locator(f"input[name={field}]").fill(self.password)
        self.page.locator("form:has([name=password1]) button[type=submit]").click()
        expect(self.page.locator("textarea")).to_be_visible()
        self.at_hand(self.page)
        return self

    def at_hand(self, page: Page) -> Page:
        """Wait until the page hears keys: its scripts run before the load event. Until then Enter is a new line, as in
        any form, and a button posts it."""
        page.wait_for_load_state("load")
        return page

    def ask(self, text: str, *, page: Page | None = None) -> Reply:
        """Write into the only textarea and press Enter; gives the new reply once it is on the page."""
        page = self.at_hand(page or self.page)
        before = page.locator("[data-generation]").count()
        line = page.locator("textarea")
        line.fill(text)
        if self.scripts:
            line.press("Enter")
        else:
            page.get_by_role("button", name="Ask").click()
        # Not the last one: a reply that is lost at once may already have a successor.
        asked = page.locator("[data-generation]").nth(before)
        expect(asked).to_be_attached(timeout=10 * SECOND)
        # The first question leads to a page of its own, which the server sends with all that has come by then.
        return self._held(asked, self.at_hand(page))

    def last(self, page: Page | None = None) -> Reply:
        """The newest reply."""
        page = page or self.page
        return self._held(page.locator("[data-generation]").last, page)

    def _held(self, element: Locator, page: Page) -> Reply:
        """By its generation: later replies do not take its place."""
        generation = element.get_attribute("data-generation")
        return Reply(page.locator(f'[data-generation="{generation}"]'))

    def paints(self, reply: Reply, page: Page | None = None) -> list[Paint]:
        """The changes of this reply's text on the page since it was loaded."""
        noted: list[dict[str, str]] = (page or self.page).evaluate("window.paints")
        return [Paint(**one) for one in noted if one["generation"] == reply.generation]

    def sees_paints(self, count: int, reply: Reply, *, timeout_s: float = 30) -> list[Paint]:
        """Wait until the text of an unfinished reply has changed this often."""
        self.page.wait_for_function(
            "([id, n]) => paints.filter((p) => p.generation === id).length >= n",
            arg=[reply.generation, count],
            timeout=timeout_s * SECOND,
        )
        return self.paints(reply)

    def stop(self) -> float:
        """Press Stop; gives the monotonic time at which the server had answered."""
        with self.page.expect_response("**/stop/"):
            self.page.get_by_role("button", name="Stop").click()
        return time.monotonic()


def numbered(text: str) -> int:
    """How many numbered words stand there, w1 w2 … wn; asserts that none is missing and none comes twice."""
    found = text.split()
    assert found == [f"w{n}" for n in range(1, len(found) + 1)]
    return len(found)


NewPerson = Callable[..., Person]
