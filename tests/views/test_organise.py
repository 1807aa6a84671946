"""Conversations are renamed and deleted on pages of their own, by their owner alone."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from chat import conversations, retention
from chat.models import Conversation, Generation
from chat.views import organise
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
    text = page.get(f"/conversations/{owned.pk}/delete/").content.decode().split("<main")[1]
    assert text.index("Keep it") < text.index("Delete</button>")
    assert Conversation.objects.count() == 1


def test_delete(page: Client, owned: Conversation) -> None:
    """It is gone for every page at once, its reply is stopped; the page that follows offers the way back."""
    url = f"/conversations/{owned.pk}/"
    response = page.post(f"{url}delete/", headers={"Referer": f"http://testserver{url}"})
    assert (response.status_code, response.headers["Location"]) == (303, f"/?deleted={owned.pk}")
    generation = Generation.objects.get()
    assert (generation.state, generation.reason) == ("cancelled", "deleted")
    assert page.get(url).status_code == 404
    assert page.get(f"/generations/{generation.pk}/turn/").status_code == 404
    text = page.get(f"/?deleted={owned.pk}").content.decode()
    assert f'formaction="{url}restore/"' in text
    assert f'href="{url}"' not in text
    response = page.post(f"{url}restore/")
    assert (response.status_code, response.headers["Location"]) == (303, url)
    assert page.get(url).status_code == 200
    assert "restore" not in page.get(f"/?deleted={owned.pk}").content.decode()


@pytest.mark.parametrize("verb", ["delete", "restore"])
def test_the_second_of_two_clicks_is_answered_as_the_first(
    page: Client, owned: Conversation, verb: str
) -> None:
    """It is done, and no page says that there is nothing here."""
    url = f"/conversations/{owned.pk}/"
    page.post(f"{url}delete/")
    first, second = (page.post(f"{url}{verb}/") for _ in range(2))
    there = url if verb == "restore" else f"/?deleted={owned.pk}"
    assert [first.headers["Location"], second.headers["Location"]] == [there, there]
    assert page.get(url).status_code == (200 if verb == "restore" else 404)


def test_delete_for_the_script(page: Client, owned: Conversation) -> None:
    answer = page.post(f"/conversations/{owned.pk}/delete/", headers=JSON).json()
    undo = f"/conversations/{owned.pk}/restore/"
    assert answer == {"url": "/", "undo": undo, "message": "“How long?” was deleted."}
    assert page.post(undo, headers=JSON).json() == {"url": f"/conversations/{owned.pk}/"}


@pytest.mark.parametrize("word", ["", "x", "00000000-0000-0000-0000-000000000000"])
def test_nothing_is_offered_that_was_not_deleted(page: Client, owned: Conversation, word: str) -> None:
    """The address of a page can say anything."""
    assert "restore" not in page.get(f"/?deleted={word or owned.pk}").content.decode()


def test_after_its_window_it_cannot_be_brought_back(page: Client, owned: Conversation) -> None:
    page.post(f"/conversations/{owned.pk}/delete/")
    Conversation.objects.update(deleted=timezone.now() - retention.window() - timedelta(seconds=1))
    assert page.post(f"/conversations/{owned.pk}/restore/").status_code == 404


def test_pin_and_archive(page: Client, owned: Conversation) -> None:
    """Pinned at the top, archived in a list of its own; one ends the other."""

    def marks() -> tuple[bool, bool]:
        owned.refresh_from_db()
        return owned.pinned is not None, owned.archived is not None

    url = f"/conversations/{owned.pk}/"
    before = owned.updated
    assert page.post(f"{url}pin/", headers=JSON).json() == {"url": url}
    assert marks() == (True, False)
    assert "<h2>Pinned</h2>" in page.get("/").content.decode()
    response = page.post(f"{url}archive/", headers={"Referer": "http://testserver/search/?q=a&deleted=b"})
    assert (response.status_code, response.headers["Location"]) == (
        303,
        f"/search/?q=a&put_away={owned.pk}",
    )
    assert marks() == (False, True)
    html = page.get(f"{url}?put_away={owned.pk}").content.decode()
    assert ("“How long?” was archived." in html, html.count(f'formaction="{url}unarchive/"')) == (True, 2)
    told = {"url": url, "undo": f"{url}unarchive/", "message": "“How long?” was archived."}
    assert page.post(f"{url}archive/", headers=JSON).json() == told
    assert f'href="{url}"' not in page.get("/").content.decode()
    assert f'href="{url}"' not in page.get("/conversations/").content.decode()
    assert f'href="{url}"' in page.get("/conversations/?archived").content.decode()
    page.post(f"{url}unarchive/")
    page.post(f"{url}pin/")
    page.post(f"{url}unpin/")
    assert marks() == (False, False)
    assert owned.updated == before


@pytest.mark.parametrize("came_from", ["https://evil.invalid/x", "http://[", "http://testserver:x/", "\xff"])
def test_no_button_sends_a_person_elsewhere(page: Client, owned: Conversation, came_from: str) -> None:
    """Where they came from is only believed if it is here."""
    url = f"/conversations/{owned.pk}/"
    response = page.post(f"{url}pin/", headers={"Referer": came_from})
    assert response.headers["Location"] == url


def test_the_list_of_all_of_them(page: Client, ana: User) -> None:
    """A page at a time; what was deleted a moment ago stands above with its way back."""
    rows = [
        Conversation(user=ana, title=f"Talk {n:03}", endpoint="x", model="x")
        for n in range(organise.PAGE + 3)
    ]
    Conversation.objects.bulk_create(rows)
    gone = rows[0]
    page.post(f"/conversations/{gone.pk}/delete/")
    texts = [page.get(f"/conversations/?page={number}").content.decode() for number in (1, 2)]
    lists = [text[text.index("<main") :] for text in texts]
    titles = [title for text in lists for title in re.findall(r'class="title" href.*?>(Talk \d+)<', text)]
    assert sorted(titles) == sorted(row.title for row in rows[1:])
    assert lists[0].count("restore/") == 1
    assert ("?page=2" in lists[0], "?page=1" in lists[1], "?page=3" in lists[1]) == (True, True, False)


@pytest.mark.parametrize("number", ["0", "-1", "x", "٣", "9" * 30, ""])
def test_a_page_that_is_none_is_the_first_or_empty(page: Client, owned: Conversation, number: str) -> None:
    assert page.get(f"/conversations/?page={number}").status_code == 200


def test_the_contents_alone(page: Client, stranger: Client, owned: Conversation) -> None:
    """What the script takes anew; of a stranger's conversation it knows nothing."""
    text = page.get(f"/contents/?current={owned.pk}").content.decode()
    assert f'href="/conversations/{owned.pk}/" aria-current="page"' in text
    assert f"/conversations/{owned.pk}" not in stranger.get(f"/contents/?current={owned.pk}").content.decode()
    assert page.get("/contents/?current=x").status_code == 200


