"""A person writes, by plain form or by script; what is refused is said, and the text is kept; the same form counts once."""

import html
import re

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from chat import branches, generations
from chat.models import Attachment, Conversation, Generation, Message
from tests.rows import ended, reading, sent
from tests.views.reading import JSON, address, attributes, messages, shown


# --- Asking ---------------------------------------------------------------------------------------------------
def test_first_message_makes_a_conversation(page: Client, ana: User) -> None:
    """The plain form: 303 to the conversation, which exists from now on."""
    response = page.post("/", {"text": "How long should I rest?", "model": "scripted:scripted:2"})
    generation = Generation.objects.get()
    assert (response.status_code, response.headers["Location"]) == (303, address(generation))
    assert messages() == [("user", "How long should I rest?")]
    assert (generation.user_id, generation.endpoint, generation.model, generation.state) == (
        ana.pk,
        "scripted",
        "scripted:2",
        "queued",
    )
    assert generation.session == generations.fingerprint(page.session.session_key or "")


def test_page_of_a_reply_that_is_not_there_yet(page: Client) -> None:
    """Without a script the page refreshes itself until the end, and Stop is where Ask was."""
    page.post("/", {"text": "How long?"})
    generation = Generation.objects.get()
    text = shown(page, address(generation))
    assert attributes(text) == [
        {
            "generation": str(generation.pk),
            "handle": "1",
            "state": "queued",
            "reason": "",
            "seq": "0",
        }
    ]
    assert '<noscript><meta http-equiv="refresh" content="2"></noscript>' in text
    assert f'formaction="/generations/{generation.pk}/stop/"' in text
    assert f'data-socket="/ws/conversations/{generation.conversation_id}/"' in text
    assert '<p class="refreshing">This page refreshes itself until the reply has ended.' in text
    assert re.findall(r'<template id="ending-(\w+)" data-state="(\w+)" data-reason="(\w+)">', text) == [
        ("gone", "cancelled", "deleted"),
        ("signedOut", "incomplete", "signed_out"),
    ]
    assert text.count("<textarea") == 1


def test_script_gets_its_turn_as_html(page: Client) -> None:
    """The script inserts what the page itself would have shown."""
    response = page.post("/", {"text": "How long?"}, headers=JSON)
    generation = Generation.objects.get()
    answer = response.json()
    assert response.status_code == 201
    assert {key: value for key, value in answer.items() if key != "html"} == {
        "conversation": str(generation.conversation_id),
        "url": address(generation),
        "generation": str(generation.pk),
        "handle": 1,
    }
    turn = page.get(f"/generations/{generation.pk}/turn/").content.decode()
    # Each says how many seconds have been waited by then.
    assert waiting(answer["html"]) == waiting(turn)
    assert waiting(answer["html"]).strip() in waiting(shown(page, address(generation)))


def waiting(text: str) -> str:
    return re.sub(r'data-waited="\d+"', 'data-waited="N"', text)


def test_conversation_goes_on_with_its_own_model(page: Client, ana: User) -> None:
    """A second message follows the first answer; without a choice the last model is asked again."""
    first = ended(sent(ana), reading())
    response = page.post(address(first), {"text": "  And then?\r\n"})
    assert response.status_code == 303
    assert messages() == [("user", "How long?"), ("answer", "Two minutes."), ("user", "And then?")]
    assert Generation.objects.get(number=2).model == "scripted-1"


def test_second_send_is_answered_with_stop_beside_it(page: Client, ana: User) -> None:
    """One reply at a time; the text is kept, by form and by script."""
    running = sent(ana)
    response = page.post(address(running), {"text": "Me <too>"})
    text = response.content.decode()
    assert response.status_code == 409
    assert "A reply is being written" in text
    assert f'formaction="/generations/{running.pk}/stop/"' in text
    assert re.findall(r"<textarea[^>]*>\n([^<]*)</textarea>", text) == ["Me &lt;too&gt;"]
    answer = page.post(address(running), {"text": "Me too"}, headers=JSON)
    assert answer.status_code == 409
    assert answer.json() == {
        "error": "busy",
        "message": "A reply is being written. Stop it first, or wait for its end.",
        "generation": str(running.pk),
        "handle": 1,
    }
    assert messages() == [("user", "How long?")]


