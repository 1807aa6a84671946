"""The search page shows a person's own messages, escaped, and leads to where they stand."""

import io
import json
import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from chat import branches, conversations
from chat.importing import container
from chat.importing.keeping import keep
from chat.importing.shape import Talk
from chat.models import Message
from tests.importing.files import plain
from tests.rows import ended, reading, sent


@pytest.fixture
def talk(ana: User) -> list[Message]:
    ended(sent(ana, "How long is a <b>rest</b>?"), reading("Two minutes of rest."))
    return list(Message.objects.order_by("created"))


def test_hits_are_marked_and_escaped(page: Client, talk: list[Message]) -> None:
    text = page.get("/search/?q=rest").content.decode()
    assert "How long is a &lt;b&gt;<mark>rest</mark>&lt;/b&gt;?" in text
    for message in talk:
        assert f'href="/messages/{message.pk}/"' in text
    assert 'value="rest"' in text
    assert "<html" in text


def test_the_list_alone_for_the_dialog(page: Client, talk: list[Message]) -> None:
    text = page.get("/search/?q=minutes", headers={"X-Fragment": "1"}).content.decode()
    assert (text.count('class="hit"'), "<html" in text) == (1, False)


@pytest.mark.parametrize("query", ["", "a" * 10_000, "\x00", '"><script>', "%", "page=x"])
def test_any_query_is_answered(page: Client, talk: list[Message], query: str) -> None:
    response = page.get("/search/", {"q": query, "page": query})
    assert response.status_code == 200
    assert "<script>" not in response.content.decode()


def test_names_stand_before_messages_and_lead_to_the_conversation(page: Client, talk: list[Message]) -> None:
    conversation = talk[0].conversation
    conversations.rename(conversation, "Pauses <i> between")
    text = page.get("/search/?q=pauses").content.decode()
    (link,) = re.findall(rf'href="/conversations/{conversation.pk}/"><span class="from">(.*?)</a>', text)
    assert '<span class="title" dir="auto"><mark>Pauses</mark> &lt;i&gt; between</span>' in link
    assert "No message has these words" in text
    text = page.get("/search/?q=between&page=2").content.decode()
    assert "<mark>between</mark>" not in text
    assert "Go back to" in page.get("/search/", headers={"X-Fragment": "1"}).content.decode()


def test_pages(page: Client, ana: User) -> None:
    for number in range(22):
        sent(ana, f"heron {number}")
    first, second = (page.get(f"/search/?q=heron&page={n}").content.decode() for n in (1, 2))
    assert (first.count("data-message"), second.count("data-message")) == (20, 2)
    assert ("/search/?q=heron&amp;page=2" in first, "page=3" in second) == (True, False)


def test_a_hit_leads_to_its_place(page: Client, stranger: Client, talk: list[Message]) -> None:
    for message in talk:
        response = page.get(f"/messages/{message.pk}/")
        place = f"/conversations/{message.conversation_id}/#m-{message.pk}"
        assert (response.status_code, response.headers["Location"]) == (303, place)
        assert f'id="m-{message.pk}"' in page.get(place).content.decode()
        assert stranger.get(f"/messages/{message.pk}/").status_code == 404
    assert "rest" not in stranger.get("/search/?q=minutes").content.decode().split("<main")[1].replace(
        "interest", ""
    )


def test_every_message_has_its_place(page: Client, ana: User, talk: list[Message]) -> None:
    """Also one that a person edited, and one that came from elsewhere: no generation of ours stands behind them."""
    mine = branches.edit_reply("A rest of mine.", message=talk[-1])
    (brought,) = container.read(
        io.BytesIO(json.dumps(plain()).encode()), most_bytes=9_000, now=timezone.now()
    )
    assert isinstance(brought, Talk)
    keep(ana, brought)
    imported = Message.objects.get(conversation__source="chatgpt:c-1", kind="answer")
    for message in (mine, imported):
        place = page.get(f"/messages/{message.pk}/").headers["Location"]
        assert page.get(place).content.decode().count(f'id="m-{message.pk}"') == 1


def test_a_hit_on_another_branch_says_so_and_moves_nothing_until_asked(
    page: Client, stranger: Client, talk: list[Message]
) -> None:
    _question, answer = talk
    conversation = answer.conversation
    branches.edit_reply("Rest as you like.", message=answer)
    url = f"/messages/{answer.pk}/"
    shown = page.get(url)
    assert (shown.status_code, "Show that branch" in shown.content.decode()) == (200, True)
    conversation.refresh_from_db()
    assert conversation.head_id != answer.pk
    assert stranger.post(url).status_code == 404
    place = f"/conversations/{conversation.pk}/#m-{answer.pk}"
    assert page.post(url, headers={"Accept": "application/json"}).json() == {"url": place}
    assert page.post(url).headers["Location"] == place
    conversation.refresh_from_db()
    assert conversation.head_id == answer.pk


def test_signed_out_nobody_searches(db: None) -> None:
    assert Client().get("/search/?q=x").status_code == 302
