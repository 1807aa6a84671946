"""What only a browser can show of an account: passkeys, with a virtual authenticator, and the way to another service."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.person import NewPerson
from tests.fakes.oidc import CLIENT, SECRET, Issuer
from tests.fakes.processes import ServerProcess


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with Issuer() as running:
        yield running


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory, issuer: Issuer) -> Iterator[ServerProcess]:
    """A server that knows the other service; browsers make passkeys for a name only, never for a number."""
    with ServerProcess(
        tmp_path_factory.mktemp("house"),
        GYMNASIA_OIDC_URL=issuer.url,
        GYMNASIA_OIDC_ID=CLIENT,
        GYMNASIA_OIDC_SECRET=SECRET,
        GYMNASIA_OIDC_NAME="Example Login",
    ) as running:
        running.url = running.url.replace("127.0.0.1", "localhost")
        yield running


def authenticator(context: BrowserContext, page: Page) -> tuple[Any, str]:
    """A key in the device, whose person is there and willing."""
    devtools = context.new_cdp_session(page)
    devtools.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    made = devtools.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    return devtools, made["authenticatorId"]


def test_a_passkey_is_made_and_signs_in_alone(house: ServerProcess, new_person: NewPerson) -> None:
    person = new_person(house.url)
    page = person.page
    devtools, key = authenticator(person.context, page)
    page.goto(f"{house.url}/settings/")
    page.get_by_role("listitem").filter(has_text="Passkeys").get_by_role("link").click()
    page.get_by_label("Password").fill(person.password)
    page.get_by_role("button", name="Confirm").click()
    page.get_by_label("What you call it").fill("This laptop")
    page.get_by_role("button", name="Make it").click()
    # The first key brings recovery codes.
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
    (credential,) = devtools.send("WebAuthn.getCredentials", {"authenticatorId": key})["credentials"]
    assert (credential["isResidentCredential"], credential["rpId"]) == (True, "localhost")
    page.goto(f"{house.url}/accounts/2fa/webauthn/")
    expect(page.get_by_text("This laptop")).to_be_visible()
    page.goto(f"{house.url}/settings/")
    page.locator("main").get_by_role("button", name="Sign out").click()
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.locator("textarea")).to_be_visible()
    assert person.name in page.locator("#contents").inner_text()
    # Whoever knows the password alone is asked for the key, too.
    page.goto(f"{house.url}/settings/")
    page.locator("main").get_by_role("button", name="Sign out").click()
    page.locator("[name=login]").fill(person.name)
    page.locator("[name=password]").fill(person.password)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_role("button", name="Use a passkey instead").click()
    expect(page.locator("textarea")).to_be_visible()
    # Another name, and away with it; the key itself is proof enough that it is she.
    page.goto(f"{house.url}/accounts/2fa/webauthn/")
    page.get_by_role("link", name="Rename").click()
    page.get_by_role("link", name="Use your passkey").click()
    page.get_by_role("button", name="Use your passkey").click()
    page.get_by_label("What you call it").fill("The old laptop")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("The old laptop")).to_be_visible()
    page.get_by_role("link", name="Remove").click()
    page.get_by_role("button", name="Remove").click()
    expect(page.get_by_text("You have none yet.")).to_be_visible()


def test_a_passkey_that_is_not_given_is_told(house: ServerProcess, new_person: NewPerson) -> None:
    """Nothing is sent, and the button is there to be pressed again."""
    person = new_person(house.url)
    page = person.page
    devtools, key = authenticator(person.context, page)
    devtools.send("WebAuthn.setUserVerified", {"authenticatorId": key, "isUserVerified": False})
    page.goto(f"{house.url}/settings/")
    page.locator("main").get_by_role("button", name="Sign out").click()
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_text("Nothing was used. Try again when you are ready.")).to_be_visible()
    expect(page).to_have_url(re.compile("/accounts/login/"))


def test_the_button_leads_to_the_other_service_and_back(house: ServerProcess, new_person: NewPerson) -> None:
    """The page's own policy says where a form may lead: it must let this one."""
    person = new_person(house.url)
    page = person.page
    page.goto(f"{house.url}/settings/")
    page.locator("main").get_by_role("button", name="Sign out").click()
    page.get_by_role("button", name="Sign in with Example Login").click()
    expect(page.locator("textarea")).to_be_visible()
    assert "mira" in page.locator("#contents").inner_text()
