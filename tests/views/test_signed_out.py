"""A session that ends in the middle of typing costs no word, without a script too."""

from django.contrib.auth.models import User
from django.test import Client

from tests.rows import ended, reading, sent

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


def test_our_script_keeps_its_text_itself(client: Client, db: None) -> None:
    client.post("/", {"text": "Half"}, headers={"Accept": "application/json"})
    client.post("/", {"text": " "})
    client.get("/")
    assert "unsent" not in client.session


def test_an_address_may_bring_a_text(page: Client) -> None:
    assert "Why?</textarea>" in page.get("/?q=Why%3F%00").content.decode()
