"""Versions as pages and commands: plain forms first, JSON for the script, nothing for a stranger."""

import re
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client

from chat import branches, generations, running
from chat.models import Conversation, Generation, Message
from chat.replies import picker
from chat.streaming.outcome import Reason
from tests.rows import cut, draft, ended, messages, opened, reading, sent

JSON = {"Accept": "application/json"}


def at(text: str) -> Message:
    return Message.objects.get(text=text)


def shown(client: Client) -> str:
    """The conversation's page, on one line."""
    page = client.get(f"/conversations/{Conversation.objects.get().pk}/")
    assert page.status_code == 200
    return " ".join(page.content.decode().split())


def active(html: str) -> list[str]:
    """The person's messages on a page."""
    return re.findall(r'<div class="question">([^<]*)</div>', html)


def key_of(html: str) -> str:
    found = re.search(r'name="once" value="([^"]+)"', html)
    assert found is not None
    return found.group(1)


def test_a_message_is_edited_by_a_plain_form(page: Client, ana: User) -> None:
    ended(sent(ana, "One?"), reading("First."))
    url = f"/messages/{at('One?').pk}/edit/"
    form = page.get(url).content.decode()
    assert "Edit your message" in form
    assert ">\nOne?</textarea>" in form
    answer = page.post(url, {"text": "Uno?", "once": key_of(form)})
    assert (answer.status_code, answer.headers["Location"]) == (
        303,
        f"/conversations/{Conversation.objects.get().pk}/",
    )
    html = shown(page)
    assert active(html) == ["Uno?"]
    assert "</span> 2 / 2</span>" in html
    assert f'formaction="/messages/{at("One?").pk}/switch/"' in html


def test_a_version_is_gone_to_and_stays_over_a_reload(page: Client, ana: User) -> None:
    ended(sent(ana, "One?"), reading("First."))
    ended(branches.edit_question(at("One?"), user=ana, text="Uno?"), reading("Primero."))
    one = at("One?")
    answer = page.post(f"/messages/{one.pk}/switch/")
    assert answer.headers["Location"].endswith(f"#m-{one.pk}")
    assert (active(shown(page)), active(shown(page))) == (["One?"], ["One?"])
    told = page.post(f"/messages/{at('Uno?').pk}/switch/", headers=JSON)
    assert told.json() == {"url": f"/conversations/{one.conversation_id}/"}
    assert active(shown(page)) == ["Uno?"]


def test_a_double_click_edits_once(page: Client, ana: User) -> None:
    ended(sent(ana, "One?"), reading("First."))
    url = f"/messages/{at('One?').pk}/edit/"
    for _ in range(3):
        assert page.post(url, {"text": "Uno?", "once": "k"}).status_code == 303
    assert messages() == [("user", "One?"), ("answer", "First."), ("user", "Uno?")]


def test_an_answer_becomes_a_persons_own_version(page: Client, ana: User) -> None:
    """Marked as theirs; the answer stays, and is not theirs."""
    ended(sent(ana, "One?"), reading("First."))
    url = f"/messages/{at('First.').pk}/edit/"
    assert "Make it your own version" in page.get(url).content.decode()
    answer = page.post(url, {"text": "My first."}, headers=JSON)
    assert 'data-state="edited"' in answer.json()["html"]
    html = shown(page)
    assert "your own version" in html
    assert 'data-state="confirmed"' not in html
    assert "</span> 2 / 2</span>" in html
    copied = page.get(f"/messages/{at('My first.').pk}/source/")
    assert copied.content.decode() == "My first."


def test_a_draft_becomes_a_persons_own_version(page: Client, ana: User) -> None:
    row = ended(sent(ana, "One?"), cut())
    html = shown(page)
    assert f'href="/generations/{row.pk}/edit/"' in html
    assert ">\nTwo</textarea>" in page.get(f"/generations/{row.pk}/edit/").content.decode()
    assert page.post(f"/generations/{row.pk}/edit/", {"text": "Two, I think."}).status_code == 303
    html = shown(page)
    assert "Two, I think." in html
    assert "</span> 2 / 2</span>" in html


