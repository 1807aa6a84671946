"""A conversation that was read is kept whole, once, and never claims to have been checked here."""

import dataclasses
import datetime as dt

import pytest
from django.contrib.auth.models import AbstractBaseUser

from chat import conversations, running, search
from chat.importing import chatgpt, keeping, own
from chat.importing.keeping import Kept, keep
from chat.importing.shape import File, NotReadable, Talk
from chat.models import Conversation, Generation, Message
from tests.importing.files import T0, ours, plain
from tests.rows import conversation_of, person, sent

NOW = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


@pytest.fixture
def ana(db: None) -> AbstractBaseUser:
    return person()


def talk() -> Talk:
    return chatgpt.read(plain(), now=NOW)


def test_it_comes_with_its_times_and_can_be_found(ana: AbstractBaseUser) -> None:
    assert keep(ana, talk()).messages == 2
    row = Conversation.objects.get()
    assert (row.title, row.source, row.named) == ("Rests", "chatgpt:c-1", True)
    assert (row.created.timestamp(), row.updated.timestamp()) == (T0, T0 + 100)
    question, answer = Message.objects.order_by("created")
    assert (question.kind, question.parent_id, question.created.timestamp()) == ("user", None, T0 + 1)
    assert (answer.kind, answer.parent_id, answer.text) == ("answer", question.pk, "Two.")
    assert (answer.origin, answer.origin_model, answer.generation) == ("imported", "gpt-4o", None)
    assert row.head_id == answer.pk
    assert not Generation.objects.exists()
    assert [hit.message_id for hit in search.find(ana, "two").hits] == [answer.pk]
    assert search.examine().is_right


def test_nothing_comes_twice(ana: AbstractBaseUser) -> None:
    """By one person; another may import the same file. One that was deleted comes again."""
    keep(ana, talk())
    assert keep(ana, talk()) == Kept(None)
    assert keep(person("eva"), talk()).messages == 2
    conversations.discard(Conversation.objects.get(user_id=ana.pk), by=ana)
    assert keep(ana, talk()).messages == 2
    assert Conversation.objects.filter(user_id=ana.pk).count() == 1


def test_two_processes_that_keep_the_same_one(ana: AbstractBaseUser, monkeypatch: pytest.MonkeyPatch) -> None:
    """The database lets one of them in; the other one's import says that it was there, and goes on."""
    looked: list[bool] = []
    really = keeping._is_here

    def is_here(user: AbstractBaseUser, value: Talk) -> bool:
        looked.append(True)
        if len(looked) > 1:
            return really(user, value)
        return False

    monkeypatch.setattr(keeping, "_is_here", is_here)
    Conversation.objects.create(user_id=ana.pk, title="Rests", source=talk().source)
    assert keep(ana, talk()) == Kept(None)
    assert Conversation.objects.count() == 1


def test_our_own_export_of_what_is_still_here_is_there_already(ana: AbstractBaseUser) -> None:
    conversation = conversation_of(sent(ana))
    value = own.read(ours(id=str(conversation.pk)), now=NOW)
    assert keep(ana, value) == Kept(None)
    assert keep(person("eva"), value).messages == 2


def test_one_can_go_on_from_an_imported_answer(ana: AbstractBaseUser) -> None:
    """The next prompt reads its messages like all others."""
    keep(ana, talk())
    row = sent(ana, "And for legs?", conversation=Conversation.objects.get())
    job = running.claim(row.pk, owner="runner-1")
    assert job is not None
    assert [(turn.role, turn.text) for turn in job.prompt.turns] == [
        ("user", "How long?"),
        ("assistant", "Two."),
        ("user", "And for legs?"),
    ]


@pytest.mark.parametrize("why", ["empty", "empty_message", "too_long"])
def test_what_cannot_be_kept_leaves_nothing(ana: AbstractBaseUser, why: str, settings: object) -> None:
    good = talk()
    if why == "empty":
        bad = dataclasses.replace(good, messages=())
    else:
        text = "\u200b" if why == "empty_message" else "x" * 2_000_001
        changed = dataclasses.replace(good.messages[1], text=text)
        bad = dataclasses.replace(good, messages=(good.messages[0], changed))
    with pytest.raises(NotReadable) as caught:
        keep(ana, bad)
    assert caught.value.why == why
    assert (Conversation.objects.count(), Message.objects.count()) == (0, 0)


def test_files_come_as_if_they_were_uploaded(ana: AbstractBaseUser) -> None:
    """What their bytes say counts; what may not be kept is counted."""
    good = talk()
    files = (File("a.txt", b"text"), File("b.exe", b"\x00\x01"))
    with_files = dataclasses.replace(
        good, messages=(dataclasses.replace(good.messages[0], files=files),), head=None
    )
    assert keep(ana, with_files).files_left_out == 1
    assert list(Message.objects.get().attachments.values_list("name", "text")) == [("a.txt", "text")]
