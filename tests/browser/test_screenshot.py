"""The picture of the README, made by the product itself: an answer in ink, and a draft in pencil below it.

It goes into the documents only when asked for: `GYMNASIA_SCREENSHOT=docs/screenshot.png ./run test tests/browser`.
"""

import os
from pathlib import Path

from tests.browser.person import Person


def test_an_answer_and_a_draft_make_the_picture(walker: Person, tmp_path: Path) -> None:
    path = Path(os.environ.get("GYMNASIA_SCREENSHOT") or tmp_path / "screenshot.png")
    page = walker.page
    page.set_viewport_size({"width": 1280, "height": 900})
    walker.ask("How long should I rest between sets?").becomes("confirmed")
    draft = walker.ask("And what is good to eat after a hard session?").has("look forward to it")
    page.screenshot(path=path)
    draft.becomes("confirmed")
    assert path.read_bytes().startswith(b"\x89PNG")
