"""Which language counts: what the person chose, else what the browser wishes."""

import pytest
from pytest_django import Settings

from chat import languages
from chat.models import Preferences
from gymnasia import words
from tests.rows import person


@pytest.fixture(autouse=True)
def all_offered(settings: Settings) -> None:
    settings.LANGUAGES = words.LANGUAGES


def test_a_choice_is_kept_for_the_person(db: None) -> None:
    ana, eva = person("ana"), person("eva")
    languages.remember(ana, "es")
    languages.remember(ana, "pt-br")
    assert [languages.remembered(who) for who in (ana, eva)] == ["pt-br", ""]
    assert Preferences.objects.count() == 1


def test_a_language_that_is_no_longer_offered_is_no_choice(db: None, settings: Settings) -> None:
    ana = person("ana")
    languages.remember(ana, "es")
    settings.LANGUAGES = [("en", "English")]
    assert languages.remembered(ana) == ""


@pytest.mark.parametrize(
    ("cookies", "wishes", "expected"),
    [
        ({}, b"", "en"),
        ({}, b"pt-PT,pt;q=0.9", "pt-br"),
        ({}, b"es-MX,en;q=0.5", "es"),
        ({}, b"ja,de;q=0.5", "en"),
        ({}, b"\xff\xfe;;;q=x", "en"),
        ({"django_language": "es"}, b"pt-BR", "es"),
        ({"django_language": "klingon"}, b"pt-BR", "pt-br"),
    ],
)
def test_a_socket_reads_as_its_page_does(cookies: dict[str, str], wishes: bytes, expected: str) -> None:
    assert languages.of_scope({"cookies": cookies, "headers": [(b"accept-language", wishes)]}) == expected
    assert languages.of_scope({}) == "en"
