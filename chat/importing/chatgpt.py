"""One conversation of ChatGPT's `conversations.json` as a conversation to be kept. Pure.

The file holds a `mapping` of nodes with `parent` and `children`, which is a tree with every edit and every other answer as a
branch, and `current_node`, the end of the branch that was shown. Taken are what the person wrote and what the assistant
answered to them, where the file says that it was whole; system and tool nodes, calls of tools, reasoning and pictures are
not, and are counted. Nodes that are left out hand their children on to their parent. Several assistant nodes in a row
(around a tool) are one answer, as they were one on the page.
"""

import datetime as dt
import json
from collections import Counter
from hashlib import sha256
from typing import Any, NamedTuple

from chat.importing.shape import (
    MOST_MESSAGES,
    NAME_CHARS,
    SOURCE_CHARS,
    NotReadable,
    Said,
    Talk,
    in_order,
    list_of,
    object_of,
    text_of,
    time_of,
    title_of,
)
from chat.streaming.visible import is_visible

# Tuples: what a file says in such a place may be an object, which has no hash.
_TEXTS = ("text", "multimodal_text")
# How many assistant nodes may follow each other as one answer, and how much text all answers may then come to.
MOST_IN_A_ROW = 200
MOST_CHARS = 50_000_000
_UNFINISHED = ("interrupted", "max_tokens", "length", "content_filter")


class _Node(NamedTuple):
    """A node of the mapping: what it says, if that is taken, else why not ("" where there is nothing to tell)."""

    key: str
    parent: str | None
    role: str
    text: str
    created: dt.datetime
    model: str
    left_out: str = ""


def is_theirs(value: dict[str, Any]) -> bool:
    return "mapping" in value


def read(value: dict[str, Any], *, now: dt.datetime) -> Talk:
    """Raises `NotReadable`."""
    source = value.get("conversation_id") or value.get("id") or _content_id(value)
    if not isinstance(source, str) or not source or len(source) > SOURCE_CHARS - len("chatgpt:"):
        raise NotReadable("no_id")
    created = time_of(value.get("create_time"), now)
    mapping = object_of(value.get("mapping"), "mapping")
    if len(mapping) > 2 * MOST_MESSAGES:
        raise NotReadable("too_many_messages", str(len(mapping)))
    nodes = {key: _node(key, object_of(node, "node"), created) for key, node in mapping.items()}
    left_out = Counter(node.left_out for node in nodes.values() if node.left_out)
    messages, ends = _joined(_in_order(nodes), left_out)
    current = value.get("current_node")
    return Talk(
        source=text_of(f"chatgpt:{source}", "id"),
        title=title_of(value.get("title")),
        created=created,
        updated=time_of(value.get("update_time"), created),
        messages=in_order(messages),
        head=ends.get(current) if isinstance(current, str) else None,
        is_archived=value.get("is_archived") is True,
        left_out=left_out,
    )


def _content_id(value: dict[str, Any]) -> str:
    """What stands for the id that a file leaves out: the same conversation has the same one each time."""
    content = [value.get(name) for name in ("create_time", "mapping")]
    return f"content-{sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()}"


def _node(key: str, value: dict[str, Any], created: dt.datetime) -> _Node:
    key = text_of(key, "id")
    parent = value.get("parent")
    parent = None if parent is None else text_of(parent, "parent")
    message = value.get("message")
    if message is None:
        return _Node(key, parent, "", "", created, "")
    message = object_of(message, "message")
    role = object_of(message.get("author"), "author").get("role")
    metadata = object_of(message.get("metadata") or {}, "metadata")
    content = object_of(message.get("content"), "content")
    model = metadata.get("model_slug")
    model = text_of(model, "model")[:NAME_CHARS] if isinstance(model, str) else ""
    at = time_of(message.get("create_time"), created)
    why = _why_not(role, message, metadata, content)
    text = "" if why else _text(content)
    if not why and not is_visible(text):
        why = "picture" if content.get("content_type") == "multimodal_text" else "empty"
    if why == "empty" or metadata.get("is_visually_hidden_from_conversation") is True:
        why = "hidden"
    return _Node(key, parent, role if not why and isinstance(role, str) else "", text, at, model, why)


