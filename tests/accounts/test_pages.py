"""Each page of the accounts by real requests: on our sheet, without a script of somebody else's, and doing what it says."""

import re
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value, yield_hotp_counters_from_time
from allauth.usersessions.models import UserSession
from django.contrib.auth.models import User
from django.core import mail
from django.core.cache import cache
from django.test import Client
from pytest_django import Settings

PASSWORD = "long-enough-93"


@pytest.fixture(autouse=True)
def forgiving(settings: Settings) -> None:
    """Limits on tries are counted in the cache; a hash that is dear on purpose is paid at each sign-in."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    cache.clear()


@pytest.fixture
def sends_mail(settings: Settings) -> None:
    settings.SENDS_MAIL = settings.ACCOUNT_EMAIL_NOTIFICATIONS = True
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    settings.ACCOUNT_SIGNUP_FIELDS = ["username*", "email*", "password1*", "password2*"]
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"


@pytest.fixture
def ana(db: None) -> User:
    return User.objects.create_user("ana", "ana@example.org", PASSWORD)


def sign_in(client: Client, **more: str) -> Any:
    return client.post("/accounts/login/", {"login": "ana", "password": PASSWORD, **more}, follow=True)


@pytest.fixture
def browser(ana: User) -> Client:
    """Ana's, signed in, and shown again that it is she."""
    client = Client()
    sign_in(client)
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    return client


def text_of(answer: Any) -> str:
    """The page without its markup, and proof that it is ours."""
    html: str = answer.content.decode()
    assert answer.status_code == 200
    assert '<main class="sheet" id="main">' in html or '<div class="column sheet">' in html
    assert not [
        tag for tag in re.findall(r"<script[^>]*>", html) if "nonce=" not in tag and "json" not in tag
    ]
    assert "onclick" not in html
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html.partition("<main")[2]))


def code_of(secret: str) -> str:
    code: str = format_hotp_value(hotp_value(secret, next(iter(yield_hotp_counters_from_time()))))
    return code


def add_app(browser: Client) -> str:
    """Give Ana an authenticator app; its key."""
    page = browser.get("/accounts/2fa/totp/activate/").content.decode()
    found = re.search(r'<code class="key">(\w+)</code>', page)
    assert found is not None
    answer = browser.post("/accounts/2fa/totp/activate/", {"code": code_of(found[1])})
    assert answer.status_code == 302
    return found[1]


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/accounts/login/", "Sign in with a passkey"),
        ("/accounts/signup/", "E-mail (optional)"),
        ("/accounts/password/reset/", "This server sends no mail"),
        ("/accounts/password/reset/done/", "This server sends no mail"),
        ("/accounts/password/reset/key/1-set-password/", "This link has run out"),
        ("/accounts/password/reset/key/done/", "Your new password stands"),
        ("/accounts/confirm-email/", "One more step: your e-mail"),
        ("/accounts/confirm-email/wrong:key/", "This link has run out"),
        ("/accounts/inactive/", "This account is closed"),
        ("/accounts/3rdparty/login/cancelled/", "You are not signed in"),
    ],
)
def test_pages_for_everybody(client: Client, db: None, path: str, words: str) -> None:
    assert words in text_of(client.get(path))


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/settings/", "Where you are signed in"),
        ("/accounts/password/change/", "Change your password"),
        ("/accounts/email/", "This server sends no mail"),
        ("/accounts/reauthenticate/", "Is it you?"),
        ("/accounts/2fa/totp/activate/", "write this key into the app"),
        ("/accounts/2fa/webauthn/", "You have none yet."),
        ("/accounts/2fa/webauthn/add/", "Make a passkey"),
        ("/accounts/2fa/recovery-codes/generate/", "Make new recovery codes?"),
        ("/accounts/sessions/", "Nowhere else."),
        ("/accounts/3rdparty/", "None is connected with your account."),
        ("/accounts/logout/", "Sign out?"),
    ],
)
def test_pages_of_ones_own(browser: Client, path: str, words: str) -> None:
    if path.endswith("generate/"):
        add_app(browser)
    assert words in text_of(browser.get(path))


def test_an_authenticator_app_is_asked_for_and_a_recovery_code_will_do(browser: Client, ana: User) -> None:
    secret = add_app(browser)
    codes = text_of(browser.get("/accounts/2fa/recovery-codes/"))
    assert "10 of 10 are left." in codes
    assert "10 left" in text_of(browser.get("/settings/"))
    assert "Use a code" in text_of(browser.get("/accounts/reauthenticate/"))
    cache.clear()
    other = Client()
    page = sign_in(other)
    assert "The second step" in text_of(page)
    assert other.get("/")["Location"].startswith("/accounts/login/")
    assert "The second step" in text_of(other.post("/accounts/2fa/authenticate/", {"code": "000000"}))
    cache.clear()
    code = re.findall(r"\b\d{8}\b", codes)[0]
    other.post("/accounts/2fa/authenticate/", {"code": code})
    assert other.get("/").status_code == 200
    assert "9 of 10 are left." in text_of(browser.get("/accounts/2fa/recovery-codes/"))
    cache.clear()
    third = Client()
    sign_in(third)
    third.post("/accounts/2fa/authenticate/", {"code": code_of(secret)})
    assert third.get("/").status_code == 200


def test_an_app_is_removed_only_when_said(browser: Client) -> None:
    add_app(browser)
    assert "Remove the authenticator app?" in text_of(browser.get("/accounts/2fa/totp/deactivate/"))
    browser.post("/accounts/2fa/totp/deactivate/")
    assert not Authenticator.objects.exists()


