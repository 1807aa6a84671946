"""A reader is never disturbed: nothing flickers or moves while a reply is written, nor when it is ready."""

from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.person import Person
from tests.fakes.processes import ProviderProcess

SHIFT_MOST = 0.02
LINE_PX = 28
WATCH = """
window.shifts = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) shifts.push([entry.startTime, entry.value]);
}).observe({type: "layout-shift", buffered: true});
// Looks at the newest reply each time before the screen is drawn.
window.follow = () => {
  const lane = [...document.querySelectorAll("[data-lane=answer]")].at(-1);
  const reply = lane.closest("[data-generation]");
  const found = {stray: [], lost: [], shrunk: 0, frames: 0, confirmedAt: 0};
  const seen = new Set();
  let height = 0;
  const look = () => {
    if (reply.dataset.state === "confirmed") {
      found.confirmedAt = performance.now();
      return;
    }
    requestAnimationFrame(look);
    found.frames += 1;
    const stray = lane.textContent.match(/```|~~~|\\$\\$|\\*\\*|\\|[ -]*\\||^ *(?:[-*>]|\\d+\\.) *$/m);
    if (stray) found.stray.push(lane.textContent.slice(-80));
    for (const block of seen) if (!block.isConnected) found.lost.push(block.outerHTML.slice(0, 200));
    for (const block of lane.querySelectorAll("pre, table, ul, ol, li, h3, h4, blockquote, math")) seen.add(block);
    for (const block of seen) if (!block.isConnected) seen.delete(block);
    const now = lane.getBoundingClientRect().height;
    found.shrunk = Math.max(found.shrunk, height - now);
    height = now;
  };
  look();
  return (window.found = found);
};
"""


def prepared(walker: Person) -> Page:
    """A page whose Markdown modules are there, and that watches itself."""
    walker.context.add_init_script(WATCH)
    walker.ask("rest one").becomes("confirmed")
    walker.page.reload()
    walker.ask("rest two").becomes("confirmed")
    return walker.page


def scroll(page: Page) -> int:
    at: int = page.evaluate("Math.round(scrollY)")
    return at


def select(page: Page, words: str) -> None:
    """Mark these words of the newest reply, as a person does with the mouse."""
    page.evaluate(
        """(words) => {
          const lane = [...document.querySelectorAll("[data-lane=answer]")].at(-1);
          const walk = document.createTreeWalker(lane, NodeFilter.SHOW_TEXT);
          for (let node = walk.nextNode(); node; node = walk.nextNode()) {
            const at = node.data.indexOf(words);
            if (at >= 0) getSelection().setBaseAndExtent(node, at, node, at + words.length);
          }
        }""",
        words,
    )


def selected(page: Page) -> str:
    text: str = page.evaluate("getSelection().toString()")
    return text


def test_blocks_stay_while_they_are_written_and_nothing_moves_when_it_is_ready(walker: Person) -> None:
    """Headings, lists in lists, tasks, a table, code, a quotation and formulas, in pieces of a few letters."""
    page = prepared(walker)
    reply = walker.ask("treatise 8")
    page.evaluate("follow()")
    reply.becomes("confirmed", timeout_s=60)
    page.wait_for_function("() => found.confirmedAt")
    # Colours and formulas come now; whatever moves, moves within a few frames.
    page.evaluate(
        "new Promise((done) => { let n = 30; const tick = () => (n-- ? requestAnimationFrame(tick) : done()); tick(); })"
    )
    found: dict[str, Any] = page.evaluate("found")
    assert found["frames"] > 20
    assert (found["stray"], found["lost"]) == ([], [])
    assert found["shrunk"] <= LINE_PX  # a mark that closes within a paragraph may take its last word back up
    at = found["confirmedAt"]
    assert sum(value for begun, value in page.evaluate("shifts") if begun > at - 100) < SHIFT_MOST
    assert reply.element.locator("math, table, pre, ol ul, blockquote, input[type=checkbox]").count() > 8


def test_formulas_and_footnotes_are_set_where_their_draft_stood(walker: Person) -> None:
    """A matrix of four rows, a fraction under a sum, equations one below the other; marks that come again and one whose note
    never comes. Each formula has its room before it is set, each mark its number."""
    page = prepared(walker)
    reply = walker.ask("formulas 8")
    page.evaluate(
        """() => {
          const lane = [...document.querySelectorAll("[data-lane=answer]")].at(-1);
          const reply = lane.closest("[data-generation]");
          window.seen = () => ({
            marks: [...lane.querySelectorAll("sup")].map((mark) => mark.textContent),
            rooms: [...lane.querySelectorAll(".math")].map((e) => [e.offsetTop - lane.offsetTop, e.offsetHeight]),
            last: [...lane.querySelectorAll(".math + p")].at(-1)?.offsetTop - lane.offsetTop,
          });
          const look = () => {
            if (reply.dataset.state === "confirmed") window.confirmedAt = performance.now();
            else {
              window.draft = seen();
              requestAnimationFrame(look);
            }
          };
          look();
        }"""
    )
    reply.becomes("confirmed", timeout_s=60)
    expect(reply.element.locator(".math math")).to_have_count(4)
    page.wait_for_function("() => window.confirmedAt")
    page.evaluate(
        "new Promise((done) => { let n = 30; const tick = () => (n-- ? requestAnimationFrame(tick) : done()); tick(); })"
    )
    draft, answer = page.evaluate("[draft, seen()]")
    assert draft["marks"] == ["[1]", "[2]", "[1]"]
    assert len(draft["rooms"]) == 4
    assert answer == draft
    at = page.evaluate("confirmedAt")
    assert sum(value for begun, value in page.evaluate("shifts") if begun > at - 100) < SHIFT_MOST


def test_who_reads_and_marks_words_is_left_alone(walker: Person, provider: ProviderProcess) -> None:
    """What is marked in a draft stays marked while it grows and when it is ready; who has scrolled up stays there, and comes
    back by one press."""
    page = prepared(walker)
    reply = walker.ask("lecture").has("w5")
    select(page, "every session counts")
    page.mouse.move(400, 300)
    page.mouse.wheel(0, -300)
    button = page.get_by_role("button", name="Jump to latest")
    expect(button).to_be_visible()
    before = scroll(page)
    walker.sees_paints(len(walker.paints(reply)) + 8, reply)
    assert (selected(page), scroll(page)) == ("every session counts", before)
    provider.go_on()
    reply.becomes("confirmed", timeout_s=60)
    assert (selected(page), scroll(page)) == ("every session counts", before)
    expect(button).to_be_hidden()

    reply = walker.ask("lecture").has("w5")
    page.mouse.wheel(0, -300)
    button.click()
    expect(button).to_be_hidden()
    height = page.evaluate("document.documentElement.scrollHeight")
    page.wait_for_function("(height) => document.documentElement.scrollHeight > height", arg=height)
    provider.go_on()
    reply.becomes("confirmed", timeout_s=60)
    to_end = "document.documentElement.scrollHeight - innerHeight - scrollY"
    assert page.evaluate(to_end) < 2
