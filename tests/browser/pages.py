"""Which pages there are besides the scenes, and how each is opened; and which addresses are no pages, and why.

Takes a page of Playwright and a stage, gives the page as a person has it before them. Knows neither pictures nor axe.
"""

from typing import NamedTuple

from playwright.sync_api import Page, expect

from tests.browser.scenes import SCENES
from tests.browser.staged import Stage


class Shown(NamedTuple):
    """Something to look at: a scene by its name, or the page at `path`, where {name} stands for the address of what the
    stage has under that name. `url_name` says which addresses are seen here, separated by spaces. `press` is pressed on the
    page, or `sends` put into its line and sent as a plain form: what answers with `status` is what is seen. `html` is a page
    that no address has on purpose."""

    name: str
    says: str
    path: str = ""
    scene: str = ""
    url_name: str = ""
    person: str = "mira"
    status: int = 200
    press: str = ""
    sends: str = ""
    html: str = ""


PAGES = [
    Shown("first", "The first page: what it is, examples, which model answers.", "/", url_name="chat:home"),
    Shown("edit", "A message, to be asked again.", "{edit}", url_name="chat:edit"),
    Shown("edit-draft", "A draft becomes one's own.", "{edit_draft}", url_name="chat:edit_draft"),
    Shown("editing", "The same in its place.", "{versions}", press=".asked [data-edit]"),
    Shown("editing-reply", "An answer becomes one's own.", "{versions}", press=".status [data-edit]"),
    Shown(
        "versions",
        "A message and a reply with versions; what a reply took.",
        "{versions}",
        press=".facts summary",
    ),
    Shown("again", "Another answer.", "{again}", url_name="chat:again"),
    Shown("asking-again", "The same in its place.", "{versions}", press="[data-again]"),
    Shown("delete-version", "A version goes.", "{delete_version}", url_name="chat:delete_version"),
    Shown("elsewhere", "A hit on another branch.", "{elsewhere}", url_name="chat:message"),
    Shown("rename", "A conversation gets another name.", "{ready}rename/", url_name="chat:rename"),
    Shown("delete", "Deleting asks first.", "{ready}delete/", url_name="chat:delete"),
    Shown("conversations", "All conversations.", "/conversations/", url_name="chat:conversations"),
    Shown("archive", "What was put away: nothing yet.", "/conversations/?archived"),
    Shown("search", "Looking through messages.", "/search/?q=heavy", url_name="chat:search"),
    Shown("search-nothing", "Nothing was found.", "/search/?q=marathon"),
    Shown("export", "Taking a conversation away.", "{ready}export/", url_name="chat:export"),
    Shown("share", "A link that others may read.", "{reading}share/", url_name="chat:share"),
    Shown("shared-links", "All one's links.", "/shared/", url_name="chat:shared_links"),
    Shown("shared", "What others see.", "{shared}", url_name="chat:shared", person=""),
    Shown("import", "Bringing conversations along.", "/import/", url_name="chat:imports"),
    Shown("plans", "The plans that were kept.", "/plans/", url_name="chat:plans"),
    Shown("instructions", "Words about oneself.", "/instructions/", url_name="chat:instructions"),
    Shown("presets", "What the model is told.", "/presets/", url_name="chat:presets"),
    Shown("preset", "One preset.", "{preset}", url_name="chat:preset"),
    Shown("usage", "Tokens and prices by month.", "/usage/", url_name="chat:usage"),
    Shown("shortcuts", "The keyboard's shortcuts.", "/shortcuts/", url_name="chat:shortcuts"),
    Shown("imported", "What came of an import.", "{imported}", url_name="chat:import"),
    Shown("busy", "A reply is being written already.", "{draft}", status=409, sends="And then?"),
    Shown("too-fast", "More than an hour holds.", "/", status=429, sends="How often?", person="eva"),
    Shown("too-old", "A form without its token.", "/", status=403, sends="!And then?"),
    Shown("too-large", "More than a form may hold.", "/", status=413, sends="…"),
    Shown("broken", "Something broke.", html="broken", status=500),
    Shown("not-found", "Nothing here, or not yours.", "/conversations/nothing/", status=404),
    Shown("sign-in", "Signing in.", "/accounts/login/", url_name="account_login", person=""),
    Shown("sign-up", "Signing up.", "/accounts/signup/", url_name="account_signup", person=""),
    Shown("sign-out", "Signing out.", "/accounts/logout/", url_name="account_logout"),
    Shown(
        "reset",
        "A new password, on a server without mail.",
        "/accounts/password/reset/",
        url_name="account_reset_password account_reset_password_done",
        person="",
    ),
    Shown(
        "reset-done",
        "It is set.",
        "/accounts/password/reset/key/done/",
        "",
        "account_reset_password_from_key_done",
        "",
    ),
    Shown("inactive", "An account that was closed.", "/accounts/inactive/", "", "account_inactive", ""),
    Shown(
        "confirm-sent",
        "A link is on its way.",
        "/accounts/confirm-email/",
        "",
        "account_email_verification_sent",
        "",
    ),
    Shown("settings", "Everything about oneself.", "/settings/", url_name="chat:settings mfa_index"),
    Shown("delete-account", "The end of an account.", "/settings/delete/", url_name="chat:delete_account"),
    Shown("password", "Another password.", "/accounts/password/change/", url_name="account_change_password"),
    Shown(
        "password-again",
        "Before what matters.",
        "/accounts/reauthenticate/",
        url_name="account_reauthenticate",
    ),
    Shown("email", "One's e-mail address.", "/accounts/email/", url_name="account_email"),
    Shown("sessions", "Where one is signed in.", "/accounts/sessions/", url_name="usersessions_list"),
    Shown("connections", "Other sign-ins.", "/accounts/3rdparty/", url_name="socialaccount_connections"),
    Shown(
        "connection-cancelled",
        "Another sign-in that was given up.",
        "/accounts/3rdparty/login/cancelled/",
        url_name="socialaccount_login_cancelled",
        person="",
    ),
    Shown("app", "An authenticator app.", "/accounts/2fa/totp/activate/", url_name="mfa_activate_totp"),
    Shown(
        "app-off",
        "Without the app again.",
        "/accounts/2fa/totp/deactivate/",
        "",
        "mfa_deactivate_totp",
        "rui",
    ),
    Shown("codes", "Recovery codes.", "/accounts/2fa/recovery-codes/", "", "mfa_view_recovery_codes", "rui"),
    Shown(
        "new-codes",
        "New recovery codes.",
        "/accounts/2fa/recovery-codes/generate/",
        url_name="mfa_generate_recovery_codes",
        person="rui",
    ),
    Shown("passkeys", "Passkeys.", "/accounts/2fa/webauthn/", "", "mfa_list_webauthn", "rui"),
    Shown("passkey-new", "Making a passkey.", "/accounts/2fa/webauthn/add/", url_name="mfa_add_webauthn"),
    Shown("passkey-name", "A passkey's name.", "{key}edit/", "", "mfa_edit_webauthn", "rui"),
    Shown("passkey-remove", "Removing a passkey.", "{key}remove/", "", "mfa_remove_webauthn", "rui"),
    Shown(
        "step-again",
        "The second step, again.",
        "/accounts/2fa/reauthenticate/",
        "",
        "mfa_reauthenticate",
        "rui",
    ),
]

