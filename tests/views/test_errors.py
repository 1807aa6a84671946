"""Pages for what went wrong: in our design, without a way in, and in JSON for our script."""

from collections.abc import Callable

import pytest
from django.core.exceptions import BadRequest, PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory

from chat.views import errors

JSON = {"Accept": "application/json"}


def bad(request: HttpRequest) -> HttpResponse:
    return errors.bad_request(request, BadRequest())


def denied(request: HttpRequest) -> HttpResponse:
    return errors.permission_denied(request, PermissionDenied())


def missing(request: HttpRequest) -> HttpResponse:
    return errors.not_found(request, Exception())


CASES = [
    (bad, 400, "That request made no sense", "bad_request"),
    (denied, 403, "That is not for you", "forbidden"),
    (missing, 404, "There is nothing here", "not_found"),
    (errors.csrf_failure, 403, "This page was too old", "csrf"),
    (errors.server_error, 500, "Something broke on our side", "internal"),
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


def test_unknown_address(client: Client, db: None) -> None:
    """A visitor learns nothing about what exists: there is nothing there."""
    response = client.get("/nowhere/")
    assert response.status_code == 404
    assert "There is nothing here" in response.content.decode()


@pytest.mark.parametrize("path", ["/accounts/login/", "/accounts/signup/", "/accounts/password/reset/"])
def test_accounts_wear_our_design(client: Client, db: None, path: str) -> None:
    """allauth's pages stand on our sheet: labels above, no style or script of their own."""
    text = client.get(path).content.decode()
    assert '<main class="sheet"' in text
    assert "<label for=" in text
    assert "<style" not in text
    assert 'class="button primary"' in text


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
