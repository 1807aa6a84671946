"""Conversations are renamed and deleted on pages of their own, by their owner alone."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from chat.models import Conversation, Generation, Message
from tests.rows import opened, sent

JSON = {"Accept": "application/json"}


@pytest.fixture
def owned(ana: User) -> Conversation:
    conversation = opened(sent(ana)).generation.conversation
    assert conversation is not None
    return conversation


def test_rename(page: Client, owned: Conversation) -> None:
    """The form shows the title; the new one is kept with its blanks in order."""
    url = f"/conversations/{owned.pk}/rename/"
    assert 'value="How long?"' in page.get(url).content.decode()
    response = page.post(url, {"title": "  Rests   and pauses "})
    assert (response.status_code, response.headers["Location"]) == (303, f"/conversations/{owned.pk}/")
    assert Conversation.objects.get().title == "Rests and pauses"
    assert page.post(url, {"title": "Again"}, headers=JSON).json() == {"url": f"/conversations/{owned.pk}/"}


@pytest.mark.parametrize(
    ("title", "said"), [("  ", "A name needs a letter."), ("a" * 121, "at most 120 characters")]
)
def test_no_name_is_refused(page: Client, owned: Conversation, title: str, said: str) -> None:
    """Said beside the field; the old name stays."""
    response = page.post(f"/conversations/{owned.pk}/rename/", {"title": title})
    assert response.status_code == 400
    assert said in response.content.decode()
    answer = page.post(f"/conversations/{owned.pk}/rename/", {"title": title}, headers=JSON)
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid")
    assert Conversation.objects.get().title == "How long?"


def test_delete_asks_first(page: Client, owned: Conversation) -> None:
    """GET is a question, and its first answer is the safe one."""
    text = page.get(f"/conversations/{owned.pk}/delete/").content.decode()
    assert text.index("Keep it") < text.index("Delete</button>")
    assert Conversation.objects.count() == 1


def test_delete(page: Client, owned: Conversation) -> None:
    """The conversation goes with its messages; a reply that was being written is stopped."""
    response = page.post(f"/conversations/{owned.pk}/delete/")
    assert (response.status_code, response.headers["Location"]) == (303, "/")
    assert (Conversation.objects.count(), Message.objects.count()) == (0, 0)
    generation = Generation.objects.get()
    assert (generation.state, generation.reason) == ("cancelled", "deleted")
    assert page.get(f"/conversations/{owned.pk}/").status_code == 404


@pytest.mark.parametrize("verb", ["rename", "delete"])
def test_stranger_finds_nothing(stranger: Client, owned: Conversation, verb: str) -> None:
    """Nobody, staff included, sees or changes what is not theirs."""
    url = f"/conversations/{owned.pk}/{verb}/"
    assert stranger.get(url).status_code == 404
    assert stranger.post(url, {"title": "Mine"}).status_code == 404
    assert Conversation.objects.get().title == "How long?"
