"""What a page weighs as the server really sends it, and that nothing heavy stands before what a person wants to do."""

from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from tests.browser.person import Person
from tests.fakes.processes import ServerProcess

KB = 1000
SIGN_IN_MOST, CHAT_MOST = 50 * KB, 130 * KB
SLOW_3G = {"offline": False, "latency": 2000, "downloadThroughput": 50 * KB, "uploadThroughput": 50 * KB}
# As Chromium's developer tools have it: 400 kbit/s, and two seconds for every way there and back.

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
