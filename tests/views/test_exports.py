"""Conversations leave as files, for their owner alone."""

import io
import json
import zipfile
from collections.abc import AsyncIterator
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.test import Client

from chat import exporting, generations
from chat.models import Conversation
from tests.rows import conversation_of, ended, reading, sent


@pytest.fixture
def owned(ana: User) -> Conversation:
    return conversation_of(ended(sent(ana, "Ação?"), reading("Yes.")))


def test_one_conversation(page: Client, owned: Conversation) -> None:
    url = f"/conversations/{owned.pk}/export"
    text = page.get(f"{url}/").content.decode()
    assert (f'href="{url}.md"' in text, f'href="{url}.json"' in text) == (True, True)
    markdown = page.get(f"{url}.md")
    assert markdown.headers["Content-Type"] == "text/markdown; charset=utf-8"
    assert markdown.headers["Content-Disposition"] == "attachment; filename*=utf-8''A%C3%A7%C3%A3o.md"
    assert markdown.content.decode().startswith("# Ação?\n\n## You\n\nAção?\n")
    whole = page.get(f"{url}.json")
    assert whole.headers["Content-Type"] == "application/json"
    assert json.loads(whole.content)["title"] == "Ação?"


def test_a_reply_that_is_no_answer_is_told_in_the_words_of_the_page(page: Client, ana: User) -> None:
    """Also one that is still being written; in the person's language."""
    row = sent(ana, "How long?")
    url = f"/conversations/{conversation_of(row).pk}/export.md"
    assert "*No answer yet: it was being written when this file was made.*" in page.get(url).content.decode()
    generations.cancel(row, by=ana)
    assert page.get(url).content.decode().endswith("*No answer: stopped. You stopped this reply here.*\n")
    text = page.get(url, headers={"Accept-Language": "pt-BR"}).content.decode()
    assert "*Sem resposta: parada. Você parou esta resposta aqui.*" in text


async def _read(pieces: AsyncIterator[bytes]) -> bytes:
    return b"".join([piece async for piece in pieces])


def test_all_of_them(page: Client, owned: Conversation) -> None:
    """As one file, which the import takes."""
    response: Any = page.get("/conversations.json")
    assert response.headers["Content-Disposition"] == 'attachment; filename="gymnasia-conversations.json"'
    body = async_to_sync(_read)(response.streaming_content)
    assert [each["title"] for each in json.loads(body)] == ["Ação?"]


def test_what_an_import_would_not_take_comes_as_an_archive(
    page: Client, owned: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One conversation, and all of them; the page of the export says so before."""
    url = f"/conversations/{owned.pk}/export"
    assert "every branch, to import again<" in page.get(f"{url}/").content.decode()
    monkeypatch.setattr(exporting, "way_back", lambda _: "archive")
    assert "in an archive, with the files beside it" in page.get(f"{url}/").content.decode()
    monkeypatch.setattr(exporting, "fit_one_document", lambda _: False)
    for address, name in [
        (f"{url}.json", "filename*=utf-8''A%C3%A7%C3%A3o.zip"),
        ("/conversations.json", 'filename="gymnasia-conversations.zip"'),
    ]:
        answer: Any = page.get(address)
        body = async_to_sync(_read)(answer.streaming_content)
        assert answer.headers["Content-Disposition"] == f"attachment; {name}"
        assert (answer.headers["Content-Type"], int(answer.headers["Content-Length"])) == (
            "application/zip",
            len(body),
        )
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            assert [each["title"] for each in json.loads(archive.read("conversations.json"))] == ["Ação?"]
    monkeypatch.setattr(exporting, "way_back", lambda _: "")
    assert "larger than what can be imported again" in page.get(f"{url}/").content.decode()


@pytest.mark.parametrize("ending", ["/", ".md", ".json"])
def test_stranger_takes_nothing(stranger: Client, owned: Conversation, ending: str) -> None:
    assert stranger.get(f"/conversations/{owned.pk}/export{ending}").status_code == 404
