"""What a page weighs as the server really sends it, and that nothing heavy stands before what a person wants to do."""

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from chat import styles
from tests.browser.person import Person
from tests.browser.test_steadiness import SHIFT_MOST
from tests.fakes.processes import ServerProcess

KB = 1000
SIGN_IN_MOST, CHAT_MOST = 50 * KB, 130 * KB
SLOW_3G = {"offline": False, "latency": 2000, "downloadThroughput": 50 * KB, "uploadThroughput": 50 * KB}
# As Chromium's developer tools have it: 400 kbit/s, and two seconds for every way there and back.

WATCH = """
window.shifts = [];
window.reports = [];
addEventListener("securitypolicyviolation", (e) => reports.push(`${e.violatedDirective} ${e.blockedURI}`));
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) shifts.push([entry.startTime, entry.value]);
}).observe({type: "layout-shift", buffered: true});
"""
FETCHED = "performance.getEntriesByType('resource').filter((e) => e.name.includes('/vendor/') && e.responseEnd).length"


class Network:
    """What a page fetches, from the moment on in which this begins to listen: addresses, and bytes as sent with heads."""

    def __init__(self, context: BrowserContext, page: Page) -> None:
        self.client = context.new_cdp_session(page)
        self.client.send("Network.enable")
        self.addresses: dict[str, str] = {}
        self.sizes: dict[str, int] = {}
        self.client.on("Network.requestWillBeSent", self._begun)
        self.client.on("Network.loadingFinished", self._ended)

    def _begun(self, event: dict[str, Any]) -> None:
        self.addresses[event["requestId"]] = event["request"]["url"]

    def _ended(self, event: dict[str, Any]) -> None:
        address = self.addresses.get(event["requestId"], "before")
        self.sizes[address] = self.sizes.get(address, 0) + int(event["encodedDataLength"])

    @property
    def total(self) -> int:
        return sum(self.sizes.values())

    def fetched(self, part: str) -> list[str]:
        """What came over the network; what the browser had kept has no length."""
        return [address for address, size in self.sizes.items() if part in address and size]


def test_the_sign_in_page_is_light(server: ServerProcess, chromium: Browser) -> None:
    with chromium.new_context() as context:
        network = Network(context, page := context.new_page())
        page.goto(f"{server.url}/accounts/login/", wait_until="networkidle")
        assert 0 < network.total < SIGN_IN_MOST, network.sizes


def test_the_chat_page_is_light_and_ready_before_its_markdown(walker: Person, chromium: Browser) -> None:
    """All of it with an empty cache: the page, and the modules that it fetches for the first draft. Until they come, a
    person asks, reads, writes and stops."""
    walker.ask("rest one").becomes("confirmed")
    url = walker.page.url
    held: list[Route] = []
    with chromium.new_context(storage_state=walker.context.storage_state()) as context:
        network = Network(context, page := context.new_page())
        page.route("**/vendor/**", lambda route: held.append(route))  # noqa: PLW0108 it wants a function
        page.goto(url, wait_until="networkidle")
        assert held == []
        opened = network.total
        line = page.locator("textarea")
        line.fill("slow 40 400")
        line.press("Enter")
        draft = page.locator("[data-lane=answer]").nth(1)
        expect(draft).to_contain_text("w5")
        line.fill("and then?")
        page.keyboard.press("Escape")
        expect(page.locator("[data-state=cancelled]")).to_be_attached()
        expect(line).to_have_value("and then?")
        assert len(held) == 2
        for route in held:
            route.continue_()
        page.unroute_all(behavior="wait")
        page.wait_for_function(f"() => {FETCHED} === 2")
        modules: list[str] = []
        for _ in range(300):  # the page knows before the network's own account of it has come
            if len(modules := network.fetched("/vendor/")) == 2:
                break
            page.evaluate("() => new Promise((done) => requestAnimationFrame(done))")
        assert len(modules) == 2
        assert 0 < opened + sum(network.sizes[each] for each in modules) < CHAT_MOST, network.sizes


def test_no_asset_stands_before_a_draft_on_a_slow_line(walker: Person) -> None:
    """From the page on which a person asks to the first words: one answer and one page of HTML, not one more file. The
    Markdown modules are asked for when those words are there."""
    page = walker.page
    page.wait_for_load_state("networkidle")
    network = Network(walker.context, page)
    network.client.send("Network.emulateNetworkConditions", SLOW_3G)
    reply = walker.ask("slow 20 2000")
    reply.has("w2", timeout_s=60)
    assert network.fetched("/static/") == []
    network.client.send(
        "Network.emulateNetworkConditions", {**SLOW_3G, "latency": 0, "downloadThroughput": -1}
    )
    walker.stop()
    reply.becomes("cancelled")


