"""What is exported: messages as messages, generations as facts, nothing of a draft."""

import json

import pytest
from django.contrib.auth.models import AbstractBaseUser

from chat import attachments, branches, conversations, exporting, generations
from chat.models import Conversation, Message
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
