"""What painting a growing answer costs in a browser: `python bench/browser.py [--size 100000] [--slow 4] [--json]`.

Real Chromium, its CPU slowed down, and the product's own painter on a page of its own (tests/browser/markdown_page.py):
answers grow paint by paint, 25 in a second of 60 characters a paint or more. Measured by the page's clock: script time of
each paint, and of the whole task with style and layout, beside plain text that is appended in the same run, and beside
rendering everything anew at every tenth paint. At the end the page must be what the whole text would be.
"""

import argparse
import json
import shutil
import statistics
import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.browser.conftest import FLAGS  # noqa: E402
from tests.browser.markdown_page import open_page  # noqa: E402

WORDS = (
    "the model says **what it knows** with `inline code`, [a link](https://example.org/x) and plain words too"
)
RUN = """
async ([text, paints, kind]) => {
  const lane = document.getElementById("lane");
  lane.replaceChildren();
  lane.className = "prose";
  const painter = new Painter(lane, "");
  let plain = null;
  if (kind === "plain") lane.append((plain = document.createTextNode("")));
  const script = [], task = [];
  let from = 0;
  for (let paint = 1; paint <= paints; paint++) {
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    const to = Math.round((text.length * paint) / paints);
    const begun = performance.now();
    if (plain) plain.appendData(text.slice(from, to));
    else if (kind === "anew") {
      if (paint % 10 && paint !== paints) { from = to; continue; }
      lane.replaceChildren(...full(text.slice(0, to)).childNodes);
    } else {
      painter.append(text.slice(from, to));
      painter.paint();
    }
    script.push(performance.now() - begun);
    void lane.offsetHeight;
    task.push(performance.now() - begun);
    from = to;
  }
  const shown = document.createElement("div");
  if (kind === "ours") {
    shown.append(...lane.cloneNode(true).childNodes);
    shown.normalize();
  }
  const whole = full(text);
  whole.normalize();
  return { script, task, same: kind !== "ours" || shown.isEqualNode(whole) };
}
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


def measure(size: int, slow: float) -> dict[str, dict[str, Any]]:
    """The figures of each answer."""
    chromium = shutil.which("chromium")
    found: dict[str, dict[str, Any]] = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        page = open_page(browser)
        page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": slow})
        for name, text in answers(size).items():
            paints = size // 250
            page.evaluate(RUN, [text[: size // 10], paints // 10, "ours"])  # warm
            plain, ours, anew = (
                page.evaluate(RUN, [text, paints, kind]) for kind in ("plain", "ours", "anew")
            )
            tenth = paints // 10
            start = statistics.median(ours["script"][tenth : 2 * tenth])
            end = statistics.median(ours["script"][-tenth:])
            found[name] = {
                "start_ms": start,
                "end_ms": end,
                "end_to_start": end / start if start else 0.0,
                "longest_ms": max(ours["task"]),
                "plain_longest_ms": max(plain["task"]),
                "longest_to_plain": max(ours["task"]) / max(plain["task"]),
                "times_less_than_anew": statistics.mean(anew["script"]) / statistics.mean(ours["script"]),
                "same": ours["same"],
            }
        browser.close()
    return found


def report(found: dict[str, dict[str, Any]]) -> str:
    """The figures as a table for a person."""
    lines = [
        "| answer | ms of script, start | end | end / start (< 1.5) | longest task ms | plain text's | ratio (2) "
        "| less script than anew (10) | same DOM |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, one in found.items():
        lines.append(
            f"| {name} | {one['start_ms']:.2f} | {one['end_ms']:.2f} | {one['end_to_start']:.2f} | {one['longest_ms']:.1f} "
            f"| {one['plain_longest_ms']:.1f} | {one['longest_to_plain']:.2f} | {one['times_less_than_anew']:.1f} "
            f"| {'yes' if one['same'] else 'NO'} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description="What painting a growing answer costs in a browser.")
    parser.add_argument("--size", type=int, default=100_000, help="characters of each answer")
    parser.add_argument("--slow", type=float, default=4, help="how many times slower than this machine")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    found = measure(options.size, options.slow)
    print(json.dumps(found) if options.json else report(found))


if __name__ == "__main__":
    main()
