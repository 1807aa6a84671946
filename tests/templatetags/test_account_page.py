"""What allauth's forms wear on our sheet."""

import pytest
from allauth.account.forms import LoginForm, SignupForm
from django.forms import Form
from pytest_django import Settings

from chat.templatetags.account_page import browser, first_to_write, label_of, sends_mail, widget_of


def labels(form: Form) -> list[str]:
    return [str(label_of(field)) for field in form.visible_fields()]


def test_one_word_for_one_thing() -> None:
    """The name that one signs up with is the name that one signs in with."""
    assert labels(LoginForm()) == ["Username or e-mail", "Password", "Remember me"]
    assert labels(SignupForm()) == ["Username", "E-mail (optional)", "Password", "Password (again)"]
    assert labels(SignupForm(email_required=True))[1] == "E-mail"


def test_line_to_sign_in_with() -> None:
    """Browsers fill it in as what they have kept; the label above it needs no echo."""
    widget = widget_of(LoginForm()["login"], focus=True)
    assert 'autocomplete="username"' in widget
    assert " autofocus" in widget
    assert "placeholder" not in widget
    assert " autofocus" not in widget_of(LoginForm()["login"], focus=False)


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (None, "username"),
        ({"username": "ana", "email": "no"}, "email"),
        ({"email": "a@b.example"}, "username"),
    ],
)
def test_cursor_stands_where_something_is_to_be_written(
    db: None, data: dict[str, str] | None, name: str
) -> None:
    """After an error that is the first field that has one."""
    first = first_to_write(SignupForm(data))
    assert first is not None
    assert first.name == name
    assert first_to_write(Form()) is None


def test_mail(settings: Settings) -> None:
    """Without a word in the settings none is sent."""
    settings.SENDS_MAIL = True
    assert sends_mail() is True
    del settings.SENDS_MAIL
    assert sends_mail() is False


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox, Linux"),
        (
            "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/140.0 Safari/537.36 Edg/140.0",
            "Edge, Windows",
        ),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1",
            "Safari, iPhone",
        ),
        (
            "Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 Chrome/140.0 Mobile Safari/537.36",
            "Chrome, Android",
        ),
        ("curl/8.0", "An unknown browser"),
        ("", "An unknown browser"),
    ],
)
def test_a_browser_in_words_that_its_person_knows(agent: str, words: str) -> None:
    assert browser(agent) == words
