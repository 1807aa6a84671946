"""Short stories on top of `people.py`, each a few steps that chance alone seldom puts in a row: going on after a limit, two
runners and one reply, a deletion while it is written, an end that is written twice.

Takes rows that wait and gives rows and jobs to the other rules, which go on with them in any order. Says what is sent to a
model, and counts what the machine has reached.
"""

import datetime as dt
from collections import Counter
from typing import Any, ClassVar
from uuid import UUID

from django.utils import timezone
from hypothesis import strategies as st
from hypothesis.stateful import invariant, multiple, rule

from chat import branches, conversations, drafts, generations, running
from chat.drafts import Save
from chat.models import Checkpoint, Conversation, Generation, Message
from chat.providers.base import Turn
from chat.running import Job
from chat.states.generation import GENERATION, State
from chat.streaming.frames import Snapshot
from chat.streaming.outcome import Reason
from tests.chaos.domain import OWNERS
from tests.chaos.people import People
from tests.rows import cut, reading

REACHED = Counter[str]()
"""How often each end, and each end of a story, was met, over all runs of the machine in this process."""
EVERYTHING = frozenset(
    {
        *map(str, GENERATION.finals),
        "went on",
        "went on again",
        "taken over",
        "deleted under it",
        "written twice",
    }
)


class Stories(People):
    """Everything: what runners, people and the clock do one by one, and what they do in a row."""

    rows = People.rows
    jobs = People.jobs
    DRAFT: ClassVar = "Half of "

    # --- what begins them ---------------------------------------------------------------------------------------------
    def under_way(self, row: UUID, owner: str, *, background: bool = False) -> Job | None:
        """The job of a reply whose draft is shown and saved; None where nobody may run it."""
        job = running.claim(row, owner=owner)
        if job is None:
            return None
        self.is_sent_what_it_should_be(job)
        self.open(job)
        self.first_delta(job)
        if job.generation.state == State.buffered:
            drafts.save([Save(row, job.generation.fence, self.shown(job, 1))])
        if background:
            running.note_response(job, "resp_1")
        return job

    def shown(self, job: Job, seq: int) -> Snapshot:
        return Snapshot(job.generation.number, seq, self.DRAFT, "", "")

    def is_sent_what_it_should_be(self, job: Job) -> None:
        """The messages of its branch, and no other text; after a limit its own drafts, as its own words."""
        said: list[str] = []
        at = job.generation.parent
        while at is not None:
            said.insert(0, at.text)
            at = Message.objects.get(pk=at.parent_id) if at.parent_id else None
        parts = ""
        before = job.generation.continues_id
        while before is not None:
            kept = Checkpoint.objects.filter(pk=before).values_list("answer", flat=True).first() or ""
            parts = kept + parts
            before = Generation.objects.filter(pk=before).values_list("continues_id", flat=True).get()
        own = [Turn("assistant", parts), Turn("user", branches.GO_ON)] if parts else []
        turns = job.prompt.turns
        assert [turn.text for turn in turns[: len(said)]] == said
        assert turns[len(said) :] == own

    # --- the stories --------------------------------------------------------------------------------------------------
    @rule(target=rows, row=rows, owner=OWNERS, reason=st.sampled_from([*branches.LIMITS]))
    def come_to_a_limit_and_go_on(self, row: UUID, owner: str, reason: Reason) -> Any:
        """It is a new generation, its branch is looked at, and the limited one stays as it ended."""
        job = self.under_way(row, owner)
        if job is None or job.generation.state != State.buffered:
            return multiple()
        ended = running.end(job, cut(reason), self.shown(job, 2)).generation
        assert (ended.state, ended.reason) == (State.incomplete, reason)
        try:
            new = branches.go_on(ended, user=self.ana)
        except generations.Rejected:
            assert ended.conversation is None or ended.conversation.deleted is not None
            return multiple()
        assert (new.continues_id, new.retry_of_id, new.state) == (row, None, State.queued)
        assert new.conversation is not None
        assert new.conversation.head_id == ended.parent_id
        REACHED["went on again" if ended.continues_id else "went on"] += 1
        return new.pk

    @rule(target=jobs, row=rows)
    def take_over(self, row: UUID) -> Any:
        """The first runner is frozen past its lease; the second goes on with the same generation from what was saved, and
        the first one's fence is old, whatever its memory says."""
        first = self.under_way(row, "runner-1", background=True)
        if first is None or first.generation.state != State.buffered:
            return multiple()
        assert running.claim(row, owner="runner-2") is None
        Generation.objects.filter(pk=row).update(lease_until=timezone.now() - dt.timedelta(seconds=1))
        second = running.claim(row, owner="runner-2")
        if second is None:
            return first  # it has grown too old meanwhile, or its person is gone
        assert second.generation.fence == first.generation.fence + 1
        assert second.saved == self.shown(first, 1)
        with self.walled(first) as wall:
            drafts.save([Save(row, first.generation.fence, self.shown(first, 9))])
            running.end(first, reading(self.text("stale")), self.shown(first, 9))
            running.wind_down(first, cut(), self.shown(first, 9))
            running.release(first, self.shown(first, 9))
        assert wall.foreign
        assert drafts.snapshot(Generation.objects.get(pk=row)) == self.shown(first, 1)
        REACHED["taken over"] += 1
        return multiple(first, second)

    @rule(target=jobs, row=rows, owner=OWNERS, how=st.sampled_from(["message", "discard", "delete"]))
    def delete_while_it_is_written(self, row: UUID, owner: str, how: str) -> Any:
        """It is cancelled with what is deleted, and what its provider says afterwards, however whole, is no answer."""
        job = self.under_way(row, owner)
        if job is None or job.generation.state != State.buffered:
            return multiple()
        talk = Conversation.objects.get(pk=job.conversation_id)
        if how == "message":
            at = job.generation.parent
            assert at is not None
            gone = Message.objects.filter(pk__in=self.below(at.pk)).exclude(generation=None)
            self.taken |= set(gone.values_list("generation_id", flat=True))
            branches.delete(at, by=self.ana)
        elif how == "discard":
            conversations.discard(talk, by=self.ana)
            self.discarded = True
        else:
            conversations.delete(talk, by=self.ana)
        now = Generation.objects.get(pk=row)
        assert (now.state, now.reason) == (State.cancelled, Reason.deleted)
        with self.walled(job) as wall:
            running.end(job, reading(self.text("late")), self.shown(job, 9))
        assert wall.stale
        assert not Message.objects.filter(generation=row).exists()
        assert not Checkpoint.objects.filter(pk=row, generation__parent=None).exists()
        REACHED["deleted under it"] += 1
        return job

    @rule(row=rows, owner=OWNERS)
    def write_its_end_twice(self, row: UUID, owner: str) -> None:
        """The database stored it and broke before it said so."""
        job = self.under_way(row, owner)
        if job is None or job.generation.state != State.buffered:
            return
        found = reading(self.text("reply"))
        self.said[row].add(found.answer)
        for _ in range(2):
            assert running.end(job, found, self.shown(job, 2)).generation.state == State.confirmed
        REACHED["written twice"] += 1

    # --- what must hold -----------------------------------------------------------------------------------------------
    @invariant()
    def ends_are_counted(self) -> None:
        for row, state in self.ends.items():
            if row not in self.counted:
                self.counted.add(row)
                REACHED[state] += 1

    def __init__(self) -> None:
        super().__init__()
        self.counted: set[UUID] = set()
