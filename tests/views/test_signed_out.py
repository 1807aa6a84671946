"""A session that ends in the middle of typing costs no word, without a script too."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from chat.models import Message, Preset
from tests.rows import cut, ended, reading, sent

PASSWORD = "long-enough-93"


def test_the_text_is_there_again_after_signing_in(client: Client, ana: User) -> None:
    ana.set_password(PASSWORD)
    ana.save()
    row = ended(sent(ana), reading())
    path = f"/conversations/{row.conversation_id}/"
    leaving = client.post(path, {"text": "Half a <thought>"})
    assert leaving["Location"] == f"/accounts/login/?next={path}"
    page = client.get(leaving["Location"]).content.decode()
    assert "You have been signed out. Sign in, and your text is there again." in page
    back = client.post(leaving["Location"], {"login": "ana", "password": PASSWORD, "next": path})
    assert back["Location"] == path
    assert "New conversation" in client.get("/").content.decode()
    assert "Half a &lt;thought&gt;</textarea>" in client.get(path).content.decode()
    assert "Half a" not in client.get(path).content.decode(), "given back more than once"


@pytest.mark.parametrize("kind", ["question", "answer", "draft", "instructions", "preset"])
def test_so_is_what_was_being_edited(client: Client, ana: User, kind: str) -> None:
    """Nothing but what was written stands in the form: what was there before must not be joined to it."""
    row = ended(sent(ana), cut() if kind == "draft" else reading())
    question, *answers = Message.objects.order_by("created")
    preset = Preset.objects.create(user=ana, name="Brief", text="Be brief.")
    path, field = {
        "question": (f"/messages/{question.pk}/edit/", "text"),
        "answer": (f"/messages/{answers[0].pk if answers else None}/edit/", "text"),
        "draft": (f"/generations/{row.pk}/edit/", "text"),
        "instructions": ("/instructions/", "instructions"),
        "preset": (f"/presets/{preset.pk}/", "text"),
    }[kind]
    assert client.post(path, {"name": "Brief", field: "Half a <thought>"}).status_code == 302
    client.force_login(ana)
    html = client.get(path).content.decode()
    assert (
        html.split("<textarea")[1].split("</textarea>")[0].split(">")[1].strip() == "Half a &lt;thought&gt;"
    )
    assert "Half a" not in client.get(path).content.decode()


def test_our_script_keeps_its_text_itself(client: Client, db: None) -> None:
    client.post("/", {"text": "Half"}, headers={"Accept": "application/json"})
    client.post("/", {"text": " "})
    client.get("/")
    assert "unsent" not in client.session


def test_a_book_that_anybody_may_send_is_not_kept(client: Client, db: None) -> None:
    """It is longer than any message; a stranger could fill the disk with sessions of it."""
    client.post("/", {"text": "a" * 32_001})
    assert "unsent" not in client.session
    client.post("/", {"text": "a" * 32_000})
    assert "unsent" in client.session


def test_an_address_may_bring_a_text(page: Client) -> None:
    assert "Why?</textarea>" in page.get("/?q=Why%3F%00").content.decode()
