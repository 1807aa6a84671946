"""A file is served to its owner alone, as what its bytes are, and can do nothing."""

from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from chat import catalogue
from chat.models import Attachment, Generation, Message
from tests.rows import sent
from tests.test_attachments import CAT, NOTES, PNG


def test_a_picture_is_shown(page: Client, ana: User) -> None:
    sent(ana, files=[CAT])
    response = page.get(f"/attachments/{Attachment.objects.get().pk}/")
    assert (response.status_code, response.content) == (200, PNG)
    names = ("Content-Type", "Content-Disposition", "Cache-Control", "X-Content-Type-Options")
    assert [response.headers[name] for name in names] == [
        "image/png",
        'inline; filename="cat.png"',
        "private, max-age=31536000, immutable",
        "nosniff",
    ]
    assert response.headers["Content-Security-Policy"] == "sandbox; default-src 'none'"


def test_a_text_is_saved(page: Client, ana: User) -> None:
    """A file of HTML must not become a page of ours."""
    sent(ana, files=[NOTES._replace(name="días.html", text="<script>alert(1)</script>")])
    response = page.get(f"/attachments/{Attachment.objects.get().pk}/")
    assert response.content == b"<script>alert(1)</script>"
    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert response.headers["Content-Disposition"] == "attachment; filename*=utf-8''d%C3%ADas.html"


def test_to_others_it_does_not_exist(page: Client, ana: User, stranger: Client) -> None:
    sent(ana, files=[CAT])
    address = f"/attachments/{Attachment.objects.get().pk}/"
    assert stranger.get(address).status_code == 404
    assert page.get(f"/attachments/{uuid4()}/").status_code == 404
    assert page.post(address).status_code == 405
    assert Client().get(address).status_code == 302


def test_files_go_along_with_a_message(page: Client, ana: User) -> None:
    """And are seen beside it."""
    notes = SimpleUploadedFile("notes.md", b"# Monday\n")
    response = page.post("/", {"text": "Sum up?", "files": [notes]})
    assert response.status_code == 303
    kept = Attachment.objects.get()
    assert (kept.message.text, kept.name, kept.text) == ("Sum up?", "notes.md", "# Monday\n")
    html = page.get(response.headers["Location"]).content.decode()
    assert f'href="/attachments/{kept.pk}/"' in html


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        (
            [("a.pdf", b"%PDF\xff")],
            "a.pdf cannot be sent: only text files (UTF-8) and pictures (PNG, JPEG, GIF, WebP) can.",
        ),
        ([("a.txt", b" ")], "a.txt is empty."),
        (
            [("a.png", PNG)],
            "This model cannot see pictures. Choose another model, or send the message without them.",
        ),
        ([(f"{n}.txt", b"a") for n in range(6)], "Only 5 files can go with one message; you chose 6."),
        ([("a.txt", b"a" * 200_001)], "a.txt is too long: a text file may have 200,000 characters at most."),
        ([("a.png", PNG + b"a" * 3_200_000)], "a.png is too large: a picture may have 3.0\xa0MB at most."),
    ],
)
def test_a_file_that_cannot_go_is_named_and_nothing_is_kept(
    page: Client, files: list[tuple[str, bytes]], sentence: str
) -> None:
    """All or nothing; the text stays on the line."""
    uploads = [SimpleUploadedFile(name, data) for name, data in files]
    response = page.post("/", {"text": "Sum up?", "files": uploads}, headers={"Accept": "application/json"})
    assert (response.status_code, response.json()["message"]) == (400, sentence)
    assert (Message.objects.count(), Generation.objects.count()) == (0, 0)


def test_a_model_that_sees_is_sent_pictures(page: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "sees", lambda _endpoint, _model: True)
    page.post("/", {"text": "Which?", "files": [SimpleUploadedFile("cat.png", PNG)]})
    assert Attachment.objects.get().media_type == "image/png"
