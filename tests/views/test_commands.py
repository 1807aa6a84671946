"""Stop, try again, see a turn, take a text: each through its owner, each once, each without a script too."""

import re
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client

from chat import generations
from chat.models import Generation, Message
from tests.rows import cut, ended, fresh, opened, reading, sent

JSON = {"Accept": "application/json"}


def state(generation: Generation) -> tuple[str, str]:
    row = Generation.objects.get(pk=generation.pk)
    return row.state, row.reason


def test_stop_by_plain_form(page: Client, ana: User) -> None:
    """The state is cancelled when the page comes back, and who asked is written down."""
    generation = opened(sent(ana)).generation
    response = page.post(f"/generations/{generation.pk}/stop/")
    address = f"/conversations/{generation.conversation_id}/"
    assert (response.status_code, response.headers["Location"]) == (303, address)
    assert state(generation) == ("cancelled", "cancelled")
    assert Generation.objects.get(pk=generation.pk).cancelled_by_id == ana.pk
    assert "You stopped this reply here." in page.get(address).content.decode()


def test_stop_by_script_tells_who_was_first(page: Client, ana: User) -> None:
    """A reply that had ended by itself keeps its end; that is an answer, not an error."""
    generation = sent(ana)
    assert page.post(f"/generations/{generation.pk}/stop/", headers=JSON).json() == {"stopped": True}
    assert page.post(f"/generations/{generation.pk}/stop/", headers=JSON).json() == {"stopped": False}
    whole = ended(sent(ana, "Again?"), reading())
    assert page.post(f"/generations/{whole.pk}/stop/", headers=JSON).json() == {"stopped": False}
    assert state(whole) == ("confirmed", "")


def test_try_again(page: Client, ana: User) -> None:
    """A new generation for the same message; the old one stays as it ended."""
    first = ended(sent(ana), cut())
    response = page.post(f"/generations/{first.pk}/retry/")
    second = Generation.objects.get(number=2)
    assert (response.status_code, response.headers["Location"]) == (
        303,
        f"/conversations/{first.conversation_id}/",
    )
    assert (second.retry_of_id, second.parent_id, second.attempt, second.model) == (
        first.pk,
        first.parent_id,
        2,
        "scripted-1",
    )
    assert state(first) == ("incomplete", "stream_truncated")


def test_try_again_with_another_model(page: Client, ana: User) -> None:
    """The script sends what the picker shows; what cannot be asked is the conversation's own model."""
    first = ended(sent(ana), cut())
    answer = page.post(
        f"/generations/{first.pk}/retry/", {"model": "scripted:scripted:2"}, headers=JSON
    ).json()
    second = Generation.objects.get(number=2)
    assert second.model == "scripted:2"
    assert {key: answer[key] for key in ("conversation", "generation", "handle")} == {
        "conversation": str(first.conversation_id),
        "generation": str(second.pk),
        "handle": 2,
    }
    assert re.findall(r'data-generation="([^"]+)"', answer["html"]) == [str(first.pk), str(second.pk)]
    generations.cancel(second, by=ana)
    page.post(f"/generations/{second.pk}/retry/", {"model": "nowhere:x"})
    assert Generation.objects.get(number=3).model == "scripted-1"


def test_try_again_while_one_is_written(page: Client, ana: User) -> None:
    """Two clicks make one reply."""
    first = ended(sent(ana), cut())
    assert page.post(f"/generations/{first.pk}/retry/", headers=JSON).status_code == 201
    answer = page.post(f"/generations/{first.pk}/retry/", headers=JSON)
    assert (answer.status_code, answer.json()["error"], answer.json()["handle"]) == (409, "busy", 2)
    plain = page.post(f"/generations/{first.pk}/retry/")
    assert plain.status_code == 409
    assert "Ask again" not in plain.content.decode()
    assert Generation.objects.count() == 2


def test_what_is_ready_gets_another_answer_beside_it(page: Client, ana: User) -> None:
    """The answer stays an answer; the new one is written under the same message."""
    whole = ended(sent(ana), reading())
    answer = page.post(f"/generations/{whole.pk}/retry/", headers=JSON)
    assert (answer.status_code, answer.json()["handle"]) == (201, 2)
    assert fresh(whole).state == "confirmed"
    assert Generation.objects.get(number=2).parent_id == whole.parent_id


def test_turn_is_what_the_page_shows(page: Client, ana: User) -> None:
    """Another window inserts exactly the section that a reload would bring."""
    generation = ended(sent(ana), reading())
    fragment = page.get(f"/generations/{generation.pk}/turn/")
    assert fragment.status_code == 200
    assert "no-store" in fragment.headers["Cache-Control"]
    whole = page.get(f"/conversations/{generation.conversation_id}/").content.decode()
    assert fragment.content.decode().strip() in whole
    assert "<html" not in fragment.content.decode()


def test_copy_takes_the_message(page: Client, ana: User) -> None:
    """The Markdown as the model wrote it, as plain text, and never the reasoning."""
    ended(sent(ana), reading("**Two** <b>minutes</b>."))
    message = Message.objects.get(kind="answer")
    response = page.get(f"/messages/{message.pk}/source/")
    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.content.decode() == "**Two** <b>minutes</b>."


def test_a_draft_has_no_text_to_copy(page: Client, ana: User) -> None:
    """Only messages are copied: there is no address for a draft, nor for what the person wrote."""
    generation = ended(sent(ana), cut())
    assert page.get(f"/messages/{generation.pk}/source/").status_code == 404
    assert page.get(f"/messages/{generation.parent_id}/source/").status_code == 404


@pytest.mark.parametrize("command", ["stop", "retry"])
def test_commands_are_posts(page: Client, ana: User, command: str) -> None:
    """A link, a preview or a prefetch never stops or starts anything."""
    generation = sent(ana)
    assert page.get(f"/generations/{generation.pk}/{command}/").status_code == 405
    assert state(generation) == ("queued", "")


@pytest.mark.parametrize("command", ["stop", "retry"])
def test_commands_need_their_token(ana: User, command: str) -> None:
    """Another site cannot give them in somebody's name."""
    client = Client(enforce_csrf_checks=True)
    client.force_login(ana)
    generation = sent(ana)
    assert client.post(f"/generations/{generation.pk}/{command}/").status_code == 403
    assert state(generation) == ("queued", "")


def test_stranger_finds_nothing(stranger: Client, ana: User) -> None:
    """Somebody else's replies do not exist, for staff neither; just like those that never were."""
    running = sent(ana)
    over = ended(sent(ana, "Again?"), reading())
    message = Message.objects.get(kind="answer")
    for key in (running.pk, over.pk, uuid4()):
        assert stranger.post(f"/generations/{key}/stop/").status_code == 404
        assert stranger.post(f"/generations/{key}/retry/").status_code == 404
        assert stranger.get(f"/generations/{key}/turn/").status_code == 404
    assert stranger.get(f"/messages/{message.pk}/source/").status_code == 404
    assert state(running) == ("queued", "")
