"""What a person takes along: all of theirs, nothing of another, and no secret."""

import io
import json
import zipfile
from typing import Any

from django.contrib.auth.models import User

from chat import attachments, conversations, takeout
from chat.models import Checkpoint, Message, Preferences, Preset
from tests.rows import ended, reading, sent
from tests.visitors import user


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
    assert all_of_it == {place: b"squat"}
    assert ".." not in place.replace("notes_.txt", "")


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
    assert list(taken(user("ana"))) == ["account.json"]
