"""What painting a growing answer costs in a browser: `python bench/browser.py [--runs 3] [--only "one table"] [--json]`.

Real Chromium, its CPU slowed down, and the product's own painter and style sheets on a page of its own
(tests/browser/markdown_page.py): answers grow paint by paint, 25 in a second of 250 characters each, one paint a frame.
Chromium's own trace tells the CPU time of the page's main thread (not the clock's, which counts what other processes do):
of the script of each paint, and of the longest task of any kind, style, layout and drawing included. Beside it, by turns:
plain text that is appended, and rendering everything anew at every tenth paint. At the end the page must be what the whole
text would be; then it is set in ink, as the server's answer sets it, and the longest task of that is measured too.
"""

import argparse
import json
import os
import shutil
import statistics
import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from chat.rendering import render  # noqa: E402
from tests.browser.conftest import FLAGS  # noqa: E402
from tests.browser.markdown_page import open_page  # noqa: E402

CATEGORIES = ["devtools.timeline", "disabled-by-default-devtools.timeline", "toplevel", "-*"]
WORDS = (
    "the model says **what it knows** with `inline code`, [a link](https://example.org/x) and plain words too"
)
# Every paint is the work of one timer, so that the trace tells its script apart; layout comes with the frame that follows.
RUN = """
([text, paints, kind]) => new Promise((done) => {
  const lane = document.getElementById("lane");
  lane.replaceChildren();
  lane.className = kind === "plain" ? "" : "prose";
  const painter = new Painter(lane, "");
  const plain = document.createTextNode("");
  if (kind === "plain") lane.append(plain);
  let from = 0, paint = 0;
  const next = () => {
    if (paint === paints) return done();
    const to = Math.round((text.length * ++paint) / paints);
    if (kind === "plain") plain.appendData(text.slice(from, to));
    else if (kind === "anew") {
      if (paint % 10 === 0) lane.replaceChildren(...full(text.slice(0, to)).childNodes);
    } else {
      painter.append(text.slice(from, to));
      painter.paint();
    }
    from = to;
    requestAnimationFrame(() => setTimeout(next));
  };
  requestAnimationFrame(() => setTimeout(next));
})
"""
SAME = """
(text) => {
  const shown = document.createElement("div");
  shown.append(...document.getElementById("lane").cloneNode(true).childNodes);
  shown.normalize();
  const whole = full(text);
  whole.normalize();
  return shown.isEqualNode(whole);
}
"""
INK = """
(html) => new Promise((done) => {
  const lane = document.getElementById("lane");
  requestAnimationFrame(() => setTimeout(async () => {
    await ink(lane, html);
    requestAnimationFrame(() => setTimeout(done));
  }));
})
"""


