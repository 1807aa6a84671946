"""What axe finds on every scene and page: nothing; and the law that no page is forgotten.

Each is looked at twice, with every rule of WCAG 2.2 A and AA and of good practice: on a telephone in light, at a desk in
dark. axe is put into a context of its own whose policy is off; no other test has it.
"""

from collections.abc import Iterator
from pathlib import Path

import axe_playwright_python
import pytest
from django.urls import URLPattern, URLResolver, get_resolver
from playwright.sync_api import Browser, BrowserContext, Page

from chat.replies.endings import MARKS, PAGE_ENDINGS, ending
from chat.states.generation import State
from tests.browser.pages import NO_PAGES, PAGES, Shown, open_page
from tests.browser.scenes import SCENES
from tests.browser.screens import SCREENS, SIZES, THEMES, index, picture_name, shown, views
from tests.browser.staged import Stage, staged_server
from tests.fakes.processes import ProviderProcess

AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text(encoding="utf-8")
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
RUN = """(tags) => axe.run(document, {runOnly: tags, resultTypes: ["violations"]}).then((found) =>
  found.violations.flatMap(({id, nodes}) =>
    nodes.map((node) => `${id}: ${node.target.join(" ")} ${node.html.slice(0, 160)}`)))"""


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory, provider: ProviderProcess) -> Iterator[Stage]:
    with staged_server(tmp_path_factory.mktemp("stage"), provider) as running:
        yield running


@pytest.fixture(scope="module")
def eye(chromium: Browser) -> Iterator[BrowserContext]:
    context = chromium.new_context(bypass_csp=True, reduced_motion="reduce")
    yield context
    context.close()


def faults(page: Page) -> list[str]:
    """What axe finds, one line each."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    found: list[str] = page.evaluate(RUN, TAGS)
    return found


@pytest.mark.parametrize("each", [pytest.param(each, id=each.name) for each in shown()])
def test_axe_finds_nothing(stage: Stage, eye: BrowserContext, each: Shown) -> None:
    eye.clear_cookies()
    page = eye.new_page()
    open_page(page, stage, each)
    found = {}
    for theme, size in zip(THEMES, SIZES, strict=True):
        page.emulate_media(color_scheme=theme)
        page.set_viewport_size({"width": size.width, "height": size.height})
        # All of it at once: what lies half under the bar above or the line below is no small target, for it scrolls.
        tall: int = page.evaluate("document.documentElement.scrollHeight")
        page.set_viewport_size({"width": size.width, "height": min(max(size.height, tall), 6000)})
        found[theme] = faults(page)
    page.close()
    assert found == {theme: [] for theme in THEMES}


def test_every_state_and_every_kind_of_ending_is_a_scene() -> None:
    """`validated` is never seen alone: its message is in the same transaction."""
    assert {scene.state for scene in SCENES} == {str(state) for state in State} - {"validated"}
    ends = [ending(scene.state, scene.reason) for scene in SCENES]
    assert {end.kind for end in ends if end} >= set(MARKS)
    assert {scene.page for scene in SCENES if scene.page} == {each.name for each in PAGE_ENDINGS}


def names(patterns: list[URLPattern | URLResolver], space: str = "") -> Iterator[str]:
    """The names of all addresses but the admin's, which Django itself made."""
    for pattern in patterns:
        if isinstance(pattern, URLPattern):
            yield f"{space}{pattern.name}"
        elif pattern.namespace != "admin":
            inner = f"{space}{pattern.namespace}:" if pattern.namespace else space
            yield from names(pattern.url_patterns, inner)


def test_no_page_is_forgotten() -> None:
    """Whoever adds an address adds its page here, or says why it is none."""
    known = {name for page in PAGES for name in page.url_name.split()}
    there = {name for name in names(get_resolver().url_patterns) if not name.endswith("None")}
    assert (there - known - set(NO_PAGES), set(NO_PAGES) - there, known & set(NO_PAGES)) == (
        set(),
        set(),
        set(),
    )


def test_every_scene_and_page_has_its_pictures() -> None:
    """`python -m tests.browser.screens` makes them."""
    wanted = {f"{picture_name(each, size, theme)}.webp" for each in shown() for size, theme in views(each)}
    assert {path.name for path in SCREENS.glob("*.webp")} == wanted
    assert (SCREENS / "README.md").read_text(encoding="utf-8") == index()
    assert sum(path.stat().st_size for path in SCREENS.iterdir()) < 4_000_000
