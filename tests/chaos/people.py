"""What people do with versions and whole conversations, on top of `domain.py`: edit, ask anew, go on, switch, delete, undo.

Takes the rules of generations and adds its own; says what must hold of the tree, of its head, and of what search finds.
"""

import datetime as dt
from typing import Any
from uuid import UUID

from django.db.models import F
from django.utils import timezone
from hypothesis import strategies as st
from hypothesis.stateful import invariant, multiple, precondition, rule

from chat import branches, conversations, retention, search
from chat.generations import Busy, Rejected
from chat.models import Checkpoint, Conversation, Generation, IndexRow, Message
from chat.states.generation import GENERATION
from tests.chaos.domain import Domain

ANY = st.integers(0, 99)


class People(Domain):
    """Messages are drawn by their place among those that there are, for they come and go."""

    def __init__(self) -> None:
        super().__init__()
        self.discarded = False
        self.searched: object = None

    def one(self, which: int) -> Message | None:
        found = list(Message.objects.select_related("conversation").order_by("created", "pk"))
        return found[which % len(found)] if found else None

    @rule(target=Domain.rows, which=ANY)
    def edit_question(self, which: int) -> Any:
        old = self.one(which)
        if old is None:
            return multiple()
        busy = Generation.objects.unfinished().filter(conversation=old.conversation).exists()
        try:
            row = branches.edit_question(old, user=self.ana, text=self.text("question"))
        except Busy:
            assert busy
            return multiple()
        except Rejected:
            assert old.kind != "user" or old.conversation.deleted is not None
            return multiple()
        assert (busy, old.kind, old.conversation.deleted) == (False, "user", None)
        assert row.parent is not None
        assert row.parent.parent_id == old.parent_id
        assert Message.objects.get(pk=old.pk).text == old.text
        assert Conversation.objects.get(pk=old.conversation_id).head_id == row.parent_id
        return row.pk

    @rule(which=ANY)
    def edit_reply(self, which: int) -> None:
        old = self.one(which)
        if old is None:
            return
        try:
            own = branches.edit_reply(self.text("edit"), message=old)
        except Rejected:
            assert old.kind == "user" or old.conversation.deleted is not None
            return
        assert old.kind != "user"
        assert (own.kind, own.parent_id, own.generation_id) == ("edited", old.parent_id, None)
        assert Message.objects.get(pk=old.pk).text == old.text

    @rule(row=Domain.rows)
    def edit_draft(self, row: UUID) -> None:
        old = Generation.objects.get(pk=row)
        try:
            own = branches.edit_reply(self.text("edit"), generation=old)
        except Rejected:
            gone = old.conversation is None or old.conversation.deleted is not None or old.parent_id is None
            assert gone or old.state not in GENERATION.finals
            return
        assert old.state in GENERATION.finals
        assert (own.kind, own.parent_id, own.based_on_id) == ("edited", old.parent_id, row)

    @rule(target=Domain.rows, row=Domain.rows)
    def go_on(self, row: UUID) -> Any:
        old = Generation.objects.get(pk=row)
        try:
            new = branches.go_on(old, user=self.ana)
        except (Busy, Rejected):
            return multiple()
        assert (old.state, old.reason in branches.LIMITS) == ("incomplete", True)
        assert (new.continues_id, new.parent_id, new.model) == (row, old.parent_id, old.model)
        return new.pk

    @rule(which=ANY, unanswered=st.booleans())
    def switch(self, which: int, *, unanswered: bool) -> None:
        to = self.one(which)
        if to is None:
            return
        try:
            branches.switch(to, unanswered=unanswered and to.kind == "user")
        except Rejected:
            assert to.conversation.deleted is not None
            return
        head = Conversation.objects.get(pk=to.conversation_id).head_id
        assert head in self.below(to.pk)

    @rule(which=ANY)
    def delete_version(self, which: int) -> None:
        """It goes with all that follows on it, and with nothing else."""
        old = self.one(which)
        if old is None:
            return
        gone = self.below(old.pk)
        answers = Message.objects.filter(pk__in=gone).exclude(generation=None)
        taken = set(answers.values_list("generation_id", flat=True))
        before = set(Message.objects.values_list("pk", flat=True))
        try:
            branches.delete(old, by=self.ana)
        except Rejected:
            assert old.conversation.deleted is not None
            return
        self.taken |= taken
        assert set(Message.objects.values_list("pk", flat=True)) == before - gone

    @rule(talk=Domain.talks)
    def discard(self, talk: UUID) -> None:
        found = Conversation.objects.filter(pk=talk).first()
        if found is not None:
            conversations.discard(found, by=self.ana)
            self.discarded = True
            assert Conversation.objects.get(pk=talk).deleted is not None

    @rule(talk=Domain.talks)
    def undo(self, talk: UUID) -> None:
        found = Conversation.objects.filter(pk=talk).first()
        if found is not None:
            assert conversations.restore(found) == (found.deleted is not None)

    @precondition(lambda self: self.discarded)
    @rule()
    def purge(self) -> None:
        """The time to bring them back is over."""
        Conversation.objects.exclude(deleted=None).update(deleted=timezone.now() - dt.timedelta(days=400))
        lying = Conversation.objects.exclude(deleted=None).count()
        assert retention.purge() == lying
        assert not Conversation.objects.exclude(deleted=None).exists()
        self.discarded = False

    def below(self, start: UUID) -> set[UUID]:
        """A message with all that follows on it, found here by a way of its own."""
        found, edge = {start}, {start}
        while edge:
            edge = set(Message.objects.filter(parent_id__in=edge).values_list("pk", flat=True))
            found |= edge
        return found

    @invariant()
    def the_head_is_a_message_of_its_conversation(self) -> None:
        for talk in Conversation.objects.select_related("head"):
            stands = Message.objects.filter(conversation=talk).exists()
            assert (talk.head is not None) == stands
            assert talk.head is None or talk.head.conversation_id == talk.pk
        astray = Message.objects.exclude(parent=None).exclude(parent__conversation=F("conversation"))
        assert not astray.exists()

    @invariant()
    def only_answers_are_of_a_generation(self) -> None:
        assert not Message.objects.exclude(kind="answer").exclude(generation=None).exists()
        assert not Message.objects.filter(kind="answer", generation=None).exists()
        assert not Checkpoint.objects.filter(generation__parent=None).exists()
        assert not Generation.objects.unfinished().exclude(conversation__deleted=None).exists()

    @invariant()
    def search_finds_what_there_is(self) -> None:
        """Every message by its whole text, and nothing that is a draft, unconfirmed, or deleted."""
        told = set(Message.objects.values_list("pk", "text", "generation__state", "conversation__deleted"))
        now = told, set(IndexRow.objects.values_list("message_id", "folded"))
        if now == self.searched:
            return  # nothing that search looks at has changed since
        self.searched = now
        found: list[tuple[UUID, str]] = []
        page, more = 1, True
        while more:
            some = search.find(self.ana, "mark", page=page)
            found += [(hit.message_id, "".join(piece.text for piece in hit.excerpt)) for hit in some.hits]
            page, more = page + 1, some.is_more
        there = Message.objects.filter(conversation__deleted=None).values_list("pk", "text")
        assert sorted(found) == sorted(there)
        assert search.find(self.ana, "Two").hits == []
