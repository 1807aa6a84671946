"""A conversation as the tree that it is: which messages stand where, which branch is active, where a branch was left.

Takes a conversation; gives the outline of its whole tree (ids, no texts) in one query, the messages of its active branch,
and every message with its text. Only `move_head` writes. It knows no verb and no page.
"""

import datetime as dt
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from uuid import UUID

from django.db.models import F, Prefetch, QuerySet

from chat.models import Attachment, Conversation, Message, MessageKind

FIELDS = ("pk", "parent_id", "kind", "headed", "generation_id", "created")


class Node(NamedTuple):
    """A message without its text."""

    pk: UUID
    parent: UUID | None
    kind: str
    headed: int
    generation: UUID | None
    created: dt.datetime

    @property
    def is_question(self) -> bool:
        return self.kind == MessageKind.USER


class Outline:
    """The whole tree. Children stand in the order in which they came."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self.nodes: dict[UUID, Node] = {node.pk: node for node in nodes}
        self._order = {pk: place for place, pk in enumerate(self.nodes)}
        self.children: dict[UUID | None, list[Node]] = {}
        for node in self.nodes.values():
            self.children.setdefault(node.parent, []).append(node)

    def path(self, leaf: UUID | None) -> list[Node]:
        """From the first message to `leaf`; empty where there is no such message."""
        found: list[Node] = []
        at = self.nodes.get(leaf) if leaf else None
        while at is not None:
            found.append(at)
            at = self.nodes.get(at.parent) if at.parent else None
        return found[::-1]

    def questions(self, parent: UUID | None) -> list[Node]:
        """The versions of a person's message that follow on `parent`."""
        return [node for node in self.children.get(parent, []) if node.is_question]

    def replies(self, question: UUID) -> list[Node]:
        """The answers to a message, and what its person made of them."""
        return [node for node in self.children.get(question, []) if not node.is_question]

    def leaf(self, start: UUID, *, unanswered: bool = False) -> Node:
        """Where the branch through `start` was left: the message that was head last, among `start` and what follows on it;
        of those that never were, the one that came last. `unanswered` looks at a question without a reply, and what
        followed then."""
        best = self.nodes[start]
        waiting = list(self.children.get(start, []))
        if unanswered:
            waiting = self.questions(start)
            best = waiting[-1] if waiting else best
        while waiting:
            node = waiting.pop()
            if self._rank(node) > self._rank(best):
                best = node
            waiting.extend(self.children.get(node.pk, []))
        return best

    def below(self, start: UUID) -> Iterator[UUID]:
        """`start` and everything that follows on it."""
        waiting = [start]
        while waiting:
            pk = waiting.pop()
            yield pk
            waiting.extend(node.pk for node in self.children.get(pk, []))

    def _rank(self, node: Node) -> tuple[int, int]:
        return node.headed, self._order[node.pk]


def outline(conversation: Conversation) -> Outline:
    """The tree without its texts, in one query."""
    rows = Message.objects.filter(conversation=conversation).order_by("created", "pk")
    return Outline(map(Node._make, rows.values_list(*FIELDS)))


def messages(nodes: Iterable[Node]) -> list[Message]:
    """The messages of these places, in their order, with what hangs on them (plans; files without their contents)."""
    wanted = [node.pk for node in nodes]
    rows = _with_files(Message.objects.filter(pk__in=wanted)).in_bulk()
    return [rows[pk] for pk in wanted if pk in rows]


def active(conversation: Conversation) -> list[Message]:
    """The messages of the active branch, oldest first: what a page shows, an export writes and a model is sent. Messages
    only: what was not confirmed is none of them."""
    return messages(outline(conversation).path(conversation.head_id))


def whole(conversation: Conversation) -> list[Message]:
    """Every message of every branch, each after its parent."""
    return list(_with_files(Message.objects.filter(conversation=conversation)).order_by("created", "pk"))


def _with_files(rows: QuerySet[Message]) -> QuerySet[Message]:
    files = Prefetch("attachments", Attachment.objects.defer("text", "data"))
    return rows.select_related("plan").prefetch_related(files)


def move_head(conversation: Conversation, to: UUID | None) -> None:
    """Make the branch that ends in `to` the active one. The caller holds the row (`select_for_update`)."""
    conversation.head_id = to
    conversation.moves += 1
    Conversation.objects.filter(pk=conversation.pk).update(head_id=to, moves=conversation.moves)
    if to is not None:
        Message.objects.filter(pk=to).update(headed=conversation.moves)


def lead_on(answer: Message) -> bool:
    """The head goes on from a question to the reply that has just come, unless a person has gone to another branch: then
    the reply waits where it belongs. Gives whether the head moved."""
    standing = Conversation.objects.filter(pk=answer.conversation_id, head_id=answer.parent_id)
    moved = bool(standing.update(head=answer, moves=F("moves") + 1))
    moves = Conversation.objects.filter(pk=answer.conversation_id).values("moves")[:1]
    left_at = Message.objects.filter(children=answer.pk).values_list("headed", flat=True).first() or 0
    value = moves.get()["moves"] if moved else left_at
    Message.objects.filter(pk=answer.pk).update(headed=value)
    answer.headed = value
    return moved
