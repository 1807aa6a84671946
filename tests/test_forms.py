"""What a person sends is cleaned once, and every fault is one sentence."""

import pytest
from django.http import QueryDict

from chat.forms import PLAN_OF_NOTHING, AskForm, TitleForm

MODELS = ["a:one", "b:two"]


def form(text: str = "Hello", *, models: list[str] = MODELS, fallback: str = "a:one", **more: str) -> AskForm:
    data = QueryDict(mutable=True)
    data.update({"text": text, **more})
    return AskForm(data, max_chars=10, models=models, fallback=fallback)


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("Hello", "Hello"),
        ("  a\r\nb\rc \n", "a\nb\nc"),
        ("a\r\n" * 3 + "bbbb", "a\na\na\nbbbb"),
        ("👩‍👩‍👧 ok", "👩‍👩‍👧 ok"),
    ],
)
def test_text(text: str, clean: str) -> None:
    """One kind of line end, counted once; no blank edges."""
    asked = form(text)
    assert asked.is_valid()
    unsaid = {"preset": None, "temperature": None, "max_tokens": None}
    assert asked.cleaned_data == {"text": clean, "model": "a:one", **unsaid}
    assert (asked.tuning, asked.files_taken) == (None, [])


@pytest.mark.parametrize(
    ("asked", "errors"),
    [
        (form(""), {"text": ["Write something first."]}),
        (form(" \n "), {"text": ["Write something first."]}),
        (form("", flow="plan"), {"text": [PLAN_OF_NOTHING]}),
        (form(" ", flow="plan"), {"text": [PLAN_OF_NOTHING]}),
        (form("a" * 11), {"text": ["This is 1 character over the limit of 10. Shorten it a little."]}),
        (form("a" * 15), {"text": ["This is 5 characters over the limit of 10. Shorten it a little."]}),
        (
            form("a\x00"),
            {"text": ["There is a NUL character in this text, which cannot be kept. Take it out first."]},
        ),
        (form(model="c:three"), {"model": ["This model cannot be asked at the moment. Choose another one."]}),
        (form(models=[], fallback=""), {"model": ["No model can be asked at the moment."]}),
    ],
)
def test_faults(asked: AskForm, errors: dict[str, list[str]]) -> None:
    """Exactly one sentence per fault, in words that say what to do."""
    assert asked.errors == errors


def test_model() -> None:
    """The one that was chosen, or the conversation's."""
    chosen = form(model="b:two")
    assert chosen.is_valid()
    assert chosen.cleaned_data["model"] == "b:two"


def test_title() -> None:
    """A name has at least one letter."""
    assert TitleForm({"title": " "}).errors == {"title": ["A name needs a letter."]}
    assert TitleForm({"title": "Rests"}).is_valid()