@pytest.mark.parametrize("verb", ["rename", "delete"])
def test_stranger_finds_nothing(stranger: Client, owned: Conversation, verb: str) -> None:
    """Nobody, staff included, sees or changes what is not theirs."""
    url = f"/conversations/{owned.pk}/{verb}/"
    assert stranger.get(url).status_code == 404
    assert stranger.post(url, {"title": "Mine"}).status_code == 404
    assert Conversation.objects.get().title == "How long?"


@pytest.mark.parametrize("verb", ["pin", "unpin", "archive", "unarchive", "restore"])
def test_stranger_changes_nothing(page: Client, stranger: Client, owned: Conversation, verb: str) -> None:
    if verb == "restore":
        page.post(f"/conversations/{owned.pk}/delete/")
    url = f"/conversations/{owned.pk}/{verb}/"
    assert (stranger.post(url).status_code, page.get(url).status_code) == (404, 405)
    assert Conversation.objects.filter(pinned=None, archived=None).count() == 1


def test_what_is_pinned_stands_first_in_the_list_of_all(page: Client, ana: User) -> None:
    for text in ("Ants?", "Bees?", "Cats?"):
        sent(ana, text)
    conversations.pin(Conversation.objects.get(title="Ants?"), on=True)
    text = page.get("/conversations/").content.decode().split("<main")[1]
    places = [text.index(word) for word in ("Pinned", "Ants?", "Other conversations", "Cats?", "Bees?")]
    assert places == sorted(places)


def test_where_a_conversation_stands(page: Client, client: Client, owned: Conversation) -> None:
    """For a page that may show another branch than the one that another tab went to; nobody else's business."""
    url = f"/conversations/{owned.pk}/standing/"
    response = page.get(url)
    assert response.json() == {"stands": True, "head": str(owned.head_id)}
    assert "no-store" in response.headers["Cache-Control"]
    client.force_login(User.objects.create_user("other"))
    assert client.get(url).json() == {"stands": False, "head": ""}
    page.post(f"/conversations/{owned.pk}/delete/")
    assert page.get(url).json() == {"stands": False, "head": ""}
