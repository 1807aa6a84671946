"""A bare page with the product's own painter and style sheets and nothing else: no server, all out of the source tree.

Gives a page on which `Painter` is the product's, `full(text)` renders a whole text at once, and `same(text, cuts)` says
whether a text that was painted at those cuts is what the whole text would be.
"""

import json
from pathlib import Path

from playwright.sync_api import Browser, Page, Route

STATIC = Path(__file__).resolve().parents[2] / "chat" / "static"
ADDRESS = "http://painter.test/"
LIBRARIES = {name: f"{ADDRESS}vendor/{name}/{name}.mjs" for name in ("markdown-it", "dompurify")}
MODULES = {
    f"#chat/{path.stem}": f"{ADDRESS}chat/js/{path.name}" for path in (STATIC / "chat/js").glob("*.js")
}
SCRIPT = """
import { settle } from "#chat/blocks";
import { SANITISE, makeGrammar } from "#chat/grammar";
import { morphSoftly } from "#chat/morph";
import { Painter, loadMarkdown } from "#chat/paint";
import purify from "dompurify";
import MarkdownIt from "markdown-it";
const grammar = makeGrammar(MarkdownIt);
window.Painter = Painter;
window.full = (text) => {
  const whole = document.createElement("div");
  const env = {};
  whole.append(purify.sanitize(grammar.renderer.render(grammar.parse(settle(text), env), grammar.options, env), SANITISE));
  return whole;
};
window.same = (text, cuts) => {
  const lane = document.createElement("div");
  const painter = new Painter(lane, "");
  let from = 0;
  for (const cut of [...cuts, text.length]) {
    painter.append(text.slice(from, cut));
    painter.paint();
    from = cut;
  }
  lane.removeAttribute("class");
  const whole = window.full(text);
  lane.normalize();
  whole.normalize();
  return lane.isEqualNode(whole) ? null : [text, cuts, lane.innerHTML, whole.innerHTML];
};
// As a reply that is ready is set.
window.ink = async (lane, html) => {
  const template = document.createElement("template");
  template.innerHTML = html;
  await morphSoftly(lane, template.content, () => false);
};
await loadMarkdown();
window.isReady = true;
"""
TYPES = {".js": "text/javascript", ".mjs": "text/javascript", ".css": "text/css"}
STYLES = ("tokens", "base", "thread", "prose", "maths")
HTML = (
    '<!doctype html><meta charset="utf-8">'
    + "".join(f'<link rel="stylesheet" href="{ADDRESS}chat/css/{name}.css">' for name in STYLES)
    + '<script type="importmap">'
    + json.dumps({"imports": MODULES | LIBRARIES})
    + '</script><main class="column"><div class="prose" id="lane"></div></main>'
    + f'<script type="module">{SCRIPT}</script>'
)


def _serve(route: Route) -> None:
    path = STATIC / route.request.url.removeprefix(ADDRESS)
    if path.suffix in TYPES:
        route.fulfill(body=path.read_bytes(), content_type=TYPES[path.suffix])
    else:
        route.fulfill(body=HTML, content_type="text/html")


def open_page(browser: Browser) -> Page:
    """Return the page, its modules loaded."""
    page = browser.new_page()
    page.route("**/*", _serve)
    page.goto(ADDRESS)
    page.wait_for_function("() => window.isReady")
    return page
