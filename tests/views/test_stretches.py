"""A long conversation is opened at its end, and walked by links: whole turns, its owner's alone, at a bounded cost."""

import re
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from chat import branches, exporting, generations
from chat.models import Conversation, Generation, Message
from tests.rows import ended, fresh, long_conversation, reading, sent

TURNS = 1000
FRAGMENT = {"X-Fragment": "1"}


@pytest.fixture
def long(ana: User) -> Conversation:
    """Sixty turns: a page has twenty-five."""
    return long_conversation(ana, 60)


def asked(text: str) -> list[int]:
    """The questions on a page, by number."""
    return [int(number) for number in re.findall(r'<div class="question">Question (\d+)\?', text)]


def links(text: str) -> dict[str, str]:
    """Where the links to earlier and later messages lead."""
    return dict(
        re.findall(r'<nav id="(\w+)" class="stretch column"[^>]*><a class="link" href="([^"]+)"', text)
    )


def question(number: int) -> Message:
    return Message.objects.get(text=f"Question {number}?")


def test_a_conversation_opens_at_its_end_and_is_walked_back_and_forth(
    page: Client, long: Conversation
) -> None:
    """Without a script every link is a plain GET; the link back leads to the turn that stands before."""
    url = f"/conversations/{long.pk}/"
    text = page.get(url).content.decode()
    assert asked(text) == list(range(36, 61))
    assert text.count("data-last>") == 1
    assert links(text) == {"earlier": f"?before={question(36).pk}#m-{question(35).pk}"}
    text = page.get(url + links(text)["earlier"]).content.decode()
    assert asked(text) == list(range(11, 36))
    assert "data-last" not in text
    text = page.get(url + links(text)["earlier"]).content.decode()
    assert asked(text) == list(range(1, 11))
    assert links(text) == {"later": f"?after={question(10).pk}"}
    text = page.get(url + links(text)["later"]).content.decode()
    assert asked(text) == list(range(11, 36))
    assert set(links(text)) == {"earlier", "later"}
    assert asked(page.get(f"{url}?all").content.decode()) == list(range(1, 61))
    assert links(page.get(f"{url}?all").content.decode()) == {}


def test_a_link_to_an_old_message_opens_the_page_around_it(page: Client, long: Conversation) -> None:
    """What a search finds, an answer too; one that stands on the page anyway has the plain address."""
    url = f"/conversations/{long.pk}/"
    old = question(20).children.get()
    place = page.get(f"/messages/{old.pk}/").headers["Location"]
    assert place == f"{url}?at={old.pk}#m-{old.pk}"
    text = page.get(place).content.decode()
    assert asked(text) == list(range(8, 33))
    assert f'id="m-{old.pk}"' in text
    new = question(50)
    assert page.get(f"/messages/{new.pk}/").headers["Location"] == f"{url}#m-{new.pk}"


def test_an_old_version_is_gone_to_where_it_stands(page: Client, ana: User, long: Conversation) -> None:
    """Switched without a script, the person is led to the turn in which they pressed."""
    old = question(20)
    ended(branches.edit_question(old, user=ana, text="Question 20 again?"), reading())
    place = page.post(f"/messages/{old.pk}/switch/").headers["Location"]
    assert place == f"/conversations/{long.pk}/?at={old.pk}#m-{old.pk}"
    assert "</span> 1 / 2</span>" in page.get(place).content.decode()


def test_the_script_gets_the_turns_alone(page: Client, long: Conversation) -> None:
    """The same template as the page's: what is put in is what a page would have had, in no cache."""
    url = f"/conversations/{long.pk}/?before={question(36).pk}"
    response = page.get(url, headers=FRAGMENT)
    text = response.content.decode().strip()
    assert asked(text) == list(range(11, 36))
    assert "<textarea" not in text
    assert text in page.get(url).content.decode()
    assert "no-store" in response.headers["Cache-Control"]


@pytest.mark.parametrize("how", ["after", "at", "from"])
def test_a_place_that_is_not_on_the_branch(page: Client, ana: User, long: Conversation, how: str) -> None:
    """The script is told that there is no such place; a page shows the end; nothing that was sent in breaks it."""
    elsewhere = sent(ana, "Elsewhere?").parent
    assert elsewhere is not None
    url = f"/conversations/{long.pk}/?{how}="
    assert page.get(f"{url}{elsewhere.pk}", headers=FRAGMENT).status_code == 204
    for key in (elsewhere.pk, uuid4(), "x", "\x00", "1" * 300):
        assert asked(page.get(url + str(key)).content.decode()) == list(range(36, 61))


def test_a_page_that_shows_more_is_given_as_much_again(page: Client, long: Conversation) -> None:
    """After a switch: from where the page began to the end, so that nothing the reader had loaded goes."""
    url = f"/conversations/{long.pk}/?from="
    text = page.get(f"{url}{question(10).pk}", headers=FRAGMENT).content.decode()
    assert asked(text) == list(range(11, 61))
    assert links(text) == {"earlier": f"?before={question(11).pk}#m-{question(10).pk}"}
    assert asked(page.get(url, headers=FRAGMENT).content.decode()) == list(range(1, 61))


@pytest.mark.parametrize("headers", [{}, FRAGMENT])
def test_nobody_else_walks_it(stranger: Client, long: Conversation, headers: dict[str, str]) -> None:
    for query in ("", f"?before={question(36).pk}", f"?at={question(3).pk}", "?all", "?from="):
        assert stranger.get(f"/conversations/{long.pk}/{query}", headers=headers).status_code == 404


def test_two_thousand_messages_take_no_more_queries_than_two(
    page: Client, ana: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    """The page, a step back, the page around an old message, and one turn for the script."""
    short = ended(sent(ana), reading()).conversation_id
    owned = long_conversation(ana, TURNS)
    page.get(f"/conversations/{short}/")
    url = f"/conversations/{owned.pk}/"
    with django_assert_num_queries(13):
        page.get(f"/conversations/{short}/")
    with django_assert_num_queries(13):
        text = page.get(url).content.decode()
    assert asked(text) == list(range(TURNS - 24, TURNS + 1))
    back = f"{url}?before={question(TURNS - 24).pk}"
    with django_assert_num_queries(9):
        page.get(back, headers=FRAGMENT)
    around = f"{url}?at={question(500).pk}"
    with django_assert_num_queries(13):
        page.get(around)
    last = Generation.objects.filter(conversation=owned).latest("number")
    with django_assert_num_queries(8):
        page.get(f"/generations/{last.pk}/turn/")
    with django_assert_num_queries(4):
        exporting.as_markdown(owned, ending=str, model=str)
    with django_assert_num_queries(3):
        exporting.document(owned)


def test_an_old_question_is_asked_again_from_its_own_page(
    page: Client, ana: User, long: Conversation
) -> None:
    """The branch ends there then: the script's turn says so, and what followed is another branch."""
    old = question(20)
    row = Generation.objects.get(parent=old)
    again = generations.retry(row, user=ana)
    text = page.get(f"/generations/{again.pk}/turn/").content.decode()
    assert (asked(text), "data-last" in text) == ([20], True)
    assert asked(page.get(f"/conversations/{long.pk}/").content.decode()) == list(range(1, 21))
    assert fresh(again).conversation == long
