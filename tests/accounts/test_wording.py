"""What Django and allauth say on our pages is said as we say it: tú in Spanish, months in lower case, labels no titles."""

import datetime as dt
import re

import pytest
from allauth.account.forms import ChangePasswordForm, LoginForm
from django.contrib.auth.models import User
from django.template import Context, Template
from django.utils import translation
from django.utils.formats import date_format

from chat.accounts import wording
from chat.templatetags.account_page import label_of


@pytest.mark.django_db
def test_spanish_says_one_you() -> None:
    """A page that says tú and usted was written by two who did not talk to each other."""
    with translation.override("es"):
        forms = (LoginForm(), ChangePasswordForm(user=User(username="ana")))
        hints = [str(field.help_text) for form in forms for field in form.fields.values()]
        said = [*hints, *(translation.gettext(text) for text in wording.THEIRS[:-1])]
        assert "¿Olvidaste tu contraseña?" in hints[1]
        assert "al menos 8 caracteres" in " ".join(hints)
        assert [
            text for text in said if re.search(r"\b([Ss]us?|[Hh]a|[Ii]ntroduzca|[Uu]tilice)\b", text)
        ] == []


def test_months_are_written_as_the_language_writes_them() -> None:
    page = Template(
        '{% load i18n %}{% translate "F Y" context "a month of a year" as month %}{{ day|date:month }}'
    )
    day, told = dt.date(2026, 11, 30), {}
    for code in ("en", "es", "pt-br"):
        with translation.override(code):
            told[code] = (page.render(Context({"day": day})), date_format(day))
    assert told == {
        "en": ("November 2026", "Nov. 30, 2026"),
        "es": ("noviembre de 2026", "30 de noviembre de 2026"),
        "pt-br": ("novembro de 2026", "30 de novembro de 2026"),
    }


@pytest.mark.django_db
def test_labels_of_passwords_are_no_titles() -> None:
    form = ChangePasswordForm(user=User(username="ana"))
    names = [str(label_of(form[name])) for name in form.fields]
    assert names == ["Current password", "New password", "New password (again)"]
