"""The chooser: it works for everybody, goes back where it was, and takes no other word."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from chat import languages
from gymnasia import words


@pytest.fixture(autouse=True)
def all_offered(settings: Settings) -> None:
    settings.LANGUAGES = words.LANGUAGES


def test_a_visitor_chooses_on_the_sign_in_page(client: Client, db: None) -> None:
    page = client.get("/accounts/login/?next=/x/").content.decode()
    assert '<button class="link" type="submit" name="language" value="es" lang="es">Español</button>' in page
    assert '<input type="hidden" name="next" value="/accounts/login/?next=/x/">' in page
    answer = client.post("/language/", {"language": "es", "next": "/accounts/login/?next=/x/"})
    assert (answer.status_code, answer["Location"]) == (303, "/accounts/login/?next=/x/")
    assert '<html lang="es">' in client.get("/accounts/login/").content.decode()


def test_the_menu_has_it_too_and_the_person_keeps_the_choice(page: Client, ana: User) -> None:
    assert 'value="pt-br" lang="pt-br"' in page.get("/").content.decode()
    page.post("/language/", {"language": "pt-br", "next": "/"})
    assert languages.remembered(ana) == "pt-br"
    assert '<html lang="pt-br">' in page.get("/").content.decode()


@pytest.mark.parametrize("word", ["", "xx", "../en", "pt_BR"])
def test_a_language_that_there_is_not_changes_nothing(page: Client, ana: User, word: str) -> None:
    answer = page.post("/language/", {"language": word, "next": "/"})
    assert (answer.status_code, answer.cookies.get("django_language")) == (303, None)
    assert languages.remembered(ana) == ""


@pytest.mark.parametrize("elsewhere", ["https://evil.example/", "//evil.example", "", "javascript:alert(1)"])
def test_it_leads_to_no_other_site(client: Client, db: None, elsewhere: str) -> None:
    assert client.post("/language/", {"language": "es", "next": elsewhere})["Location"] == "/"


def test_the_script_asks_without_a_new_page(page: Client) -> None:
    answer = page.post("/language/", {"language": "es"}, headers={"Accept": "application/json"})
    assert (answer.status_code, answer.cookies["django_language"].value) == (204, "es")


def test_where_there_is_one_language_there_is_nothing_to_choose(page: Client, settings: Settings) -> None:
    settings.LANGUAGES = words.LANGUAGES[:1]
    assert 'name="language"' not in page.get("/").content.decode()
