"""However a draft grows, the page shows what its whole text would show: nothing that was settled early was settled wrong."""

import json
import random
from pathlib import Path

from playwright.sync_api import Browser

from tests.browser.markdown_page import open_page
from tests.browser.person import Person

CASES = json.loads((Path(__file__).parent.parent / "rendering_cases.json").read_text())
LINES = [
    *(
        "- a\n",
        "- b **c**\n",
        "  - d\n",
        "    - e\n",
        "* star\n",
        "1. one\n",
        "2. two\n",
        "   - x\n",
        "- [x] t\n",
        "-\n",
    ),
    *(
        "> q\n",
        "> - r\n",
        "> \n",
        "> > s\n",
        "- > t\n",
        "  > u\n",
        "- # h\n",
        "- - n\n",
        "1) p\n",
        "-\ttab\n",
    ),
    *(
        "| a | b |\n|---|---|\n",
        "| 1 | 2 |\n",
        "| 3 |\n",
        "| 1 | 2 | 3 |\n",
        "\n",
        "\n",
        "# h\n",
        "---\n",
        "===\n",
    ),
    *(
        "```py\n",
        "```\n",
        "~~~\n",
        "x = 1\n",
        "  ```\n",
        "    four\n",
        "  para\n",
        "lazy **b** text\n",
        "said[^n] and[^m]\n",
        "[^m]: a note\n",
        "$$\n",
    ),
]
CHECK = "(drafts) => drafts.map(([text, cuts]) => same(text, cuts)).find((fault) => fault) ?? null"


def spelled(text: str | list[tuple[str, int]]) -> str:
    return text if isinstance(text, str) else "".join(piece * times for piece, times in text)


def cuts(chance: random.Random, text: str) -> list[int]:
    """A few places, or every one."""
    if len(text) < 200 and chance.random() < 0.2:
        return list(range(1, len(text)))
    return sorted(chance.randrange(len(text) + 1) for _ in range(chance.choice((1, 3, 8))))


def test_a_growing_draft_is_its_whole_text(chromium: Browser) -> None:
    """The cases of the grammar, alone and in a row, and random lines, at random cuts. A definition that comes after its use
    is left out: the answer has it, the draft does not go back for it."""
    chance = random.Random(5)
    known = [text for case in CASES if len(text := spelled(case["markdown"])) < 600 and "]:" not in text]
    texts = known + ["\n\n".join(chance.sample(known, 3)) for _ in range(40)]
    for _ in range(260):
        few = chance.sample(LINES, chance.randint(2, 9))
        texts.append("".join(chance.choice(few) for _ in range(chance.randint(2, 25))))
    page = open_page(chromium)
    assert page.evaluate(CHECK, [[text, cuts(chance, text)] for text in texts if text]) is None
    page.close()


def test_long_blocks_are_their_whole_text(chromium: Browser) -> None:
    """Where the inside of a block is settled before its end: a list that becomes loose late, a table, a quotation, code, and
    a paragraph without a blank line."""
    words = "some words with `code`, **strong ones**, 2 * 3, [a link](https://example.org/a) and more. "
    texts = [
        "- item **x**\n  - inner\n" * 60 + "\n- loose\n",
        "1. one\n   more\n\n   - inner\n     text\n" * 40,
        "> quoted words\n>\n> - in\n> - side\n>\n" * 40,
        "| a | b |\n|---|--:|\n" + "| 1 | **2** | 3 |\n" * 120 + "after\n",
        "```py\n" + "x = 1  # ``\n" * 200 + "```\nafter **it**",
        words * 90,
        (words.strip() + "\n") * 90 + "===\n",
        (words.strip() + "\n") * 90 + "\nafter",
    ]
    page = open_page(chromium)
    assert page.evaluate(CHECK, [[text, list(range(0, len(text), 61))] for text in texts]) is None
    page.close()