COMMAND = "a command: POST alone"
DATA = "data for the script, no page"
ELSEWHERE = "in the middle of a walk that tests/accounts/ and tests/browser/ go"
OFF = "a way to sign in that is switched off here"
NO_PAGES = {
    "account_confirm_email": ELSEWHERE,
    "account_confirm_login_code": OFF,
    "account_confirm_reauthentication_code": OFF,
    "account_request_reauthentication_code": OFF,
    "account_reset_password_from_key": ELSEWHERE,
    "account_set_password": ELSEWHERE,
    "mfa_authenticate": ELSEWHERE,
    "mfa_download_recovery_codes": "a file of a person",
    "mfa_login_webauthn": DATA,
    "mfa_reauthenticate_webauthn": ELSEWHERE,
    "openid_connect_callback": ELSEWHERE,
    "openid_connect_login": ELSEWHERE,
    "socialaccount_login_error": ELSEWHERE,
    "socialaccount_signup": ELSEWHERE,
    "chat:download": ELSEWHERE,
    "chat:download_file": "a file of a person",
    "chat:attachment": "a file of a person",
    "chat:conversation": "the scenes are its pages",
    "chat:contents": "a fragment of every page",
    "chat:delete_preset": COMMAND,
    "chat:events": DATA,
    "chat:continue": COMMAND,
    "chat:standing": DATA,
    "chat:switch": COMMAND,
    "chat:export_everything": "a file of a person",
    "chat:export_json": "a file of a person",
    "chat:export_md": "a file of a person",
    "chat:revoke": COMMAND,
    "chat:language": COMMAND,
    "chat:manifest": DATA,
    "chat:pin": COMMAND,
    "chat:unpin": COMMAND,
    "chat:archive": COMMAND,
    "chat:unarchive": COMMAND,
    "chat:restore": COMMAND,
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
  const article = [...document.querySelectorAll("article.reply")].at(-1);
  article.dataset.state = ending.dataset.state;
  article.dataset.reason = ending.dataset.reason;
  const status = article.querySelector(":scope > .status");
  const end = ending.content.cloneNode(true);
  end.querySelector(".model").textContent = "scripted-1";
  status.replaceWith(end);
  document.querySelector("form.composer").removeAttribute("data-writing");
  const line = document.getElementById("connection");
  line.hidden = false;
  line.textContent = line.dataset[name];
}"""


# As a browser without a script sends it; "!" leaves the token out, "…" is more than a form may hold.
SEND = """(text) => {
  const form = document.querySelector("form.composer");
  if (text.startsWith("!")) form.querySelector("[name=csrfmiddlewaretoken]").value = "";
  const line = form.elements.text;
  const sent = Object.assign(document.createElement("input"), {type: "hidden", name: line.name});
  sent.value = text === "…" ? "x".repeat(2600000) : text.replace("!", "");
  line.replaceWith(sent);
  HTMLFormElement.prototype.submit.call(form);
}"""


def open_page(page: Page, stage: Stage, each: Shown) -> None:
    """Go there, and wait until it stands as it will stand."""
    if each.person:
        page.context.add_cookies([stage.cookie(each.person)])
    path = stage.path(each.scene) if each.scene else each.path
    for name in [*(scene.name for scene in SCENES), *stage.more]:
        path = path.replace(f"{{{name}}}", stage.path(name))
    if each.html:
        body = stage.more[each.html]
        page.route("**/broken/", lambda route: route.fulfill(status=500, content_type="text/html", body=body))
        path = "/broken/"
    answer = page.goto(f"{stage.url}{path}")
    if each.sends:
        with page.expect_navigation() as navigation:
            page.evaluate(SEND, each.sends)
        answer = navigation.value
    assert answer is not None
    assert answer.status == each.status, (path, answer.status, answer.text()[:300])
    if each.press:
        page.wait_for_load_state("load")  # the scripts run before that
        page.locator(each.press).last.click()
        expect(page.locator(".turn form.edit, .models, .facts[open]")).to_be_visible()
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
