"""A file comes by a plain form; its report says what came and what did not."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from chat.importing import runs
from chat.models import Conversation, Import
from chat.views import imports
from tests.importing.files import chatgpt as talk
from tests.importing.files import node, plain


@pytest.fixture(autouse=True)
def at_once(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read in the request, in a folder of its own."""
    settings.DATA = tmp_path
    monkeypatch.setattr(runs, "in_background", runs.run)


def bring(page: Client, data: bytes, capture: Any, name: str = "conversations.json") -> str:
    with capture(execute=True):
        response = page.post("/import/", {"file": SimpleUploadedFile(name, data)})
    row = Import.objects.first()
    assert row is not None
    assert (response.status_code, response.headers["Location"]) == (303, f"/import/{row.pk}/")
    return page.get(f"/import/{row.pk}/").content.decode()


def test_a_file_and_its_report(
    page: Client, stranger: Client, django_capture_on_commit_callbacks: Any
) -> None:
    tool = talk(
        node("q1", None, "user", "x"), node("t2", "q1", "tool", "raw"), conversation_id="c-2", title="T"
    )
    data = json.dumps([plain(), tool, {"title": "<Odd>"}]).encode()
    text = bring(page, data, django_capture_on_commit_callbacks)
    for said in (
        "The import is done",
        "2 conversations came",
        "with 3 messages",
        "1 was refused",
        "&lt;Odd&gt;",
        "neither ours nor ChatGPT&#x27;s format",
        "Calls and results of tools",
    ):
        assert said in text
    assert "http-equiv" not in text
    text = bring(page, data, django_capture_on_commit_callbacks)
    assert ("No new conversation came" in text, "2 were here already" in text) == (True, True)
    assert "what was not here already was refused, for the reasons below" in text
    assert Conversation.objects.count() == 2
    assert 'href="/import/' in page.get("/import/").content.decode()
    row = Import.objects.first()
    assert row is not None
    assert stranger.get(f"/import/{row.pk}/").status_code == 404


def test_a_double_click_imports_once(page: Client, django_capture_on_commit_callbacks: Any) -> None:
    """By the key of the form that the page shows."""
    key = re.findall(r'name="once" value="([^"]+)"', page.get("/import/").content.decode())[-1]
    for _ in range(2):
        with django_capture_on_commit_callbacks(execute=True):
            file = SimpleUploadedFile("a.json", json.dumps([plain()]).encode())
            response = page.post("/import/", {"file": file, "once": key})
        assert response.headers["Location"] == f"/import/{Import.objects.get().pk}/"


def test_what_is_no_such_file_is_told(page: Client, django_capture_on_commit_callbacks: Any) -> None:
    text = bring(page, b"hello", django_capture_on_commit_callbacks)
    assert ("it is not JSON" in text, "Nothing was taken from this file." in text) == (True, True)


def test_while_it_is_read_the_report_refreshes_itself(page: Client, ana: User) -> None:
    row = Import.objects.create(user=ana, name="x.json", size=5)
    text = page.get(f"/import/{row.pk}/").content.decode()
    assert ("The file is being read" in text, 'http-equiv="refresh"' in text) == (True, True)


@pytest.mark.parametrize("data", [{}, {"file": "no file"}, {"file": SimpleUploadedFile("a.json", b"")}])
def test_no_file_is_told(page: Client, data: dict[str, Any]) -> None:
    response = page.post("/import/", data)
    assert (response.status_code, "Choose a file first." in response.content.decode()) == (400, True)
    assert not Import.objects.exists()


def test_a_file_that_is_too_large_is_told(page: Client, settings: Any) -> None:
    settings.GYMNASIA = settings.GYMNASIA.but(max_import_bytes=1024)
    response = page.post("/import/", {"file": SimpleUploadedFile("a.json", b"x" * 1025)})
    assert (response.status_code, "This file is larger than" in response.content.decode()) == (400, True)


def test_every_word_of_the_importers_has_a_sentence() -> None:
    """Read from their source: a word without one would stand on the page as it is."""
    import re

    import chat.importing

    source = "".join(path.read_text() for path in Path(chat.importing.__file__).parent.glob("*.py"))
    refusals = set(re.findall(r'(?:NotReadable\(|Refused\((?:""|title), )"(\w+)"', source))
    faults = set(re.findall(r'(?:NotTaken\(|fault = )"(\w+)"', source))
    assert (refusals - set(imports.REFUSALS), faults - set(imports.FAULTS)) == (set(), set())
    assert refusals
    assert faults