def mixed(size: int) -> str:
    """Headings, paragraphs, lists, tables, and forty fences in 100 KB."""
    parts: list[str] = []
    section = size // 40
    for number in range(40):
        head = f"## Part {number}\n\n{WORDS}. {WORDS}.\n\n"
        rows = "| name | value |\n|---|--:|\n" + f"| {number} | **{number}** |\n" * 6 + "\n"
        items = f"- {WORDS}\n  - inner words\n" * 3 + "\n"
        code = "```python\n" + f"value_{number} = compute({number}, 'text')\n" * 8 + "```\n\n"
        part = head + rows + items + code
        parts.append(
            part + (f"{WORDS}. " * (max(0, section - len(part)) // (len(WORDS) + 2))).rstrip() + "\n\n"
        )
    return "".join(parts)


def filled(head: str, line: str, size: int) -> str:
    return head + line * (size // len(line))


def answers(size: int) -> dict[str, str]:
    """Each kind of answer that grows to that many characters."""
    return {
        "mixed": mixed(size),
        "one list": filled("", f"- {WORDS}\n", size),
        "one nested list": filled("", f"- {WORDS}\n  - inner words\n  - more of them\n", size),
        "one table": filled("| a | b | c |\n|---|--:|---|\n", "| one | 2 | **three** words |\n", size),
        "one fence": filled("```python\n", "value = compute(1, 'text')  # note\n", size),
        "one quotation": filled("", f"> {WORDS}\n>\n", size),
        "one paragraph": filled("", f"{WORDS}. ", size),
    }


class Tab:
    """The page under measurement."""

    def __init__(self, browser: Browser, slow: float) -> None:
        self._browser = browser
        self.page: Page = open_page(browser)
        self.page.context.new_cdp_session(self.page).send("Emulation.setCPUThrottlingRate", {"rate": slow})

    def traced(self, script: str, argument: Any) -> tuple[list[float], float]:
        """CPU milliseconds of each timer's script, and of the longest task of the main thread meanwhile."""
        self._browser.start_tracing(page=self.page, categories=CATEGORIES)
        self.page.evaluate(script, argument)
        events = json.loads(self._browser.stop_tracing())["traceEvents"]
        timers = [event for event in events if event["name"] == "TimerFire" and event["ph"] == "X"]
        main, begin = timers[0]["tid"], timers[0]["ts"]
        tasks = [
            event["tdur"]
            for event in events
            if (event["name"], event["ph"], event["tid"]) == ("RunTask", "X", main)
            and event["ts"] + event["dur"] >= begin
            and "tdur" in event
        ]
        return [event["tdur"] / 1000 for event in timers if event["tid"] == main], max(tasks) / 1000


def measure(size: int, slow: float, runs: int, only: str) -> dict[str, dict[str, Any]]:
    """The figures of each answer: the median of the runs, which go by turns."""
    found: dict[str, dict[str, Any]] = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        tab = Tab(browser, slow)
        for name, text in answers(size).items():
            if only and only != name:
                continue
            paints = size // 250
            tab.page.evaluate(RUN, [text[: size // 10], paints // 10, "ours"])  # warm
            html = render(text)
            each: list[dict[str, float]] = []
            same = True
            for _ in range(runs):
                _, plain = tab.traced(RUN, [text, paints, "plain"])
                script, longest = tab.traced(RUN, [text, paints, "ours"])
                same = same and tab.page.evaluate(SAME, text)
                _, inking = tab.traced(INK, html)
                tenth = paints // 10
                start = statistics.median(script[tenth : 2 * tenth])
                end = statistics.median(script[-tenth:])
                each.append(
                    {
                        "start_ms": start,
                        "end_ms": end,
                        "end_to_start": end / start,
                        "longest_ms": longest,
                        "plain_longest_ms": plain,
                        "longest_to_plain": longest / plain,
                        "script_ms": statistics.mean(script),
                        "ink_longest_ms": inking,
                        "ink_to_plain": inking / plain,
                    }
                )
            anew, _ = tab.traced(RUN, [text, paints, "anew"])
            one: dict[str, Any] = {key: statistics.median(run[key] for run in each) for key in each[0]}
            one["times_less_than_anew"] = statistics.mean(anew[9::10]) / one["script_ms"]
            one["same"] = same
            one["kept"] = (
                one["end_to_start"] < 1.5,
                one["longest_to_plain"] <= 2,
                one["times_less_than_anew"] >= 10,
                same,
                one["ink_to_plain"] <= 2,
            )
            found[name] = one
            print(f"{name}: {one}", file=sys.stderr, flush=True)
        browser.close()
    return found


def report(found: dict[str, dict[str, Any]]) -> str:
    """The figures as a table for a person."""
    lines = [
        "| answer | script of a paint, start ms | end ms | end / start (< 1.5) | longest task ms | plain text's "
        "| ratio (<= 2) | times less script than anew (>= 10) | same DOM | set in ink, longest task ms "
        "| to plain text's (<= 2) |",
        "|" + " --- |" * 11,
    ]
    for name, one in found.items():
        grows, long, less, same, ink = ("pass" if kept else "**FAIL**" for kept in one["kept"])
        lines.append(
            f"| {name} | {one['start_ms']:.2f} | {one['end_ms']:.2f} | {one['end_to_start']:.2f} {grows} "
            f"| {one['longest_ms']:.0f} | {one['plain_longest_ms']:.0f} | {one['longest_to_plain']:.2f} {long} "
            f"| {one['times_less_than_anew']:.0f} {less} | {same} "
            f"| {one['ink_longest_ms']:.0f} | {one['ink_to_plain']:.2f} {ink} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description="What painting a growing answer costs in a browser.")
    parser.add_argument("--size", type=int, default=100_000, help="characters of each answer")
    parser.add_argument("--slow", type=float, default=4, help="how many times slower than this machine")
    parser.add_argument(
        "--runs", type=int, default=3, help="how often each is measured; the medians are given"
    )
    parser.add_argument("--only", default="", help="one answer, by its name in the table")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    print(f"load of the machine before: {os.getloadavg()[0]:.1f}", file=sys.stderr)
    found = measure(options.size, options.slow, options.runs, options.only)
    print(json.dumps(found) if options.json else report(found))
    sys.exit(0 if all(all(one["kept"]) for one in found.values()) else 1)


if __name__ == "__main__":
    main()
