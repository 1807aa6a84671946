"""The chooser of light and dark: it works for everybody, is on the page's root, and takes no other word."""

import pytest
from django.test import Client


def root(page: str) -> str:
    """The page's first element."""
    return page[page.index("<html") : page.index(">", page.index("<html")) + 1]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_visitor_chooses_and_goes_back(client: Client, db: None, theme: str) -> None:
    answer = client.post("/theme/", {"theme": theme, "next": "/accounts/login/"})
    assert (answer.status_code, answer["Location"]) == (303, "/accounts/login/")
    page = client.get("/accounts/login/").content.decode()
    assert root(page) == f'<html lang="en" data-theme="{theme}">'
    assert f'value="{theme}"' in page
    assert page.count('aria-pressed="true"') == 1


def test_like_the_system_forgets_the_choice(page: Client) -> None:
    page.post("/theme/", {"theme": "dark", "next": "/"})
    page.post("/theme/", {"theme": "system", "next": "/"})
    assert root(page.get("/").content.decode()) == '<html lang="en">'


@pytest.mark.parametrize("word", ["", "blue", '"><b>'])
def test_another_word_changes_nothing(page: Client, word: str) -> None:
    answer = page.post("/theme/", {"theme": word, "next": "/"})
    assert (answer.status_code, dict(answer.cookies)) == (303, {})


def test_a_cookie_that_somebody_else_wrote_is_no_markup(page: Client) -> None:
    page.cookies["theme"] = '"><script>'
    assert root(page.get("/").content.decode()) == '<html lang="en">'


@pytest.mark.parametrize("elsewhere", ["https://evil.example/", "//evil.example", ""])
def test_it_leads_to_no_other_site(client: Client, db: None, elsewhere: str) -> None:
    assert client.post("/theme/", {"theme": "dark", "next": elsewhere})["Location"] == "/"


def test_the_script_asks_without_a_new_page(page: Client) -> None:
    answer = page.post("/theme/", {"theme": "dark"}, headers={"Accept": "application/json"})
    assert (answer.status_code, answer.cookies["theme"].value) == (204, "dark")