@pytest.mark.parametrize(
    ("sent_text", "model", "message", "kept"),
    [
        ("", "", "Write something first.", ""),
        (" \r\n ", "", "Write something first.", " \r\n "),
        (
            "a" * 32_001,
            "",
            "This is 1 character over the limit of 32,000. Shorten it a little.",
            "a" * 32_001,
        ),
        (
            "a\x00b",
            "",
            "There is a NUL character in this text, which cannot be kept. Take it out first.",
            "ab",
        ),
        ("Hi", "scripted:nothing", "This model cannot be asked at the moment. Choose another one.", "Hi"),
        ("Hi", "nowhere:scripted-1", "This model cannot be asked at the moment. Choose another one.", "Hi"),
    ],
)
def test_refused_text_is_kept(page: Client, sent_text: str, model: str, message: str, kept: str) -> None:
    """What cannot be sent is said in one sentence, and nothing that was typed is lost."""
    response = page.post("/", {"text": sent_text, "model": model})
    text = response.content.decode()
    assert response.status_code == 400
    assert re.findall(r'<p id="composer-error"[^>]*>([^<]*)</p>', text) == [message]
    assert [html.unescape(found) for found in re.findall(r"<textarea[^>]*>\n([^<]*)</textarea>", text)] == [
        kept
    ]
    answer = page.post("/", {"text": sent_text, "model": model}, headers=JSON)
    assert (answer.status_code, answer.json()) == (400, {"error": "invalid", "message": message})
    assert messages() == []


def test_longest_message_is_sent(page: Client) -> None:
    """Line ends count once, however the browser sends them."""
    assert page.post("/", {"text": "a" * 31_998 + "\r\n" + "b"}).status_code == 303


def test_form_needs_its_token(ana: User) -> None:
    """Another site cannot ask in somebody's name; the text that was typed is given back."""
    client = Client(enforce_csrf_checks=True)
    client.force_login(ana)
    response = client.post("/", {"text": "My long text"})
    assert response.status_code == 403
    assert "This page was too old" in response.content.decode()
    assert "My long text" in response.content.decode()
    assert client.post("/", {"text": "x"}, headers=JSON).json()["error"] == "csrf"
    assert messages() == []


# --- Once -----------------------------------------------------------------------------------------------------
def test_the_same_form_five_times_makes_one_conversation(page: Client, ana: User) -> None:
    """A double click, a second Enter, a page sent again: the answer is where the first one went."""
    found = re.search(r'name="once" value="([^"]+)"', shown(page, "/"))
    assert found is not None
    told = [page.post("/", {"text": "One?", "once": found.group(1)}) for _ in range(5)]
    assert {(each.status_code, each.headers["Location"]) for each in told} == {
        (303, f"/conversations/{Conversation.objects.get().pk}/")
    }
    assert page.post("/", {"text": "Two?", "once": found.group(1)}).status_code == 303
    assert Conversation.objects.count() == 2


def test_the_same_form_with_another_file_is_another_form(page: Client) -> None:
    """Also where it has the same name and size: who went back and chose again loses nothing."""
    for text in (b"AAAA", b"BBBB", b"BBBB"):
        file = SimpleUploadedFile("a.txt", text, "text/plain")
        assert page.post("/", {"text": "Read", "once": "k1", "files": file}).status_code == 303
    assert sorted(Attachment.objects.values_list("text", flat=True)) == ["AAAA", "BBBB"]


def test_a_message_goes_to_the_branch_that_the_page_showed(page: Client, ana: User) -> None:
    """Another tab may have gone elsewhere; and what a page says of it is not believed blindly."""
    first = ended(sent(ana, "One?"), reading("First."))
    branches.edit_reply("Mine.", message=Message.objects.get(text="First."))
    seen = Message.objects.get(text="First.")
    page.post(address(first), {"text": "Two?", "after": str(seen.pk)})
    assert Message.objects.get(text="Two?").parent == seen
    generations.cancel(Generation.objects.get(number=2), by=ana)
    page.post(address(first), {"text": "Three?", "after": "nonsense"})
    assert Message.objects.get(text="Three?").parent == Message.objects.get(text="Two?")
    generations.cancel(Generation.objects.get(number=3), by=ana)
    lost = page.post(address(first), {"text": "Lost?", "after": str(first.pk)}, headers=JSON)
    assert (lost.status_code, Message.objects.filter(text="Lost?").count()) == (400, 0)


def test_two_thousand_files_are_counted_and_refused(page: Client) -> None:
    """By a sentence that says how many may go, as for six."""
    files = [SimpleUploadedFile(f"{n}.txt", b"x") for n in range(2000)]
    answer = page.post("/", {"text": "All of these", "files": files}, headers=JSON)
    assert (answer.status_code, answer.json()["message"]) == (
        400,
        "Only 5 files can go with one message; you chose 2000.",
    )