def _why_not(role: Any, message: dict[str, Any], metadata: dict[str, Any], content: dict[str, Any]) -> str:
    """Why a node is no message of the conversation; "" where it is one."""
    if role not in ("user", "assistant"):
        return "system" if role == "system" else "tool"
    kind = content.get("content_type")
    if kind in ("thoughts", "reasoning_recap"):
        return "reasoning"
    if role == "assistant" and message.get("recipient") not in (None, "all"):
        return "tool"
    if kind not in _TEXTS:
        return "tool" if role == "assistant" else "hidden"
    if role == "assistant" and not _is_whole(message, metadata):
        return "unfinished"
    return ""


def _is_whole(message: dict[str, Any], metadata: dict[str, Any]) -> bool:
    """As far as the file says: an answer that was stopped or cut there must not be one here."""
    if message.get("status") not in (None, "finished_successfully"):
        return False
    details = metadata.get("finish_details")
    return not (isinstance(details, dict) and details.get("type") in _UNFINISHED)


def _text(content: dict[str, Any]) -> str:
    parts = list_of(content.get("parts", []), "parts")
    pieces = [text_of(part, "part") for part in parts if isinstance(part, str)]
    # What was spoken is there as its transcript.
    pieces += [
        text_of(part["text"], "part")
        for part in parts
        if isinstance(part, dict) and isinstance(part.get("text"), str)
    ]
    return "\n\n".join(piece for piece in pieces if is_visible(piece)).strip()


def _in_order(nodes: dict[str, _Node]) -> list[_Node]:
    """Every node after its parent; one whose parent is not there is a root, as in a cut export. Rings are refused."""
    children: dict[str | None, list[_Node]] = {}
    for node in nodes.values():
        children.setdefault(node.parent if node.parent in nodes else None, []).append(node)
    ordered: list[_Node] = []
    waiting = children.get(None, [])[::-1]
    while waiting:
        node = waiting.pop()
        ordered.append(node)
        waiting.extend(reversed(children.get(node.key, [])))
    if len(ordered) != len(nodes):
        raise NotReadable("ring")
    return ordered


class _Above(NamedTuple):
    """What stands over a node: the last question, and the answers since then, which its own answer goes on."""

    question: str | None
    answers: tuple[_Node, ...]

    @property
    def last(self) -> str | None:
        return self.answers[-1].key if self.answers else self.question


def _joined(ordered: list[_Node], left_out: Counter[str]) -> tuple[list[Said], dict[str, str | None]]:
    """Questions and answers in turn, and for each node of the file the message that a branch which ends there ends with."""
    above: dict[str | None, _Above] = {None: _Above(None, ())}
    goes_on: set[str] = set()
    taken: list[tuple[_Node, _Above]] = []
    for node in ordered:
        over = above.get(node.parent, above[None])
        if node.role == "user":
            taken.append((node, over))
            above[node.key] = _Above(node.key, ())
            continue
        if node.role == "assistant" and over.question is None:
            left_out["before_question"] += 1
        elif node.role == "assistant":
            taken.append((node, over))
            if over.answers:
                goes_on.add(over.answers[-1].key)
            if len(over.answers) >= MOST_IN_A_ROW:
                raise NotReadable("too_many_messages", "answers in a row")
            above[node.key] = over._replace(answers=(*over.answers, node))
            continue
        above[node.key] = over
    asked_after = {over.answers[-1].key for node, over in taken if node.role == "user" and over.answers}
    # An answer that only goes on is told as part of the longer one.
    inner = goes_on - asked_after
    said, chars = [], 0
    for node, over in taken:
        if node.key not in inner:
            said.append(_said(node, over))
            chars += len(said[-1].text)
            if chars > MOST_CHARS:
                raise NotReadable("too_long")
    ends: dict[str, str | None] = {}
    lasts = _last_of(taken, inner)
    for key, over in above.items():
        if key is not None:
            ends[key] = lasts.get(over.last, over.last) if over.last else None
    return said, ends


def _last_of(taken: list[tuple[_Node, _Above]], inner: set[str]) -> dict[str | None, str]:
    """For an answer that is only part of another: that other one."""
    lasts: dict[str | None, str] = {}
    for node, over in reversed(taken):
        if node.role == "assistant" and over.answers and over.answers[-1].key in inner:
            lasts[over.answers[-1].key] = lasts.get(node.key, node.key)
    return lasts


def _said(node: _Node, over: _Above) -> Said:
    if node.role == "user":
        return Said(node.key, over.last, True, node.text, node.created)
    text = "\n\n".join(each.text for each in (*over.answers, node))
    return Said(node.key, over.question, False, text, node.created, node.model)