LONG = """
async ([text, paints]) => {
  const lane = document.getElementById("lane");
  const painter = new Painter(lane, "");
  const touched = [];
  const watch = new MutationObserver(() => {});
  watch.observe(lane, { subtree: true, childList: true, characterData: true, attributes: true });
  const code = () => [lane.lastElementChild].find((last) => last?.matches(".code, pre, :has(> pre)"));
  let ticks = 0, chosen = null, from = 0;
  for (let paint = 1; paint <= paints; paint++) {
    if (paint % 20 === 0) await new Promise((done) => requestAnimationFrame(done));
    const to = Math.round((text.length * paint) / paints);
    painter.append(text.slice(from, to));
    painter.paint();
    const size = (node) => 1 + (node.querySelectorAll?.("*").length ?? 0);
    const records = watch.takeRecords();
    const moved = records.flatMap((record) => [...record.addedNodes, ...record.removedNodes]);
    touched.push(moved.reduce((all, node) => all + size(node), records.length));
    from = to;
    if (code()?.textContent.includes("`")) ticks++;
    if (!chosen && lane.querySelectorAll("p").length > 3) {
      chosen = lane.querySelectorAll("p")[1];
      getSelection().selectAllChildren(chosen);
    }
  }
  lane.normalize();
  const whole = full(text);
  whole.normalize();
  return {
    touched, ticks,
    selected: getSelection().toString() === chosen.innerText && lane.contains(getSelection().anchorNode),
    open: code()?.textContent.includes("echo open"),
    same: lane.innerHTML === whole.innerHTML,
  };
}
"""


def test_case_30_a_long_answer_costs_no_more_and_more_and_its_fences_do_not_flicker(
    chromium: Browser,
) -> None:
    """200,000 characters in 2,000 paints: 40 fences, 3 tables, a line of 3,000, and a fence that is left open at the end.
    Its last tenth touches at most twice the nodes of its first, no stray mark is ever shown in code, what was selected stays
    so. What the time of a paint does is measured by bench/browser.py."""
    prose = (
        "Some **words** with `code` and [a link](https://example.org/a), to fill a paragraph with.\n\n" * 48
    )
    code = "```python\n" + "value = compute(1, 'text')  # note\n" * 20 + "```\n\n"
    table = "| a | b |\n|---|--:|\n" + "| 1 | **2** |\n" * 20 + "\n"
    parts = [f"## Part {n}\n\n{prose}{code}" + (table if n in (3, 17, 31) else "") for n in range(40)]
    text = "".join([*parts[:20], "long line " * 300 + "\n\n", *parts[20:], "```sh\n", "echo open\n" * 10])
    assert (len(text) > 190_000, text.count("```python"), text.count("|---|")) == (True, 40, 3)
    page = open_page(chromium)
    found = page.evaluate(LONG, [text, 2000])
    page.close()
    touched = found.pop("touched")
    assert found == {"ticks": 0, "selected": True, "open": True, "same": True}
    first, last = sum(touched[:200]), sum(touched[-200:])
    assert 0 < last <= 2 * first


def test_case_30_who_reads_further_up_is_left_there(walker: Person) -> None:
    """A reader who has scrolled up, and selected something, is not pulled down by what comes; one at the end goes along."""
    page = walker.page
    page.set_viewport_size({"width": 800, "height": 300})
    reply = walker.ask("slow 15 900").has("w300")
    place = "[Math.round(scrollY), Math.round(document.documentElement.scrollHeight - innerHeight - scrollY)]"
    page.wait_for_function(f"() => {place}[1] < 120")
    page.mouse.move(400, 120)
    page.mouse.wheel(0, -5000)
    page.wait_for_function("() => scrollY < 50")
    page.evaluate("getSelection().selectAllChildren(document.querySelector('.question'))")
    [up, _], chosen = page.evaluate(place), page.evaluate("getSelection().toString()")
    reply.has("w600")
    assert (page.evaluate(place)[0], page.evaluate("getSelection().toString()")) == (up, chosen)
    reply.becomes("confirmed")
    assert (page.evaluate(place)[0], page.evaluate("getSelection().toString()")) == (up, chosen)
