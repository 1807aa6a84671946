"""Our own export comes back, as imported messages."""

import datetime as dt
import json
from collections import Counter
from typing import Any

import pytest

from chat import attachments, exporting
from chat.importing import own
from chat.importing.shape import File, NotReadable
from tests.importing.files import ours
from tests.rows import conversation_of, ended, person, reading, sent

NOW = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


@pytest.mark.django_db
def test_what_we_write_we_read() -> None:
    """The same tree and texts; the answer's model is kept, its generation is not."""
    row = sent(person(), "One?", files=[attachments.read("notes.txt", b"n")])
    row = ended(sent(person("eva"), "Two?", files=[attachments.read("a.txt", b"n")]), reading("Fine."))
    value = json.loads(exporting.as_json(conversation_of(row)))
    talk = own.read(value, now=NOW)
    assert talk.source == f"gymnasia:{row.conversation_id}"
    assert talk.head == talk.messages[1].key
    assert [(m.is_question, m.text, m.model, m.files) for m in talk.messages] == [
        (True, "Two?", "", (File("a.txt", b"n"),)),
        (False, "Fine.", "scripted-1", ()),
    ]


def message(**more: Any) -> dict[str, Any]:
    return {"id": "q", "parent": None, "kind": "user", "text": "x"} | more


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"version": 2}, "version"),
        ({"version": None}, "version"),
        ({"id": ""}, "no_id"),
        ({"id": "x" * 200}, "no_id"),
        ({"id": 7}, "wrong_type"),
        ({"messages": {}}, "wrong_type"),
        ({"messages": [7]}, "wrong_type"),
        ({"messages": [message(kind="call")], "head": None}, "wrong_type"),
        ({"messages": [message(text=None)], "head": None}, "wrong_type"),
        ({"messages": [message(), message()], "head": None}, "id_twice"),
        ({"messages": [message(parent="z")], "head": None}, "parent_missing"),
        ({"messages": [message(parent="p"), message(id="p", parent="q")], "head": None}, "ring"),
        ({"head": "z"}, "parent_missing"),
        ({"head": ["q"]}, "wrong_type"),
        ({"messages": [message(text="a\x00")], "head": None}, "nul"),
        ({"messages": [message(attachments=[{"name": 7}])], "head": None}, "wrong_type"),
        ({"generations": [[]]}, "wrong_type"),
    ],
)
def test_a_hostile_document_is_refused_whole(change: dict[str, Any], why: str) -> None:
    with pytest.raises(NotReadable) as caught:
        own.read(ours(**change), now=NOW)
    assert caught.value.why == why


def test_what_a_person_made_of_an_answer_stays_theirs() -> None:
    value = ours(messages=[message(), message(id="e", parent="q", kind="edited", text="Mine.")], head="e")
    assert [(m.is_question, m.is_edited, m.text) for m in own.read(value, now=NOW).messages] == [
        (True, False, "x"),
        (False, True, "Mine."),
    ]


def test_a_file_that_cannot_be_read_is_left_out() -> None:
    value = ours(messages=[message(attachments=[{"name": "x", "base64": "!!"}])], head=None)
    talk = own.read(value, now=NOW)
    assert (talk.messages[0].files, talk.left_out) == ((), Counter({"file": 1}))
