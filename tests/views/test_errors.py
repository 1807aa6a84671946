"""Pages for what went wrong: in our design, without a way in, and in JSON for our script."""

import datetime as dt
import json
import re
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.contrib.messages import constants
from django.contrib.messages.storage.cookie import CookieStorage
from django.core.cache import cache
from django.core.exceptions import BadRequest, PermissionDenied, RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from django.utils import translation
from pytest_django import Settings

from chat.models import Conversation
from chat.views import errors
from tests.rows import sent

JSON = {"Accept": "application/json"}


def bad(request: HttpRequest) -> HttpResponse:
    return errors.bad_request(request, BadRequest())


def denied(request: HttpRequest) -> HttpResponse:
    return errors.permission_denied(request, PermissionDenied())


def missing(request: HttpRequest) -> HttpResponse:
    return errors.not_found(request, Exception())


def large(request: HttpRequest) -> HttpResponse:
    return errors.bad_request(request, RequestDataTooBig())


CASES = [
    (bad, 400, "That request made no sense", "bad_request"),
    (denied, 403, "That is not for you", "forbidden"),
    (missing, 404, "There is nothing here", "not_found"),
    (errors.csrf_failure, 403, "This page was too old", "csrf"),
    (errors.server_error, 500, "Something broke on our side", "internal"),
    (large, 413, "Too much at once", "too_large"),
]


@pytest.mark.parametrize(("view", "status", "title", "word"), CASES)
def test_page_and_json(
    view: Callable[[HttpRequest], HttpResponse], status: int, title: str, word: str
) -> None:
    """The same fault, for a person and for our script."""
    requests = RequestFactory()
    page = view(requests.get("/"))
    assert page.status_code == status
    assert f"<h1>{title}</h1>" in page.content.decode()
    answer = view(requests.get("/", headers=JSON))
    assert answer.status_code == status
    assert f'"error": "{word}"' in answer.content.decode()


@pytest.mark.parametrize("language", ["pt-br", "es"])
@pytest.mark.parametrize(("view", "status", "title", "word"), CASES)
def test_in_each_language(
    view: Callable[[HttpRequest], HttpResponse], status: int, title: str, word: str, language: str
) -> None:
    """Page and sentence, both wholly in it; what broke may have broken before the language was known."""
    request = RequestFactory().get("/", headers={"Accept-Language": language})
    script = RequestFactory().get("/", headers={"Accept-Language": language, **JSON})
    with translation.override(language):
        page, told = view(request).content.decode(), json.loads(view(script).content)
    with translation.override("en"):
        english, plain = (
            view(RequestFactory().get("/")).content.decode(),
            json.loads(view(RequestFactory().get("/", headers=JSON)).content),
        )
    lines = [re.findall(r"<(?:h1|p)\b[^>]*>([^<]{8,})<", html) for html in (page, english)]
    assert (f'<html lang="{language}"' in page, len(lines[0]), told["error"]) == (True, len(lines[1]), word)
    assert set(lines[0]) & set(lines[1]) == set()
    assert told["message"] != plain["message"]


def test_a_message_that_is_too_long_for_the_server_says_how_much_is_allowed(page: Client) -> None:
    """2.5 MB of text, which no form of ours takes, before any form has read it."""
    answer = page.post("/", {"text": "x" * 2_600_000})
    assert answer.status_code == 413
    assert "One message may have 2.4\xa0MB at most, with all its files." in answer.content.decode()


def test_what_is_told_of_a_body_that_nobody_read() -> None:
    """By the head alone: in the language of the cookie, and a page only to a browser."""
    told = errors.too_large_unread("text/html,*/*", "en", "django_language=es; a=b")
    assert told is not None
    assert (told[0], '<html lang="es">' in told[1].decode()) == ("text/html; charset=utf-8", True)
    script = errors.too_large_unread("application/json", "pt-br", "")
    assert script is not None
    assert json.loads(script[1])["error"] == "too_large"
    assert errors.too_large_unread("*/*", "", "") is None


def test_what_broke_is_told_in_the_persons_language(settings: Settings) -> None:
    """It may have broken before the language was known."""
    settings.LANGUAGES = [("en", "English"), ("es", "Español")]
    request = RequestFactory().get("/", headers={"Accept-Language": "es"})
    assert '<html lang="es">' in errors.server_error(request).content.decode()
    request.COOKIES["django_language"] = "en"
    assert '<html lang="en">' in errors.server_error(request).content.decode()


def test_unknown_address(client: Client, db: None) -> None:
    """A visitor learns nothing about what exists: there is nothing there."""
    response = client.get("/nowhere/")
    assert response.status_code == 404
    assert "There is nothing here" in response.content.decode()


@pytest.mark.parametrize("path", ["/accounts/login/", "/accounts/signup/", "/accounts/password/reset/"])
def test_accounts_wear_our_design(client: Client, db: None, path: str, settings: Settings) -> None:
    """allauth's pages stand on our sheet: labels above, no style or script of their own, the cursor in the first line."""
    settings.SENDS_MAIL = True
    text = client.get(path).content.decode()
    assert '<main class="sheet"' in text
    assert "<label for=" in text
    assert "<style" not in text
    assert 'class="button primary"' in text
    assert len(re.findall(r"<input[^>]* autofocus", text)) == 1


def sheet(page: str) -> str:
    """The words of a sheet."""
    text = re.sub(r"<[^>]*>", " ", page.split('<main class="sheet"', 1)[1])
    return " ".join(text.split())