def test_a_draft_is_read_before_any_script_has_come(walker: Person, chromium: Browser) -> None:
    """A page that is opened in the middle of a reply, with an empty cache and scripts that do not come."""
    reply = walker.ask("slow 30 600").has("w10")
    held: list[Route] = []
    with chromium.new_context(storage_state=walker.context.storage_state()) as context:
        page = context.new_page()
        page.route("**/*.js", lambda route: held.append(route))  # noqa: PLW0108 it wants a function
        page.goto(walker.page.url, wait_until="commit")
        expect(page.locator("[data-lane=answer]")).to_contain_text("w10")
        painted = "() => performance.getEntriesByName('first-contentful-paint').length"
        page.wait_for_function(painted)
        assert len(held) > 0
        for route in held:
            route.abort()
        page.unroute_all(behavior="wait")
    walker.stop()
    reply.becomes("cancelled")


PAINTED = """() => new Promise((done) => {
  const at = performance.getEntriesByName("first-contentful-paint")[0]?.startTime;
  if (!at) return requestAnimationFrame(() => done(null));
  const ended = performance.getEntriesByType("resource").filter((e) => e.responseEnd && e.responseEnd < at);
  done(ended.map((e) => e.name));
})"""
# Where everything stands, and how it looks: boxes of what a person reads, and colours that only the sheets say.
LOOKS = """() => [...document.querySelectorAll(
  ".contents, .headline, .turn, .question, .reply, .leaf, .status, .composer, .writing-line, .below, .desk"
)].map((e) => {
  const { x, y, width, height } = e.getBoundingClientRect();
  const { color, font, display } = getComputedStyle(e);
  const stays = e.closest(".desk, .contents") !== null;
  const place = [x, stays ? y : y + scrollY, width, stays ? height : 0].map(Math.round);
  return [e.className, ...place, color, font, display];
})"""


@pytest.mark.parametrize("width", [360, 1280])
def test_the_first_paint_of_a_draft_waits_for_no_file_at_all(
    walker: Person, chromium: Browser, width: int
) -> None:
    """On an empty cache everything but the page itself is held back: the draft is painted, in pencil and in its place, and
    nothing moves when the rest comes."""
    reply = walker.ask("held 2000").has("w1")
    held: list[Route] = []
    released = False

    def hold(route: Route) -> None:
        if released or route.request.resource_type == "document":
            route.continue_()
        else:
            held.append(route)

    state = walker.context.storage_state()
    with chromium.new_context(storage_state=state, viewport={"width": width, "height": 720}) as context:
        page = context.new_page()
        page.add_init_script(WATCH)
        page.route("**/*", hold)
        page.goto(walker.page.url, wait_until="commit")
        expect(page.locator("[data-lane=answer]")).to_contain_text("w1")
        page.wait_for_function("() => performance.getEntriesByName('first-contentful-paint').length")
        assert page.evaluate(PAINTED) == []
        assert [route.request.url for route in held if "/css/" in route.request.url] == []
        draft = page.locator(".reply")
        assert draft.evaluate("(e) => getComputedStyle(e).color") == "rgb(102, 109, 105)"
        before = page.evaluate(LOOKS)
        released = True
        for route in held:
            route.continue_()
        page.wait_for_load_state("load")
        page.unroute_all(behavior="wait")
        expect(page.locator(".status .cursor")).to_be_visible()
        assert page.evaluate(LOOKS) == before
        assert sum(value for _, value in page.evaluate("shifts")) < SHIFT_MOST
        assert page.evaluate("reports") == []
    walker.stop()
    reply.becomes("cancelled")


def test_the_rules_in_the_page_are_those_of_the_files(walker: Person) -> None:
    """Shortened by our own hand: the browser reads the same from both, rule for rule."""
    template = (styles.FOLDER.parents[2] / "templates" / "chat" / "page.html").read_text(encoding="utf-8")
    names = re.findall(r'"(\w+)"', template.partition("{% styles")[2].partition("%}")[0])
    source = "\n".join((styles.FOLDER / f"{name}.css").read_text(encoding="utf-8") for name in names)
    both: list[list[str]] = walker.page.evaluate(
        """(source) => {
          const files = new CSSStyleSheet();
          files.replaceSync(source);
          // What a property of our own holds is kept as it was written.
          const text = (rule) => rule.cssText.replace(/\\s+/g, " ").replace(/, /g, ",");
          return [files, document.styleSheets[0]].map((sheet) => [...sheet.cssRules].map(text));
        }""",
        source,
    )
    assert len(names) > 10
    assert len(both[0]) > 300
    assert both[0] == both[1]
