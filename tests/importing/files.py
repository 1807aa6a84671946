"""Conversations as the files of two products hold them, in a few words."""

from typing import Any

T0 = 1_700_000_000.0


def node(key: str, parent: str | None, role: str = "", text: str = "", **more: Any) -> dict[str, Any]:
    """A node of ChatGPT's mapping; without a role, the empty one at the root. `more` changes the message."""
    message = None
    if role:
        message = {
            "id": key,
            "author": {"role": role, "name": None, "metadata": {}},
            "create_time": T0 + int("".join(filter(str.isdigit, key)) or 0),
            "content": {"content_type": "text", "parts": [text]},
            "status": "finished_successfully",
            "metadata": {"model_slug": "gpt-4o"} if role == "assistant" else {},
            "recipient": "all",
        } | more
    return {"id": key, "message": message, "parent": parent, "children": []}


def chatgpt(*nodes: dict[str, Any], current: str | None = None, **more: Any) -> dict[str, Any]:
    """A conversation of `conversations.json`."""
    value: dict[str, Any] = {
        "title": "Rests",
        "create_time": T0,
        "update_time": T0 + 100,
        "mapping": {each["id"]: each for each in nodes},
        "current_node": current or nodes[-1]["id"],
        "conversation_id": "c-1",
        "is_archived": False,
    }
    return value | more


def plain(**more: Any) -> dict[str, Any]:
    """One question, one answer."""
    return chatgpt(
        node("r", None), node("q1", "r", "user", "How long?"), node("a2", "q1", "assistant", "Two."), **more
    )


def ours(**more: Any) -> dict[str, Any]:
    """A conversation of our own export."""
    value: dict[str, Any] = {
        "format": "gymnasia.conversation",
        "version": 1,
        "id": "11111111-1111-1111-1111-111111111111",
        "title": "Rests",
        "created": "2025-01-02T03:04:05+00:00",
        "updated": "2025-01-03T03:04:05+00:00",
        "head": "a",
        "messages": [
            {"id": "q", "parent": None, "kind": "user", "text": "How long?"},
            {"id": "a", "parent": "q", "kind": "answer", "text": "Two.", "generation": "g"},
        ],
        "generations": [{"id": "g", "model": "some-model"}],
    }
    return value | more