NO_MAIL = "This server sends no mail; an administrator can set a new password for you."


def test_without_mail_no_page_promises_any(client: Client, db: None, settings: Settings) -> None:
    """Somebody who waits for a message that is never sent waits for ever."""
    settings.SENDS_MAIL = False
    assert "/password/reset/" not in client.get("/accounts/login/").content.decode()
    for url in ("/accounts/password/reset/", "/accounts/password/reset/done/"):
        page = client.get(url).content.decode()
        assert NO_MAIL in sheet(page)
        assert 'name="email"' not in page


def test_with_mail_the_way_is_open(client: Client, db: None, settings: Settings) -> None:
    """From the sign-in page to the form, and to what happens next."""
    settings.SENDS_MAIL = True
    assert 'href="/accounts/password/reset/"' in client.get("/accounts/login/").content.decode()
    assert "Write your e-mail address" in sheet(client.get("/accounts/password/reset/").content.decode())
    done = sheet(client.get("/accounts/password/reset/done/").content.decode())
    assert "a link is on its way to it" in done
    assert NO_MAIL not in done


def test_messages_are_shown_once_and_where_they_belong(client: Client, ana: User) -> None:
    """That one is signed in is seen from the page; that one has signed out is said, once, where one is then."""
    ana.set_password("long-enough-93")
    ana.save()
    client.post("/accounts/login/", {"login": "ana", "password": "long-enough-93"})
    assert 'class="notice' not in client.get("/").content.decode()
    page = client.post("/accounts/logout/", follow=True)
    assert re.findall(r'<p class="notice[^>]*>([^<]*)</p>', page.content.decode()) == ["You have signed out."]
    assert 'class="notice' not in client.get("/accounts/login/").content.decode()


def test_whatever_else_is_told_is_told_on_the_page_too(page: Client) -> None:
    """A confirmed address, say, leads to the first page; kept unseen, it would come up much later."""
    storage = CookieStorage(RequestFactory().get("/"))
    sent = HttpResponse()
    storage.add(constants.SUCCESS, "You have confirmed <it>.")
    storage.update(sent)
    page.cookies["messages"] = sent.cookies["messages"].value
    text = page.get("/").content.decode()
    assert '<p class="notice column success" role="status">You have confirmed &lt;it&gt;.</p>' in text
    assert 'class="notice' not in page.get("/").content.decode()


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("/accounts/login/", "Entrar"),
        ("/accounts/signup/", "Cadastrar-se"),
        ("/accounts/password/reset/", "Uma nova senha"),
        ("/nowhere/", "Não há nada aqui"),
    ],
)
def test_no_page_mixes_languages(client: Client, db: None, path: str, title: str) -> None:
    """What Django, allauth and we say comes in the one language that the browser asks for; in French, which none of ours
    is, everything is English."""
    asked = client.get(path, headers={"Accept-Language": "pt-BR,pt;q=0.9"})
    text = asked.content.decode()
    assert (asked.headers["Content-Language"], f"<h1>{title}</h1>" in text) == ("pt-br", True)
    assert '<html lang="pt-br"' in text
    french = client.get(path, headers={"Accept-Language": "fr"})
    assert (french.headers["Content-Language"], '<html lang="en"' in french.content.decode()) == ("en", True)


def test_dates_are_in_the_language_of_the_page(page: Client, ana: User) -> None:
    """Days come from Unicode's tables, as in the browser; everything around them from us."""
    sent(ana)
    day = dt.datetime(2026, 2, 3, tzinfo=dt.UTC)
    Conversation.objects.update(updated=day)
    text = page.get("/", headers={"Accept-Language": "pt-BR"}).content.decode()
    assert ">3 de fev.</time>" in text
    assert "<h2>Antes</h2>" in text


def test_errors_of_a_form_stand_beside_its_fields(client: Client, db: None) -> None:
    """What is wrong is said where it is, and what was typed is kept."""
    response = client.post("/accounts/signup/", {"username": "ana", "password1": "abc", "password2": "abc"})
    text = response.content.decode()
    assert response.status_code == 200
    assert 'value="ana"' in text
    assert '<p class="error">' in text
    assert 'aria-invalid="true"' in text


def test_wrong_password_is_said_above_the_form(client: Client, db: None) -> None:
    """Without telling which of the two was wrong."""
    text = client.post("/accounts/login/", {"login": "ana", "password": "wrong"}).content.decode()
    assert '<div class="notice error" role="alert"><p class="error">' in text


def test_too_many_sign_ups_are_told_in_our_design(client: Client, db: None, settings: Settings) -> None:
    """By allauth's own limit, which an installation may set (`GYMNASIA_SIGNUP_RATE`)."""
    cache.clear()
    settings.ACCOUNT_RATE_LIMITS = {"signup": "1/m/ip"}
    form = {"username": "x", "password1": "y", "password2": "z"}
    assert client.post("/accounts/signup/", form).status_code == 200
    refused = client.post("/accounts/signup/", form)
    assert refused.status_code == 429
    assert "<h1>Too many tries</h1>" in refused.content.decode()
    cache.clear()


def test_a_form_in_another_alphabet_is_not_understood(client: Client, db: None) -> None:
    kind = "application/x-www-form-urlencoded; charset=utf-16"
    answer = client.post("/accounts/login/", b"login=a", content_type=kind)
    assert (answer.status_code, "<h1>" in answer.content.decode()) == (400, True)
