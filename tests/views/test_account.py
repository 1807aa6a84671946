"""The settings page, the data to take along, and the end of an account."""

import io
import re
import zipfile
from html import unescape
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest
from django.contrib.auth.models import User
from django.test import AsyncClient, Client
from django.urls import resolve

from chat import sharing, urls
from chat.models import Generation, Preset
from chat.views import exports
from tests.rows import ended, reading, sent
from tests.visitors import user

PASSWORD = "long-enough-93"


@pytest.fixture
def bea(db: None) -> User:
    made = user("bea")
    made.set_password(PASSWORD)
    made.save()
    return made


@pytest.fixture
def signed_in(bea: User) -> Client:
    """Her browser."""
    client = Client()
    client.post("/accounts/login/", {"login": "bea", "password": PASSWORD})
    return client


@pytest.fixture
def fresh(signed_in: Client) -> Client:
    """Her browser, where she has just shown once more that it is she."""
    signed_in.post("/accounts/reauthenticate/", {"password": PASSWORD})
    return signed_in


def test_the_menu_leads_to_the_settings_and_they_lead_everywhere(fresh: Client) -> None:
    assert 'href="/settings/"' in fresh.get("/").content.decode()
    page = fresh.get("/settings/").content.decode()
    for link in (
        "/accounts/password/change/",
        "/accounts/2fa/webauthn/add/",
        "/accounts/2fa/totp/activate/",
        "/accounts/sessions/",
        "/settings/download/",
        "/settings/delete/",
        "/instructions/",
        "/presets/",
        "/plans/",
        "/usage/",
        "/shared/",
        "/import/",
        "/conversations.json",
    ):
        assert f'href="{link}"' in page
    assert fresh.get("/accounts/2fa/")["Location"] == "/settings/"


FILES = {"chat:export_everything", "chat:export_json", "chat:export_md", "chat:download_file"}
NO_LINK = {
    "chat:contents": "the list, for the script",
    "chat:events": "data for the script",
    "chat:standing": "how replies stand, for a page that nobody looks at",
    "chat:manifest": "for the telephone",
    "chat:turn": "a turn, for the script",
    "chat:stop": "as long as a reply is being written",
    "chat:continue": "where a reply came to its limit",
    "chat:edit_draft": "where a reply is no answer",
    "chat:switch": "where there are versions",
    "chat:unpin": "of what is pinned",
    "chat:unarchive": "of what is in the archive",
    "chat:restore": "of what was deleted a moment ago",
    "chat:attachment": "where a file went along",
    "chat:import": "after an import",
}


def test_every_page_is_reached_by_links_from_the_first_one(fresh: Client, bea: User) -> None:
    """Nobody has to know an address: whatever there is, a person finds by going from page to page."""
    row = ended(sent(bea, "How long?"), reading())
    assert row.conversation is not None
    sharing.share(row.conversation, by=bea)
    Preset.objects.create(user=bea, name="Brief", text="Be brief.")
    found, waiting = set(), ["/", "/search/?q=long"]
    while waiting:
        path = waiting.pop()
        name = resolve(urlsplit(path).path).view_name
        if name in found:
            continue
        found.add(name)
        if not name.startswith("chat:") or name in FILES or name == "chat:delete_account":
            continue
        html = fresh.get(path, follow=True).content.decode()
        waiting += [
            unescape(each) for each in re.findall(r'<a\b[^>]*\bhref="(?:http://testserver)?(/[^"]*)"', html)
        ]
        waiting += [
            f"{urlsplit(path).path}{each}" for each in re.findall(r'<a\b[^>]*\bhref="(\?[^"]*)"', html)
        ]
        found |= {resolve(each).view_name for each in re.findall(r'action="(/[^"]*)"', html)}
    names = {f"chat:{each.name}" for each in urls.urlpatterns if each.name}
    assert names - found == set(NO_LINK)


