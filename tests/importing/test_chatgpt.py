"""ChatGPT's tree becomes ours: every branch, in turn, and only what was whole."""

import datetime as dt
from collections import Counter
from typing import Any

import pytest

from chat.importing import chatgpt
from chat.importing.shape import NotReadable
from tests.importing.files import T0, node, plain
from tests.importing.files import chatgpt as talk

NOW = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


def said(value: dict[str, Any]) -> list[tuple[str, str | None, bool, str]]:
    return [
        (each.key, each.parent, each.is_question, each.text) for each in chatgpt.read(value, now=NOW).messages
    ]


def test_a_plain_conversation() -> None:
    read = chatgpt.read(plain(is_archived=True), now=NOW)
    assert (read.source, read.title, read.head, read.is_archived) == ("chatgpt:c-1", "Rests", "a2", True)
    assert (read.created.timestamp(), read.updated.timestamp()) == (T0, T0 + 100)
    assert [
        (m.key, m.parent, m.is_question, m.text, m.model, m.created.timestamp()) for m in read.messages
    ] == [
        ("q1", None, True, "How long?", "", T0 + 1),
        ("a2", "q1", False, "Two.", "gpt-4o", T0 + 2),
    ]
    assert read.left_out == Counter()


def test_every_branch_comes_and_the_shown_one_is_the_head() -> None:
    """An edited question and a second answer are branches."""
    value = talk(
        node("r", None),
        node("q1", "r", "user", "How long?"),
        node("a2", "q1", "assistant", "Two."),
        node("a3", "q1", "assistant", "Three."),
        node("q4", "r", "user", "How short?"),
        node("a5", "q4", "assistant", "One."),
        node("q6", "a3", "user", "Why?"),
        current="q6",
    )
    assert sorted(said(value)) == [
        ("a2", "q1", False, "Two."),
        ("a3", "q1", False, "Three."),
        ("a5", "q4", False, "One."),
        ("q1", None, True, "How long?"),
        ("q4", None, True, "How short?"),
        ("q6", "a3", True, "Why?"),
    ]
    assert chatgpt.read(value, now=NOW).head == "q6"


def test_what_stands_around_a_tool_is_one_answer() -> None:
    """System, tool calls, tool results and reasoning are left out and counted; who came after them is not orphaned."""
    value = talk(
        node("r", None),
        node("s0", "r", "system", "Be nice."),
        node("q1", "s0", "user", "Weather?"),
        node("t2", "q1", "assistant", "", content={"content_type": "thoughts", "thoughts": []}),
        node("a3", "t2", "assistant", "Let me look."),
        node(
            "c4", "a3", "assistant", "go()", content={"content_type": "code", "text": "go()"}, recipient="web"
        ),
        node("t5", "c4", "tool", "raw"),
        node("a6", "t5", "assistant", "Sunny."),
        node("q7", "a6", "user", "Thanks"),
        current="t5",
    )
    assert said(value) == [
        ("q1", None, True, "Weather?"),
        ("a6", "q1", False, "Let me look.\n\nSunny."),
        ("q7", "a6", True, "Thanks"),
    ]
    read = chatgpt.read(value, now=NOW)
    assert read.left_out == Counter({"system": 1, "reasoning": 1, "tool": 2})
    assert read.head == "a6"


@pytest.mark.parametrize(
    "change",
    [
        {"status": "in_progress"},
        {"status": "finished_partial_completion"},
        {"metadata": {"finish_details": {"type": "interrupted"}}},
        {"metadata": {"finish_details": {"type": "max_tokens"}}},
    ],
)
def test_an_answer_that_was_not_whole_there_is_none_here(change: dict[str, Any]) -> None:
    """The promise holds for what comes from elsewhere, as far as the file tells."""
    value = talk(
        node("q1", None, "user", "How long?"),
        node("a2", "q1", "assistant", "Tw", **change),
        node("q3", "a2", "user", "Go on"),
    )
    assert said(value) == [("q1", None, True, "How long?"), ("q3", "q1", True, "Go on")]
    assert chatgpt.read(value, now=NOW).left_out == Counter({"unfinished": 1})


