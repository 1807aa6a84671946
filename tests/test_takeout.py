"""What a person takes along: all of theirs, nothing of another, and no secret."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from pytest_django import Settings

from chat import attachments, branches, conversations, takeout
from chat.importing import runs
from chat.models import Attachment, Checkpoint, Conversation, Message, Preferences, Preset
from tests.rows import asking, ended, reading, sent
from tests.visitors import user

PICTURE = b"\x89PNG\r\n\x1a\n" + b"\0" * 40


def taken(person: User) -> dict[str, Any]:
    """The archive, unpacked: JSON read, attachments as bytes."""
    file = io.BytesIO()
    takeout.write(person, file)
    with zipfile.ZipFile(file) as archive:
        assert archive.testzip() is None
        return {
            name: json.loads(archive.read(name)) if name.endswith(".json") else archive.read(name)
            for name in archive.namelist()
        }


def test_everything_of_a_person_is_in_it(db: None) -> None:
    ana = user("ana", email="ana@example.org")
    Preferences.objects.create(user=ana, language="es")
    Preset.objects.create(user=ana, name="Coach", text="Be strict.")
    files = (attachments.read("../../notes?.txt", b"squat"),)
    whole = ended(sent(ana, "How long?", files=files), reading())
    cut = sent(ana, "And then?", conversation=whole.conversation)
    Checkpoint.objects.create(generation=cut, seq=3, answer="Half")
    gone = ended(sent(ana, "Forget it"), reading())
    assert gone.conversation is not None
    conversations.delete(gone.conversation, by=ana)
    all_of_it = taken(ana)
    account = all_of_it.pop("account.json")
    assert account["format"] == takeout.FORMAT
    assert (account["account"]["username"], account["account"]["email"]) == ("ana", "ana@example.org")
    assert account["preferences"] == {"language": "es"} | account["preferences"]
    assert [(each["name"], each["text"]) for each in account["presets"]] == [("Coach", "Be strict.")]
    assert [each["id"] for each in account["generations_of_deleted_conversations"]] == [str(gone.pk)]
    told = all_of_it.pop(f"conversations/{whole.conversation_id}.json")
    question, answer, second = told["messages"]
    assert [each["kind"] for each in told["messages"]] == ["user", "answer", "user"]
    assert (answer["parent"], answer["generation"]) == (question["id"], str(whole.pk))
    assert (second["text"], second["parent"]) == ("And then?", answer["id"])
    assert [(each["state"], each["draft"] and each["draft"]["answer"]) for each in told["generations"]] == [
        ("confirmed", None),
        ("queued", "Half"),
    ]
    (place,) = question["attachments"]
    (again,) = all_of_it.pop("conversations.json")
    assert [each["text"] for each in again["messages"]] == ["How long?", "Two minutes.", "And then?"]
    assert again["messages"][0]["attachments"][0]["file"] == place
    assert "Half" not in json.dumps(again)
    assert all_of_it == {place: b"squat"}
    assert ".." not in place.replace("notes_.txt", "")


def test_what_a_model_called_is_in_it_as_long_as_it_is_kept(db: None) -> None:
    ana = user("ana")
    row, gone = (ended(sent(ana, text), asking()) for text in ("Here?", "There?"))
    assert gone.conversation is not None
    conversations.delete(gone.conversation, by=ana)
    all_of_it = taken(ana)
    (here,) = all_of_it[f"conversations/{row.conversation_id}.json"]["generations"]
    (there,) = all_of_it["account.json"]["generations_of_deleted_conversations"]
    kept = ("name", "arguments", "arguments_chars", "state", "reason")
    end = ("rejected", "unexpected_tool_call")
    assert [[call[name] for name in kept] for call in here["tool_calls"]] == [
        ["find_gym", '{"near": "home"}', 16, *end]
    ]
    assert [[call[name] for name in kept] for call in there["tool_calls"]] == [["find_gym", "", 16, *end]]


def test_nothing_of_another_and_no_secret_is_in_it(db: None) -> None:
    ana, eva = user("ana"), user("eva")
    ended(sent(eva, "Eva's secret"), reading())
    mine = ended(sent(ana, "Mine", session_key="0123456789"), reading())
    Message.objects.filter(generation=mine).update(carry='["signature"]')
    text = json.dumps(taken(ana))
    assert "Mine" in text
    for secret in ("Eva", "signature", "carry", "password", '"session"', "fence", "owner", "lease"):
        assert secret not in text, secret


def test_who_has_nothing_gets_that(db: None) -> None:
    assert taken(user("ana"))["conversations.json"] == []


def tree(owner: User) -> list[tuple[Any, ...]]:
    """Every conversation as a tree of what is said, by the texts alone, with what is shown and what went along."""
    found: list[tuple[Any, ...]] = []
    for conversation in Conversation.objects.owned_by(owner).order_by("created"):
        rows = conversation.messages.order_by("created", "pk").select_related("parent")
        assert conversation.head is not None
        found.append(
            (
                conversation.title,
                bool(conversation.archived),
                conversation.head.text,
                [(each.kind, each.text, each.parent and each.parent.text, each.created) for each in rows],
                [
                    (each.message.text, each.name, each.text, bytes(each.data or b""))
                    for each in Attachment.objects.filter(message__in=rows).order_by("message__text", "name")
                ],
            )
        )
    return found


def test_the_archive_comes_back_into_another_account(db: None, tmp_path: Path, settings: Settings) -> None:
    """As it is, without being unpacked: every message on its branch, with its files, and nothing twice."""
    settings.DATA = tmp_path
    ana, eva = user("ana"), user("eva")
    files = (attachments.read("plan.txt", b"squat"), attachments.read("me.png", PICTURE))
    whole = ended(sent(ana, "How long?", files=files), reading())
    assert whole.parent is not None
    other = ended(branches.edit_question(whole.parent, user=ana, text="How often?"), reading("Thrice."))
    branches.edit_reply("My own.", message=Message.objects.get(generation=other))
    away = ended(sent(ana, "Another one"), reading())
    assert away.conversation is not None
    conversations.archive(away.conversation, on=True)
    file = io.BytesIO()
    takeout.write(ana, file)

    def brought(owner: User) -> tuple[str, int, int, int, dict[str, int]]:
        row = runs.begin(owner, "gymnasia.zip", [file.getvalue()])
        runs.run(row.pk)
        row.refresh_from_db()
        return row.fault, row.came, row.already, row.refused, row.left_out

    assert brought(ana) == ("", 0, 2, 0, {})  # it never went
    assert brought(eva) == ("", 2, 0, 0, {})
    assert tree(eva) == tree(ana)
    assert len(tree(eva)[0][3]) == 5
    assert brought(eva) == ("", 0, 2, 0, {})
    assert {each.kind for each in Message.objects.filter(generation=None)} == {"user", "answer", "edited"}