@pytest.mark.parametrize("text", ["", "  ", "a\x00b"])
def test_a_text_that_cannot_be_kept_stays_in_the_form(page: Client, ana: User, text: str) -> None:
    ended(sent(ana, "One?"), reading("First."))
    url = f"/messages/{at('First.').pk}/edit/"
    answer = page.post(url, {"text": text})
    assert answer.status_code == 400
    assert "This text cannot be kept" in answer.content.decode()
    assert page.post(url, {"text": text}, headers=JSON).json()["error"] == "invalid"
    assert len(messages()) == 2


def test_while_a_reply_is_written_an_edit_is_kept_for_later(page: Client, ana: User) -> None:
    first = ended(sent(ana, "One?"), reading("First."))
    sent(ana, "Two?", conversation=first.conversation)
    url = f"/messages/{at('One?').pk}/edit/"
    answer = page.post(url, {"text": "Uno?"})
    html = answer.content.decode()
    assert (answer.status_code, f'action="{url}"' in html, "Uno?" in html) == (409, True, True)


def test_another_answer_by_a_model_of_ones_choice(page: Client, ana: User) -> None:
    row = ended(sent(ana, "One?"), reading("First."))
    form = page.get(f"/generations/{row.pk}/again/").content.decode()
    assert f'action="/generations/{row.pk}/retry/"' in form
    assert '<option value="scripted:scripted-1" selected>' in form
    for _ in range(2):
        answer = page.post(
            f"/generations/{row.pk}/retry/", {"model": "scripted:scripted-1", "once": key_of(form)}
        )
        assert answer.status_code == 303
    assert Generation.objects.count() == 2
    html = shown(page)
    assert "</span> 2 / 2</span>" in html
    assert f'formaction="/messages/{at("First.").pk}/switch/"' in html


def test_a_reply_at_its_limit_is_gone_on_with(page: Client, ana: User) -> None:
    """The draft stays above, in pencil; the rest alone is the answer, and says what it goes on from."""
    row = ended(sent(ana, "One?"), cut(Reason.max_tokens))
    assert f'formaction="/generations/{row.pk}/continue/"' in shown(page)
    for _ in range(2):
        assert page.post(f"/generations/{row.pk}/continue/", {"once": "k"}).status_code == 303
    second = Generation.objects.get(number=2)
    running.end(opened(second), reading(" minutes."), draft(second))
    html = shown(page)
    assert re.findall(r'data-generation="[^"]+" data-handle="(\d)" data-state="(\w+)"', html) == [
        ("1", "incomplete"),
        ("2", "confirmed"),
    ]
    assert "continues the reply above" in html
    joined = page.get(f"/messages/{at(' minutes.').pk}/edit/").content.decode()
    assert ">\nTwo minutes.</textarea>" in joined
    assert "Both parts of the reply stand here" in joined
    refused = page.post(f"/generations/{second.pk}/continue/", headers=JSON)
    assert (refused.status_code, refused.json()["error"]) == (409, "rejected")


def test_a_version_is_deleted_after_a_question(page: Client, ana: User) -> None:
    ended(sent(ana, "One?"), reading("First."))
    ended(branches.edit_question(at("One?"), user=ana, text="Uno?"), reading("Primero."))
    url = f"/messages/{at('Uno?').pk}/delete/"
    assert "Delete this version?" in page.get(url).content.decode()
    assert page.post(url).status_code == 303
    assert active(shown(page)) == ["One?"]
    assert page.post(url).status_code == 404


