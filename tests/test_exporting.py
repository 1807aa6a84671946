"""What is exported: messages as messages, generations as facts, nothing of a draft."""

import io
import json
import zipfile
from pathlib import Path

import pytest
from django.contrib.auth.models import AbstractBaseUser
from pytest_django import Settings

from chat import attachments, branches, conversations, exporting, generations
from chat.importing import container, runs
from chat.models import Attachment, Conversation, Message
from tests.rows import conversation_of, cut, ended, person, reading, sent


def markdown(conversation: Conversation) -> str:
    """With words of our own for what the page has words for."""
    return exporting.as_markdown(
        conversation, ending=lambda row: f"It was *{row.state}*.", model=lambda row: f"the {row.model}"
    )


@pytest.fixture
def ana(db: None) -> AbstractBaseUser:
    return person()


def test_the_document_holds_the_tree_and_the_facts(ana: AbstractBaseUser) -> None:
    first = ended(sent(ana, "One?", files=[attachments.read("notes.txt", b"n")]), cut())
    second = ended(generations.retry(first, user=ana), reading("Fine.", carry=[{"sig": "secret"}]))
    conversation = conversation_of(second)
    value = json.loads(exporting.as_json(conversation))
    question, answer = Message.objects.order_by("created")
    assert (value["format"], value["version"], value["title"]) == ("gymnasia.conversation", 1, "One?")
    assert value["head"] == str(answer.pk)
    assert [(m["id"], m["parent"], m["kind"], m["text"], m["generation"]) for m in value["messages"]] == [
        (str(question.pk), None, "user", "One?", None),
        (str(answer.pk), str(question.pk), "answer", "Fine.", str(second.pk)),
    ]
    assert value["messages"][0]["attachments"] == [
        {"name": "notes.txt", "media_type": "text/plain", "text": "n"}
    ]
    assert [(g["state"], g["confirmed"], g["reason"], g["answers"]) for g in value["generations"]] == [
        ("incomplete", False, "stream_truncated", str(question.pk)),
        ("confirmed", True, None, str(question.pk)),
    ]


def test_nothing_that_is_no_message_is_in_any_file(ana: AbstractBaseUser) -> None:
    """No draft, no remains, no reasoning, nothing carried, nothing of a discarded conversation."""
    row = ended(sent(ana, "One?"), cut(reasoning_parts=["heron thought"]))
    row = ended(
        generations.retry(row, user=ana),
        reading("Fine.", reasoning_parts=["heron thought"], carry=[{"sig": "heron"}]),
    )
    gone = conversation_of(sent(ana, "heron gone?"))
    conversations.discard(gone, by=ana)
    conversation = conversation_of(row)
    everything = "".join(exporting.everything(ana))
    for text in (exporting.as_json(conversation), markdown(conversation), everything):
        assert "heron" not in text
        assert "Two" not in text  # the draft of the first try
        assert "Fine." in text
    assert [each["title"] for each in json.loads(everything)] == ["One?"]
    assert json.loads("".join(exporting.everything(person("eva")))) == []


def test_markdown_reads_as_a_conversation(ana: AbstractBaseUser) -> None:
    """A reply that is no answer is told; a fence that was left open does not swallow the rest."""
    row = ended(sent(ana, "Is *this* `code`?\n```\nopen"), reading("Yes."))
    row = ended(sent(ana, "More?", conversation=row.conversation), cut())
    assert markdown(conversation_of(row)) == (
        "# Is \\*this\\* \\`code\\`?\n\n"
        "## You\n\nIs *this* `code`?\n```\nopen\n```\n\n"
        "## Answer (the scripted-1)\n\nYes.\n\n"
        "## You\n\nMore?\n\n"
        "*It was \\*incomplete\\*.*\n"
    )


def test_a_question_whose_answer_was_taken_away_was_not_given_up(ana: AbstractBaseUser) -> None:
    row = ended(sent(ana, "How long?"), reading("Two minutes."))
    branches.delete(Message.objects.get(generation=row), by=ana)
    assert markdown(conversation_of(row)) == "# How long?\n\n## You\n\nHow long?\n"


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("How long?", "How-long.md"),
        ("../../etc", "etc.md"),
        ("???", "conversation.md"),
        ("Ação já", "Ação-já.md"),
    ],
)
def test_file_names(ana: AbstractBaseUser, title: str, name: str) -> None:
    conversation = conversation_of(sent(ana))
    conversation.title = title
    assert exporting.file_name(conversation, "md") == name


def test_what_is_too_large_for_one_document_is_an_archive_that_comes_back(
    ana: AbstractBaseUser, monkeypatch: pytest.MonkeyPatch, settings: Settings, tmp_path: Path
) -> None:
    """Pictures stand in a document a third larger; a file that no import takes is no export."""
    settings.DATA = tmp_path
    for module in (exporting, container):
        monkeypatch.setattr(module, "MOST_CONVERSATION_BYTES", 6_000)
    picture = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20
    small = conversation_of(ended(sent(ana, "Small?"), reading("Yes.")))
    large = conversation_of(
        ended(sent(ana, "Large?", files=[attachments.read("a.png", picture)]), reading("Yes."))
    )
    assert [exporting.way_back(each) for each in (small, large)] == ["json", "archive"]
    assert exporting.fit_one_document(Conversation.objects.filter(pk=small.pk))
    assert not exporting.fit_one_document(Conversation.objects.owned_by(ana))
    bea = person("bea")
    alone = runs.begin(bea, "large.json", [exporting.as_json(large).encode()], launch=lambda _: None)
    runs.run(alone.pk)
    alone.refresh_from_db()
    assert (alone.fault, alone.came) == ("conversation_too_long", 0)
    file = io.BytesIO()
    exporting.archive([small, large], file)
    both = runs.begin(bea, "both.zip", [file.getvalue()], launch=lambda _: None)
    runs.run(both.pk)
    both.refresh_from_db()
    assert (both.fault, both.came, both.refused) == ("", 2, 0)
    assert bytes(Attachment.objects.owned_by(bea).get().data or b"") == picture
    exporting.archive([], file := io.BytesIO())
    assert zipfile.ZipFile(file).read("conversations.json") == b"[]\n"


def test_what_cannot_come_back_is_said(
    ana: AbstractBaseUser, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    monkeypatch.setattr(exporting, "MOST_CONVERSATION_BYTES", 6_000)
    wordy = conversation_of(ended(sent(ana, "Words?"), reading("word " * 2_000)))
    assert exporting.way_back(wordy) == ""
    picture = b"\x89PNG\r\n\x1a\n" + b"0" * 9_000
    seen = conversation_of(ended(sent(ana, "?", files=[attachments.read("a.png", picture)]), reading("Yes.")))
    assert exporting.way_back(seen) == "archive"
    settings.GYMNASIA = settings.GYMNASIA.but(max_import_bytes=9_000)
    assert exporting.way_back(seen) == ""