@pytest.mark.parametrize("path", ["/settings/", "/settings/download/", "/settings/delete/"])
def test_nobody_has_no_settings(client: Client, db: None, path: str) -> None:
    assert client.get(path)["Location"].startswith("/accounts/login/")


@pytest.mark.parametrize("path", ["/settings/download/", "/settings/delete/"])
def test_a_sign_in_alone_is_not_enough(signed_in: Client, path: str) -> None:
    """A browser that was left open must not be enough to take everything, or to end it."""
    asked = f"/accounts/reauthenticate/?next={quote(path, safe='')}"
    assert signed_in.get(path)["Location"] == asked
    assert "Is it you?" in signed_in.get(asked).content.decode()
    answer = signed_in.post("/accounts/reauthenticate/", {"password": "wrong", "next": path})
    assert answer.status_code == 200
    answer = signed_in.post("/accounts/reauthenticate/", {"password": PASSWORD, "next": path})
    assert (answer.status_code, answer["Location"]) == (302, path)


def test_a_download_has_a_page_that_begins_it(signed_in: Client) -> None:
    """A file alone would leave the form with the password standing."""
    assert signed_in.get("/settings/download/file/")["Location"] == "/settings/download/"
    signed_in.post("/accounts/reauthenticate/", {"password": PASSWORD})
    page = signed_in.get("/settings/download/")
    html = page.content.decode()
    assert ("The download has begun" in html, 'href="/settings/download/file/"' in html) == (True, True)
    assert page["Refresh"] == "1; url=/settings/download/file/"


def test_who_has_nothing_to_show_is_not_locked_out(page: Client, ana: User) -> None:
    """Somebody who signs in by another service has no password: they may still take their data and go."""
    ana.set_unusable_password()
    ana.save()
    page.force_login(ana)
    assert page.get("/settings/delete/").status_code == 200
    assert page.get("/accounts/2fa/webauthn/add/").status_code == 200


def test_a_deletion_that_nobody_confirms_deletes_nothing(fresh: Client, bea: User) -> None:
    sent(bea)
    page = fresh.get("/settings/delete/").content.decode()
    assert "With it go 1 conversation with its messages" in page
    answer = fresh.post("/settings/delete/", {"name": "Bea"})
    assert (answer.status_code, "nothing was deleted" in answer.content.decode()) == (400, True)
    assert User.objects.filter(username="bea").exists()


def test_a_deleted_account_is_gone_and_signed_out(fresh: Client, bea: User) -> None:
    row = sent(bea)
    answer = fresh.post("/settings/delete/", {"name": "bea"})
    assert (answer.status_code, answer["Location"]) == (303, "/accounts/login/")
    assert not User.objects.filter(username="bea").exists()
    assert Generation.objects.get(pk=row.pk).state == "cancelled"
    assert fresh.get("/")["Location"].startswith("/accounts/login/")
    assert "Your account and all that was in it are gone." in fresh.get("/accounts/login/").content.decode()


@pytest.mark.django_db(transaction=True)
async def test_the_data_come_in_pieces_and_are_all_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exports, "CHUNK_BYTES", 100)
    client = AsyncClient()
    await _signed_in(client)
    answer = await client.get("/settings/download/file/")
    pieces = [piece async for piece in answer.streaming_content]  # type: ignore[attr-defined]
    body = b"".join(pieces)
    assert (answer["Content-Type"], int(answer["Content-Length"])) == ("application/zip", len(body))
    assert len(pieces) == -(-len(body) // 100) > 3
    names = zipfile.ZipFile(io.BytesIO(body)).namelist()
    assert [Path(name).parts[0] for name in names] == ["account.json", "conversations.json", "conversations"]


async def _signed_in(client: AsyncClient) -> None:
    from asgiref.sync import sync_to_async

    def make() -> None:
        bea = user("bea")
        bea.set_password(PASSWORD)
        bea.save()
        ended(sent(bea), reading())

    await sync_to_async(make)()
    await client.post("/accounts/login/", {"login": "bea", "password": PASSWORD})
    await client.post("/accounts/reauthenticate/", {"password": PASSWORD})