def test_an_administrator_goes_through_the_second_step_too(browser: Client, ana: User) -> None:
    """Django's own form would let a password in alone."""
    ana.is_staff = ana.is_superuser = True
    ana.save()
    add_app(browser)
    cache.clear()
    other = Client()
    assert other.get("/admin/login/?next=/admin/")["Location"] == "/accounts/login/?next=/admin/"
    assert "The second step" in text_of(sign_in(other, next="/admin/"))
    assert other.get("/admin/").status_code == 302
    assert other.post("/admin/login/", {"username": "ana", "password": PASSWORD}).status_code == 302
    assert other.get("/admin/").status_code == 302
    assert browser.get("/admin/login/")["Location"] == "/admin/"
    eva = Client()
    eva.force_login(User.objects.create_user("eva"))
    assert eva.post("/admin/login/", {"username": "ana", "password": PASSWORD}).status_code == 403


def test_signing_out_everywhere_else(browser: Client, ana: User) -> None:
    other = Client(
        headers={"User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"}
    )
    sign_in(other)
    page = text_of(browser.get("/accounts/sessions/"))
    assert "Firefox, Linux" in page
    assert "here" in page
    browser.post("/accounts/sessions/")
    assert [UserSession.objects.count(), browser.get("/").status_code, other.get("/").status_code] == [
        1,
        200,
        302,
    ]


def test_another_password_signs_out_elsewhere(browser: Client, ana: User) -> None:
    other = Client()
    sign_in(other)
    new = {"oldpassword": PASSWORD, "password1": "another-one-47", "password2": "another-one-47"}
    browser.post("/accounts/password/change/", new)
    assert [browser.get("/").status_code, other.get("/").status_code] == [200, 302]


# --- with a mail server ---------------------------------------------------------------------------------------------
def link_in(message: Any) -> str:
    found = re.search(r"http://testserver(/\S+)", message.body)
    assert found is not None
    return found[1]


def test_signing_up_by_mail(sends_mail: None, client: Client, db: None) -> None:
    form = {"username": "bea", "email": "bea@example.org", "password1": PASSWORD, "password2": PASSWORD}
    assert "One more step: your e-mail" in text_of(client.post("/accounts/signup/", form, follow=True))
    assert client.get("/").status_code == 302
    (message,) = mail.outbox
    assert (message.subject, message.to) == ("Confirm your e-mail · Gymnasia", ["bea@example.org"])
    assert message.body.startswith(
        "Somebody, probably you, gave this address for the account “bea” at Gymnasia."
    )
    assert message.body.rstrip().endswith("Gymnasia, at testserver")
    link = link_in(message)
    assert "Is bea@example.org your address?" in text_of(client.get(link))
    client.post(link)
    assert EmailAddress.objects.get(email="bea@example.org").verified


@pytest.mark.parametrize(
    ("language", "subject", "begins"),
    [
        ("pt-BR", "Confirme seu e-mail · Gymnasia", "Alguém, provavelmente você, deu este endereço"),
        ("es", "Confirma tu correo · Gymnasia", "Alguien, seguramente tú, dio esta dirección"),
    ],
)
def test_mail_is_in_the_language_of_who_asked_for_it(
    sends_mail: None, client: Client, db: None, language: str, subject: str, begins: str
) -> None:
    form = {"username": "bea", "email": "bea@example.org", "password1": PASSWORD, "password2": PASSWORD}
    client.post("/accounts/signup/", form, headers={"Accept-Language": language})
    (message,) = mail.outbox
    assert (message.subject, message.body[: len(begins)]) == (subject, begins)


def test_a_new_password_by_mail(sends_mail: None, client: Client, ana: User) -> None:
    EmailAddress.objects.create(user=ana, email=ana.email, verified=True, primary=True)
    done = client.post("/accounts/password/reset/", {"email": ana.email}, follow=True)
    assert "a link is on its way to it" in text_of(done)
    (message,) = mail.outbox
    assert message.subject == "Choose a new password · Gymnasia"
    page = client.get(link_in(message), follow=True)
    assert "A new password" in text_of(page)
    new = {"password1": "another-one-47", "password2": "another-one-47"}
    done = client.post(page.redirect_chain[-1][0], new, follow=True)
    assert User.objects.get().check_password("another-one-47")
    assert mail.outbox[1].subject == "Your password has changed · Gymnasia"
    assert "Was it you? Then all is well." in mail.outbox[1].body


def test_who_has_no_account_is_told_by_mail_alone(sends_mail: None, client: Client, db: None) -> None:
    """The page says the same to everybody: it must not tell who has an account."""
    done = client.post("/accounts/password/reset/", {"email": "nobody@example.org"}, follow=True)
    assert "a link is on its way to it" in text_of(done)
    assert mail.outbox[0].subject == "No account with this address · Gymnasia"


def test_another_address_counts_once_it_is_confirmed(sends_mail: None, ana: User) -> None:
    EmailAddress.objects.create(user=ana, email=ana.email, verified=True, primary=True)
    browser = Client()
    sign_in(browser)
    browser.post("/accounts/email/", {"email": "new@example.org", "action_add": ""})
    page = text_of(browser.get("/accounts/email/"))
    assert "Now it is ana@example.org." in page
    assert "new@example.org waits to be confirmed" in page
    browser.post(link_in(mail.outbox[-1]))
    assert User.objects.get().email == "new@example.org"
