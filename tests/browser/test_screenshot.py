"""The picture of the README, made by the product itself: an answer in ink, and a draft in pencil below it.

It goes into the documents only when asked for: `GYMNASIA_SCREENSHOT=docs/screenshot.png ./run test tests/browser`.
"""

import os
from pathlib import Path

from tests.browser.person import NewPerson
from tests.fakes.processes import ServerProcess


def test_an_answer_and_a_draft_make_the_picture(
    server: ServerProcess, new_person: NewPerson, tmp_path: Path
) -> None:
    path = Path(os.environ.get("GYMNASIA_SCREENSHOT") or tmp_path / "screenshot.png")
    person = new_person(
        server.url, name="mira", viewport={"width": 1280, "height": 900}, device_scale_factor=2
    )
    for earlier in ("A first week of running", "Stretching at a desk"):
        person.page.goto(f"{server.url}/")
        person.ask(earlier).becomes("confirmed")
    person.page.goto(f"{server.url}/")
    person.ask("How long should I rest between sets?").becomes("confirmed")
    draft = person.ask("And what is good to eat after a hard session?").has("look forward to it")
    person.page.screenshot(path=path)
    draft.becomes("confirmed")
    assert path.read_bytes().startswith(b"\x89PNG")
