"""Signing in by another service, over real requests to a small one on loopback."""

import http.client
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from allauth.socialaccount.models import SocialAccount, SocialToken
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client
from pytest_django import Settings

from gymnasia import env
from tests.fakes.oidc import CLIENT, SECRET, Issuer


@pytest.fixture
def issuer(settings: Settings, db: None) -> Iterator[Issuer]:
    cache.clear()
    with Issuer() as running:
        app = env.oidc_app(running.url, CLIENT, SECRET, "Example Login")
        settings.SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"APPS": [app]}}
        yield running


def there_and_back(client: Client, process: str = "login") -> Any:
    """Press the button, let the service answer, and come back with its answer."""
    leaving = client.post(f"/accounts/oidc/sso/login/?process={process}")
    assert leaving.status_code == 302
    place = urlsplit(leaving["Location"])
    connection = http.client.HTTPConnection(place.netloc)
    connection.request("GET", f"{place.path}?{place.query}")
    answer = connection.getresponse().getheader("Location") or ""
    connection.close()
    back = urlsplit(answer)
    return client.get(f"{back.path}?{back.query}", follow=True)


def test_a_newcomer_has_an_account_at_once(issuer: Issuer, client: Client) -> None:
    assert "Sign in with Example Login" in client.get("/accounts/login/").content.decode()
    page = there_and_back(client)
    assert page.redirect_chain[-1][0] == "/"
    mira = User.objects.get()
    assert (mira.username, mira.email, mira.has_usable_password()) == ("mira", "mira@example.org", False)
    assert SocialAccount.objects.get().uid == "4711"
    assert SocialToken.objects.count() == 0
    (asked,) = issuer.asked
    assert asked["redirect_uri"] == "http://testserver/accounts/oidc/sso/login/callback/"
    assert (asked["client_id"], asked["code_challenge_method"]) == (CLIENT, "S256")
    other = Client()
    there_and_back(other)
    assert (other.get("/").status_code, User.objects.count()) == (200, 1)


def test_the_same_address_opens_nobodys_account(issuer: Issuer, client: Client) -> None:
    """Whoever runs the other service could otherwise become anybody here."""
    User.objects.create_user("ana", "mira@example.org", "long-enough-93")
    there_and_back(client)
    assert client.session.get("_auth_user_id") != str(User.objects.get(username="ana").pk)


def test_an_account_connects_and_disconnects(issuer: Issuer, client: Client) -> None:
    ana = User.objects.create_user("ana", password="long-enough-93")
    client.force_login(ana)
    assert 'href="/accounts/3rdparty/"' in client.get("/settings/").content.decode()
    there_and_back(client, "connect")
    page = client.get("/accounts/3rdparty/").content.decode()
    account = SocialAccount.objects.get()
    assert account.user_id == ana.pk
    assert f'name="account" value="{account.pk}"' in page
    assert "<strong>Example Login</strong>" in page
    client.post("/accounts/3rdparty/", {"account": account.pk})
    assert not SocialAccount.objects.exists()


@pytest.mark.parametrize(
    ("fault", "words"),
    [("denies", "You are not signed in"), ("broken", "That sign-in did not work")],
)
def test_what_goes_wrong_there_is_told_here(issuer: Issuer, client: Client, fault: str, words: str) -> None:
    setattr(issuer, fault, True)
    page = there_and_back(client)
    assert words in page.content.decode()
    assert not User.objects.exists()


def test_a_service_that_is_not_there_is_told(issuer: Issuer, client: Client, settings: Settings) -> None:
    app = env.oidc_app("http://127.0.0.1:9/", CLIENT, SECRET, "")
    settings.SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"APPS": [app]}}
    page = client.post("/accounts/oidc/sso/login/")
    assert page.status_code == 502
    assert "That sign-in did not work" in page.content.decode()


def test_without_one_there_is_no_button(client: Client, db: None) -> None:
    page = client.get("/accounts/login/").content.decode()
    assert "oidc" not in page
    assert client.post("/accounts/oidc/sso/login/").status_code == 404
