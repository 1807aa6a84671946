"""However a draft grows, the page shows what its whole text would show: nothing that was settled early was settled wrong."""

import json
import random
from pathlib import Path

from playwright.sync_api import Browser

from tests.browser.markdown_page import open_page

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
