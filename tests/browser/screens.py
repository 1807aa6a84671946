"""Makes the pictures of `docs/screens/`: every scene and page, on a telephone and on a desk, in light and in dark.

`python -m tests.browser.screens [FOLDER] [--only NAME…] [--png]` starts the real server on staged rows and the scripted
provider. Times and counters are set to one value, so that two runs on one machine give the same
pictures. `--png` is for looking at them with tools that do not know WebP.
"""

import argparse
import base64
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.conftest import CHROMIUM, FLAGS
from tests.browser.pages import PAGES, Shown, open_page
from tests.browser.scenes import SCENES
from tests.browser.staged import Stage, staged_server
from tests.fakes.processes import ROOT, ProviderProcess

SCREENS = ROOT / "docs" / "screens"
QUALITY = 40

# One moment for all pictures: what the clock says is not what they are about.
STILL = """() => {
  for (const time of document.querySelectorAll("time")) time.textContent = "09:41";
  for (const mark of document.querySelectorAll("[data-still]"))
    mark.textContent = mark.textContent.replace(/\\d+/, "12");
  document.activeElement?.blur();
}"""


class Size(NamedTuple):
    """One kind of screen."""

    name: str
    width: int
    height: int
    scale: float


SIZES = (Size("phone", 390, 844, 1.5), Size("desk", 1280, 800, 1))
THEMES: list[Literal["light", "dark"]] = ["light", "dark"]


def views(each: Shown) -> list[tuple[Size, Literal["light", "dark"]]]:
    """A scene on both screens in both themes; of a page that holds no reply, one of each is enough."""
    every = [(size, theme) for size in SIZES for theme in THEMES]
    return every if each.scene or each.name == "first" else [every[0], every[-1]]


def picture_name(each: Shown, size: Size, theme: str) -> str:
    """The file's name, without its ending."""
    return f"{each.name}-{size.name}-{theme}"


def shown() -> list[Shown]:
    """Everything that has a picture: the scenes in the order of the table, then the pages."""
    scenes = [Shown(scene.name, scene.says, scene=scene.name) for scene in SCENES]
    return [*scenes, *PAGES]


def take(browser: Browser, stage: Stage, folder: Path, only: list[str], *, png: bool) -> Iterator[Path]:
    """One picture after the other."""
    for size in SIZES:
        for theme in THEMES:
            context = browser.new_context(
                viewport={"width": size.width, "height": size.height},
                device_scale_factor=size.scale,
                color_scheme=theme,
                reduced_motion="reduce",
                has_touch=size.name == "phone",
                locale="en-GB",
                timezone_id="Europe/Lisbon",
            )
            for each in shown():
                if (only and each.name not in only) or (size, theme) not in views(each):
                    continue
                context.clear_cookies()
                page = context.new_page()
                open_page(page, stage, each)
                page.evaluate(STILL)
                if each.scene == "reading":
                    tall: int = page.evaluate("document.documentElement.scrollHeight")
                    page.set_viewport_size({"width": size.width, "height": tall})
                if each.scene:
                    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
                yield picture(page, folder / picture_name(each, size, theme), png=png)
                page.close()
            context.close()


def picture(page: Page, path: Path, *, png: bool) -> Path:
    """WebP, which Playwright itself does not write, at a third of the bytes."""
    if png:
        page.screenshot(path=path.with_suffix(".png"))
        return path.with_suffix(".png")
    session = page.context.new_cdp_session(page)
    shot = session.send("Page.captureScreenshot", {"format": "webp", "quality": QUALITY})
    path = path.with_suffix(".webp")
    path.write_bytes(base64.b64decode(shot["data"]))
    return path


def index() -> str:
    """The index of the pictures."""
    rows = [
        "# Screens",
        "",
        "What a person sees, state by state. Made by `python -m tests.browser.screens` from the real server;",
        "a test fails when a state or a page has no picture here.",
        "",
    ]
    for each in shown():
        rows += [f"## {each.name}", "", each.says, ""]
        seen = views(each)
        rows += ["| " + " | ".join(f"{size.name}, {theme}" for size, theme in seen) + " |"]
        rows += ["| " + " | ".join("---" for _ in seen) + " |"]
        names = [f"{picture_name(each, size, theme)}.webp" for size, theme in seen]
        rows += ["| " + " | ".join(f"![{each.name}]({name})" for name in names) + " |", ""]
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", nargs="?", type=Path, default=SCREENS)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--png", action="store_true")
    words = parser.parse_args()
    words.folder.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as temporary,
        ProviderProcess(Path(temporary)) as provider,
        staged_server(Path(temporary), provider) as stage,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for _path in take(browser, stage, words.folder, words.only, png=words.png):
            pass
        browser.close()
    if words.folder == SCREENS and not words.only:
        (SCREENS / "README.md").write_text(index(), encoding="utf-8")


if __name__ == "__main__":
    main()
