"""Which pages there are besides the scenes, and how each is opened; and which addresses are no pages, and why.

Takes a page of Playwright and a stage, gives the page as a person has it before them. Knows neither pictures nor axe.
"""

from typing import NamedTuple

from playwright.sync_api import Page, expect

from tests.browser.scenes import SCENES
from tests.browser.staged import Stage


class Shown(NamedTuple):
    """Something to look at: a scene by its name, or the page at `path`, where {name} stands for the address of what the
    stage has under that name. `url_name` says which addresses are seen here, separated by spaces."""

    name: str
    says: str
    path: str = ""
    scene: str = ""
    url_name: str = ""
    signed_in: bool = True
    status: int = 200


PAGES = [
    Shown("first", "The first page: what it is, examples, which model answers.", "/", url_name="chat:home"),
    Shown("rename", "A conversation gets another name.", "{ready}rename/", url_name="chat:rename"),
    Shown("delete", "Deleting asks first.", "{ready}delete/", url_name="chat:delete"),
    Shown("instructions", "Words about oneself.", "/instructions/", url_name="chat:instructions"),
    Shown("presets", "What the model is told.", "/presets/", url_name="chat:presets"),
    Shown("preset", "One preset.", "{preset}", url_name="chat:preset"),
    Shown("usage", "Tokens and prices by month.", "/usage/", url_name="chat:usage"),
    Shown("shortcuts", "The keyboard's shortcuts.", "/shortcuts/", url_name="chat:shortcuts"),
    Shown("not-found", "Nothing here, or not yours.", "/conversations/nothing/", status=404),
    Shown("sign-in", "Signing in.", "/accounts/login/", url_name="account_login", signed_in=False),
    Shown("sign-up", "Signing up.", "/accounts/signup/", url_name="account_signup", signed_in=False),
    Shown("sign-out", "Signing out.", "/accounts/logout/", url_name="account_logout"),
    Shown(
        "reset",
        "A new password, on a server without mail.",
        "/accounts/password/reset/",
        url_name="account_reset_password",
        signed_in=False,
    ),
]

COMMAND = "a command: POST alone"
DATA = "data for the script, no page"
NO_PAGES = {
    "chat:attachment": "a file of a person",
    "chat:conversation": "the scenes are its pages",
    "chat:delete_preset": COMMAND,
    "chat:events": DATA,
    "chat:language": COMMAND,
    "chat:manifest": DATA,
    "chat:retry": COMMAND,
    "chat:source": "an answer as plain text",
    "chat:stop": COMMAND,
    "chat:theme": COMMAND,
    "chat:turn": "a fragment of a conversation's page",
}
"""Addresses that are no pages of ours, and why."""

# What a page gives by itself when it hears no more; its template is on every conversation's page.
ABANDON = """(name) => {
  const ending = document.getElementById(`ending-${name}`);
  const article = document.querySelector("article.reply:last-of-type");
  article.dataset.state = ending.dataset.state;
  article.dataset.reason = ending.dataset.reason;
  const status = [...document.querySelectorAll("article.reply > .status")].at(-1);
  status.closest("article").dataset.state = ending.dataset.state;
  const end = ending.content.cloneNode(true);
  end.querySelector(".model").textContent = "scripted-1";
  status.replaceWith(end);
  document.querySelector("form.composer").removeAttribute("data-writing");
  const line = document.getElementById("connection");
  line.hidden = false;
  line.textContent = line.dataset[name];
}"""


def open_page(page: Page, stage: Stage, each: Shown) -> None:
    """Go there, and wait until it stands as it will stand."""
    if each.signed_in:
        page.context.add_cookies([stage.cookie])
    path = stage.path(each.scene) if each.scene else each.path
    for name in [*(scene.name for scene in SCENES), *stage.more]:
        path = path.replace(f"{{{name}}}", stage.path(name))
    answer = page.goto(f"{stage.url}{path}")
    assert answer is not None
    assert answer.status == each.status, (path, answer.status, answer.text()[:300])
    if not each.scene:
        return
    scene = next(scene for scene in SCENES if scene.name == each.scene)
    reply = page.locator("article.reply").last
    expect(reply).to_have_attribute("data-state", scene.state)
    if scene.waited_s > 0:
        expect(reply.locator("[data-still]")).to_contain_text("still waiting")
    if scene.paper_form:
        page.evaluate(
            "(html) => [...document.querySelectorAll('.reply .leaf')].at(-1).insertAdjacentHTML('beforeend', html)",
            stage.more["paper_form"],
        )
    if scene.page:
        page.evaluate(ABANDON, scene.page)