@pytest.mark.parametrize(
    ("content", "text", "left_out"),
    [
        ({"content_type": "multimodal_text", "parts": [{"asset_pointer": "x"}, "Look"]}, "Look", {}),
        ({"content_type": "multimodal_text", "parts": [{"asset_pointer": "x"}]}, None, {"picture": 1}),
        (
            {
                "content_type": "multimodal_text",
                "parts": [{"content_type": "audio_transcription", "text": "Hi"}],
            },
            "Hi",
            {},
        ),
        ({"content_type": "text", "parts": ["One", "", "Two"]}, "One\n\nTwo", {}),
        ({"content_type": "text", "parts": ["\u200b"]}, None, {"hidden": 1}),
        ({"content_type": "user_editable_context"}, None, {"hidden": 1}),
    ],
)
def test_kinds_of_content(content: dict[str, Any], text: str | None, left_out: dict[str, int]) -> None:
    read = chatgpt.read(talk(node("q1", None, "user", content=content)), now=NOW)
    assert [each.text for each in read.messages] == ([text] if text else [])
    assert read.left_out == Counter(left_out)


def test_what_the_person_never_saw_stays_away() -> None:
    hidden = {"metadata": {"is_visually_hidden_from_conversation": True}}
    value = talk(node("q1", None, "user", "secret", **hidden), node("a2", "q1", "assistant", "Hello."))
    assert said(value) == []
    assert chatgpt.read(value, now=NOW).left_out == Counter({"hidden": 1, "before_question": 1})


def test_one_without_an_id_is_known_by_its_content() -> None:
    """A second import of the same file must not bring it twice, and another conversation must not pass for it."""
    first, again, other = (
        chatgpt.read(value, now=NOW).source
        for value in (
            plain(conversation_id=None),
            plain(conversation_id=None),
            plain(conversation_id=None, create_time=5),
        )
    )
    assert (first == again, first == other, first.startswith("chatgpt:content-")) == (True, False, True)


def ring() -> dict[str, Any]:
    return talk(node("a", "b", "user", "x"), node("b", "a", "user", "y"))


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (ring(), "ring"),
        (plain(conversation_id=7), "no_id"),
        (plain(mapping=[]), "wrong_type"),
        (plain(mapping={"a": 7}), "wrong_type"),
        (plain(mapping={"a": {"message": 7}}), "wrong_type"),
        (plain(mapping={"a": {"message": {"author": "me", "content": {}}}}), "wrong_type"),
        (plain(mapping={"a": {"parent": ["b"]}}), "wrong_type"),
        (plain(title=["x"]), "wrong_type"),
        (talk(node("q1", None, "user", content={"content_type": "text", "parts": "abc"})), "wrong_type"),
        (talk(node("q1", None, "user", "a\x00b")), "nul"),
        (plain(mapping={str(n): {} for n in range(40_001)}), "too_many_messages"),
        (
            talk(
                node("q0", None, "user", "x"),
                *(node(f"a{n}", f"a{n - 1}" if n > 1 else "q0", "assistant", "y") for n in range(1, 300)),
            ),
            "too_many_messages",
        ),
    ],
)
def test_a_hostile_conversation_is_refused_whole(value: dict[str, Any], why: str) -> None:
    with pytest.raises(NotReadable) as caught:
        chatgpt.read(value, now=NOW)
    assert caught.value.why == why


@pytest.mark.parametrize(
    "time", [None, "yesterday", float("nan"), float("inf"), -5, 1e300, True, [], "9" * 100]
)
def test_a_time_that_is_none_is_the_conversations(time: Any) -> None:
    value = talk(node("q1", None, "user", "x", create_time=time))
    assert chatgpt.read(value, now=NOW).messages[0].created.timestamp() == T0


def test_half_a_surrogate_becomes_the_sign_for_what_cannot_be_read() -> None:
    assert said(talk(node("q1", None, "user", "a\ud83dé")))[0][3] == "a\ufffdé"


def test_a_deep_tree_is_no_danger() -> None:
    nodes = [node(f"q{n}", f"q{n - 1}" if n else None, "user", str(n)) for n in range(5000)]
    assert len(said(talk(*nodes))) == 5000