def test_deleting_the_only_version_says_what_goes(page: Client, ana: User) -> None:
    """There are no others to stay. Of the first message it is the conversation, which can be brought back."""
    first = ended(sent(ana, "One?"), reading("First."))
    ended(sent(ana, "Two?", conversation=first.conversation), reading("Second."))
    for text, question in (("Two?", "Delete this message?"), ("First.", "Delete this reply?")):
        html = page.get(f"/messages/{at(text).pk}/delete/").content.decode()
        assert (question in html, "other versions stay" in html) == (True, False)
    owned = Conversation.objects.get()
    url = f"/messages/{at('One?').pk}/delete/"
    assert page.get(url).headers["Location"] == f"/conversations/{owned.pk}/delete/"
    assert page.post(url).headers["Location"] == f"/?deleted={owned.pk}"
    assert (owned.messages.count(), Conversation.objects.standing().exists()) == (4, False)
    page.post(f"/conversations/{owned.pk}/restore/")
    assert active(shown(page)) == ["One?", "Two?"]


def test_a_question_whose_reply_was_deleted_can_be_asked_again(page: Client, ana: User) -> None:
    row = ended(sent(ana, "One?"), reading("First."))
    page.post(f"/messages/{at('First.').pk}/delete/")
    html = shown(page)
    assert ("The reply was deleted." in html, "First." in html) == (True, False)
    page.post(f"/generations/{row.pk}/retry/")
    ended(Generation.objects.get(number=2), reading("Second."))
    html = shown(page)
    assert ("The reply was deleted." in html, "Second." in html) == (False, True)


def test_ten_failing_replies_leave_a_page(page: Client, ana: User) -> None:
    row = ended(sent(ana, "One?"), reading("First."))
    for _ in range(10):
        row = ended(generations.retry(row, user=ana), cut())
    html = shown(page)
    assert "9 earlier attempts" in html
    assert "attempt 10" in html
    page.post(f"/messages/{at('First.').pk}/switch/")
    assert "First." in shown(page)


@pytest.mark.parametrize("models", [1, 2])
def test_where_there_is_one_model_there_is_nothing_to_choose(
    page: Client, ana: User, monkeypatch: pytest.MonkeyPatch, models: int
) -> None:
    """Another answer is one press then, without a script too; "by another model" would be the same as trying again."""
    groups = picker.groups()
    monkeypatch.setattr(picker, "groups", lambda: [groups[0]._replace(choices=groups[0].choices[:models])])
    row = ended(sent(ana, "One?"), reading("First."))
    failed = ended(sent(ana, "Two?", conversation=row.conversation), cut())
    html = shown(page)
    press = f'formaction="/generations/{row.pk}/retry/" name="model" value="scripted:scripted-1"'
    link = f'href="/generations/{row.pk}/again/"'
    assert (press in html, link in html, "By another model" in html) == (
        models == 1,
        models == 2,
        models == 2,
    )
    assert f'formaction="/generations/{failed.pk}/retry/"' in html


def test_nothing_of_it_is_a_strangers(stranger: Client, ana: User) -> None:
    row = ended(sent(ana, "One?"), cut(Reason.max_tokens))
    one = at("One?")
    for url in (f"/messages/{one.pk}/edit/", f"/messages/{one.pk}/delete/", f"/generations/{row.pk}/edit/"):
        assert stranger.get(url).status_code == 404
        assert stranger.post(url, {"text": "Mine"}).status_code == 404
    assert stranger.get(f"/generations/{row.pk}/again/").status_code == 404
    assert stranger.post(f"/generations/{row.pk}/continue/").status_code == 404
    assert stranger.post(f"/messages/{one.pk}/switch/").status_code == 404
    assert stranger.post(f"/messages/{uuid4()}/switch/").status_code == 404
    assert messages() == [("user", "One?")]


def test_the_turn_of_another_branch_is_nothing_to_show(page: Client, ana: User) -> None:
    """The reply is there all the same: the page must not take it for gone."""
    row = ended(sent(ana, "One?"), reading("First."))
    branches.edit_question(at("One?"), user=ana, text="Uno?")
    answer = page.get(f"/generations/{row.pk}/turn/")
    assert (answer.status_code, answer.content) == (204, b"")
