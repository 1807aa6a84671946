"""The composer keeps what was typed and shows the model that will be asked."""

import pytest
from django.contrib.auth.models import User
from django.test import RequestFactory

from chat.models import Conversation
from chat.views.composer import compose, sent_again
from tests.rows import sent


@pytest.fixture
def owned(ana: User) -> Conversation:
    conversation = sent(ana).conversation
    assert conversation is not None
    return conversation


@pytest.mark.parametrize(
    ("last", "model", "chosen"),
    [
        ("scripted-1", "", "scripted:scripted-1"),
        ("scripted:2", "", "scripted:scripted:2"),
        ("scripted:2", "scripted:scripted-1", "scripted:scripted-1"),
        ("gone", "", "scripted:scripted-1"),
        ("gone", "nowhere:x", "scripted:scripted-1"),
    ],
)
def test_chosen_model(owned: Conversation, last: str, model: str, chosen: str) -> None:
    """What the person just chose, else what the conversation asked last, else the default; never what is not there."""
    owned.model = last
    composer = compose(owned, model=model)
    assert (composer.action, composer.chosen) == (f"/conversations/{owned.pk}/", chosen)


def test_new_conversation() -> None:
    """It is sent to the first page, which makes it."""
    composer = compose(None)
    assert (composer.action, composer.chosen, composer.text) == ("/", "scripted:scripted-1", "")


def test_text_is_kept() -> None:
    """All of it, but for the NUL characters, which no page can show."""
    request = RequestFactory().post("/", {"text": " a\x00\r\nb ", "model": "scripted:scripted:2"})
    composer = sent_again(request, None, "Too long.")
    assert (composer.text, composer.chosen, composer.error) == (
        " a\r\nb ",
        "scripted:scripted:2",
        "Too long.",
    )
