"""Where a network lets no WebSocket through, a draft grows by events; where it swallows those too, by questions."""

import re

from playwright.sync_api import Request, Route, expect

from tests.browser.person import SECOND, UNFINISHED, Person, numbered
from tests.fakes.processes import ProviderProcess

# As a proxy that knows no upgrade: each opening ends without ever having been open.
NO_SOCKETS = """
window.sockets = 0;
window.WebSocket = class {
  readyState = 0;
  constructor() {
    window.sockets += 1;
    setTimeout(() => {
      this.readyState = 3;
      this.onclose?.({ code: 1006 });
    }, 20);
  }
  close() {}
};
"""


def feeds(person: Person) -> list[str]:
    """What the page asks for frames from here on: `events` or `poll`, in order."""
    seen: list[str] = []

    def note(request: Request) -> None:
        if re.search(r"/events(\?|$)", request.url):
            seen.append("poll" if "poll=1" in request.url else "events")

    person.page.on("request", note)
    return seen


def swallow(route: Route) -> None:
    """As a proxy that holds a body back until it is whole: an event stream never is. Questions get through."""
    if "poll=1" in route.request.url:
        route.continue_()


def grows_and_is_ready(person: Person, provider: ProviderProcess) -> None:
    """The draft is seen in at least four lengths, each a prefix, and ends confirmed without a word missing."""
    reply = person.ask("held")
    person.sees_paints(4, reply)
    provider.go_on()
    reply.becomes("confirmed")
    drafts = [numbered(paint.text) for paint in person.paints(reply) if UNFINISHED.match(paint.state)]
    assert len(drafts) >= 4
    assert drafts == sorted(drafts)
    assert numbered(reply.text) == len(provider.requests()[-1]["paced_at"])
    expect(reply.element.locator("[data-copy]")).to_be_visible()


def test_without_sockets_a_draft_grows_by_events(walker: Person, provider: ProviderProcess) -> None:
    """Two sockets are tried. The next reply of the same page comes on the same stream, and a reload goes on with it."""
    walker.context.add_init_script(NO_SOCKETS)
    seen = feeds(walker)
    grows_and_is_ready(walker, provider)
    assert (walker.page.evaluate("sockets"), seen) == (2, ["events"])
    grows_and_is_ready(walker, provider)
    assert seen == ["events"]
    expect(walker.page.locator("#connection")).to_be_hidden()
    reply = walker.ask("slow 25 200").has("w20")
    before = numbered(reply.text)
    walker.page.reload()
    again = walker.last()
    assert UNFINISHED.match(again.state)
    assert numbered(again.text) >= before
    again.has("w100")
    walker.stop()
    again.becomes("cancelled")
    assert set(seen) == {"events"}


def test_a_deleted_conversation_is_told_by_events_too(walker: Person) -> None:
    walker.context.add_init_script(NO_SOCKETS)
    walker.ask("slow 50 600").has("w5")
    other = walker.tab()
    other.goto(walker.page.url)
    other.get_by_role("button", name="Delete").click()
    walker.last().becomes("cancelled")
    expect(walker.page.locator("#connection")).to_contain_text("deleted")


def test_where_events_are_swallowed_too_a_draft_grows_by_questions(
    walker: Person, provider: ProviderProcess
) -> None:
    """The stream is given up after four seconds without a word; the reply has been growing on the server meanwhile."""
    walker.context.add_init_script(NO_SOCKETS)
    walker.page.route(re.compile(r"/events(\?|$)"), swallow)
    seen = feeds(walker)
    grows_and_is_ready(walker, provider)
    assert (walker.page.evaluate("sockets"), seen[0], set(seen[1:])) == (2, "events", {"poll"})
    count = len(seen)
    grows_and_is_ready(walker, provider)
    assert set(seen[count:]) == {"poll"}
    expect(walker.page.locator("#connection")).to_be_hidden(timeout=SECOND)
