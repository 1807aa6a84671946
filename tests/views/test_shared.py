"""A shared link is read without signing in, and by nobody once it is revoked or its conversation is gone."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from chat import sharing
from chat.models import Conversation, SharedLink
from tests.rows import conversation_of, ended, long_conversation, reading, sent

JSON = {"Accept": "application/json"}


@pytest.fixture
def owned(ana: User) -> Conversation:
    answer = reading("**Two** minutes.", reasoning_parts=["Secret thought"])
    return conversation_of(ended(sent(ana, "How <long>?"), answer))


@pytest.fixture
def link(page: Client, owned: Conversation) -> SharedLink:
    response = page.post(f"/conversations/{owned.pk}/share/")
    assert (response.status_code, response.headers["Location"]) == (303, f"/conversations/{owned.pk}/share/")
    return SharedLink.objects.get()


def test_everybody_reads_it_and_nothing_else(page: Client, link: SharedLink) -> None:
    """No reasoning, no name, no cookie; kept by no cache, found by no search engine. Its owner sees the same."""
    response = Client().get(f"/s/{link.token}/")
    text = response.content.decode()
    assert response.status_code == 200
    assert "How &lt;long&gt;?" in text
    assert "<strong>Two</strong> minutes." in text
    for absent in ("Secret", "ana", "csrf", "<form", "<script", "conversations/"):
        assert absent not in text.replace("unavailable", ""), absent
    assert {
        name: response.headers[name] for name in ("Cache-Control", "X-Robots-Tag", "Referrer-Policy")
    } == {
        "Cache-Control": "private, no-store",
        "X-Robots-Tag": "noindex, nofollow, noarchive",
        "Referrer-Policy": "no-referrer",
    }
    assert not response.cookies
    assert page.get(f"/s/{link.token}/").content.decode() == text


def test_an_empty_conversation_has_nothing_to_share(page: Client, ana: User) -> None:
    url = f"/conversations/{conversation_of(sent(ana)).pk}/share/"
    response = page.post(url)
    assert (response.status_code, "no answer yet" in response.content.decode()) == (409, True)
    assert page.post(url, headers=JSON).json()["error"] == "rejected"


def test_the_owner_sees_and_revokes_the_links(page: Client, owned: Conversation, link: SharedLink) -> None:
    address = f"http://testserver/s/{link.token}/"
    for path in (f"/conversations/{owned.pk}/share/", "/shared/"):
        assert address in page.get(path).content.decode()
    response = page.post(f"/shared/{link.pk}/revoke/")
    assert (response.status_code, response.headers["Location"]) == (303, "/shared/")
    assert Client().get(f"/s/{link.token}/").status_code == 404
    assert address not in page.get("/shared/").content.decode()
    assert page.post(f"/shared/{link.pk}/revoke/", headers=JSON).json() == {"revoked": True}


def test_a_deleted_conversation_takes_its_links_along(
    page: Client, owned: Conversation, link: SharedLink
) -> None:
    """Undo brings them back, as it brings back everything."""
    page.post(f"/conversations/{owned.pk}/delete/")
    assert Client().get(f"/s/{link.token}/").status_code == 404
    page.post(f"/conversations/{owned.pk}/restore/")
    assert Client().get(f"/s/{link.token}/").status_code == 200
    owned.delete()
    assert Client().get(f"/s/{link.token}/").status_code == 404


def test_stranger_shares_and_revokes_nothing(stranger: Client, owned: Conversation, link: SharedLink) -> None:
    assert stranger.get(f"/conversations/{owned.pk}/share/").status_code == 404
    assert stranger.post(f"/conversations/{owned.pk}/share/").status_code == 404
    assert stranger.post(f"/shared/{link.pk}/revoke/").status_code == 404
    assert link.token not in stranger.get("/shared/").content.decode()
    assert SharedLink.objects.open().count() == 1


@pytest.mark.parametrize("token", ["x", "x" * 500, "%00", "..%2f"])
def test_a_guess_finds_nothing(db: None, token: str) -> None:
    assert Client().get(f"/s/{token}/").status_code == 404


def test_a_long_one_comes_by_pages_from_its_beginning(ana: User) -> None:
    """A link can be followed by anybody: it must not make the server set two thousand messages at once."""
    token = sharing.share(long_conversation(ana, 120), by=ana).token
    found = []
    for number in ("", "?page=2", "?page=3", "?page=99", "?page=x"):
        text = Client().get(f"/s/{token}/{number}").content.decode()
        asked = [int(one) for one in re.findall(r">Question (\d+)\?<", text)]
        found.append((asked[0], asked[-1], re.findall(r'rel="(next|prev)" href="([^"]+)"', text)))
    first, last = (1, 50, [("next", "?page=2")]), (101, 120, [("prev", "?page=2")])
    middle = (51, 100, [("prev", "?page=1"), ("next", "?page=3")])
    assert found == [first, middle, last, last, first]
