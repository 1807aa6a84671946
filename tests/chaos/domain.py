"""Generations under any order of events: people, two runners, crashes and the reaper, by the product's own verbs.

Hypothesis draws the order (`test_machine.py`); after each step everything that the database holds is looked at.
What must hold whatever happens: one final state, a journal that replays to its row, a message if and only if its
generation is confirmed.
"""

import datetime as dt
from collections import Counter, defaultdict
from typing import Any, Self
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
)

from chat import conversations, drafts, generations, running
from chat.drafts import Save
from chat.generations import Busy, Rejected
from chat.models import Checkpoint, Conversation, Generation, JournalRow, Message, ToolCall
from chat.running import Job
from chat.states.generation import GENERATION, State, Trigger
from chat.streaming.frames import Snapshot
from chat.streaming.outcome import Outcome, Reason
from chat.streaming.reading import Reading
from tests.rows import WHOLE_CALL, cut, person, reading, sent

OWNERS = st.sampled_from(["runner-1", "runner-2"])
WHOLE: dict[str, dict[str, Any]] = {
    "whole": {},
    "empty": {"answer": " "},
    "divergent": {"divergence": "another text"},
    "unasked call": {"outcome": Outcome.tool_requested, "tool_calls": [WHOLE_CALL]},
}
SHORT: dict[str, Reading] = {
    "truncated": cut(),
    "lost": cut(Reason.connection_lost),
    "stalled": cut(Reason.stalled),
    "limit": cut(Reason.max_tokens),
    "refused": reading("", Outcome.refused, reason=Reason.refusal, refusal="No."),
    "failed for now": reading("", Outcome.failed, reason=Reason.provider_error, retryable=True),
    "failed": reading("", Outcome.failed, reason=Reason.unauthorized, retryable=False),
}
STATIC = ("state", "version", "fence", "owner", "reason", "ended_at", "confirmed_at", "cancel_requested_at")
"""What a runner that has lost its lease may not change; `late` counts, and that is no change."""


class Domain(RuleBasedStateMachine):
    """One person; conversations; runners that keep their jobs in memory, however stale these have become."""

    rows: Bundle[UUID] = Bundle("rows")
    jobs: Bundle[Job] = Bundle("jobs")
    talks: Bundle[UUID] = Bundle("talks")

    def __init__(self) -> None:
        super().__init__()
        self._example = transaction.atomic()
        self._example.__enter__()
        self.ana = person()
        self.ends: dict[UUID, str] = {}
        self.fences: dict[UUID, int] = {}
        self.said: dict[UUID, set[str]] = defaultdict(set)
        self.taken: set[UUID] = set()  # generations whose answers were taken away, for whatever reason
        self.texts = self.begun = 0

    def teardown(self) -> None:
        transaction.set_rollback(True)
        self._example.__exit__(None, None, None)

    def text(self, kind: str) -> str:
        """One of its own, with the word that all have and that is looked for."""
        self.texts += 1
        return f"mark {kind} {self.texts}."

    # --- what people do -------------------------------------------------------------------------------------------
    @initialize(target=rows)
    def begin(self) -> Any:
        """Something to happen to: without it half of all steps would find nothing."""
        return self.begin_another()

    @precondition(lambda self: self.begun < 2)  # few conversations, so that much happens to each
    @rule(target=rows)
    def begin_another(self) -> Any:
        """A new conversation; what is busy elsewhere does not matter."""
        self.begun += 1
        return sent(self.ana, self.text("question")).pk

    @rule(target=talks, row=rows)
    def enter(self, row: UUID) -> Any:
        """Open the conversation of a reply, if it still exists."""
        found = Generation.objects.get(pk=row).conversation_id
        return multiple() if found is None else found

    @rule(target=rows, talk=talks)
    def ask(self, talk: UUID) -> Any:
        """Go on in a conversation: exactly where nothing is being written in it."""
        conversation = Conversation.objects.filter(pk=talk).first()
        if conversation is None:
            return multiple()
        busy = Generation.objects.unfinished().filter(conversation=conversation).exists()
        before = Message.objects.count()
        try:
            row = sent(self.ana, self.text("question"), conversation=conversation)
        except Rejected:
            assert (conversation.deleted is not None, Message.objects.count()) == (True, before)
            return multiple()
        except Busy:
            assert (busy, Message.objects.count()) == (True, before)
            return multiple()
        assert (busy, conversation.deleted, Message.objects.count()) == (False, None, before + 1)
        return row.pk

    @rule(target=rows, row=rows)
    def retry(self, row: UUID) -> Any:
        old = Generation.objects.get(pk=row)
        try:
            new = generations.retry(old, user=self.ana)
        except (Busy, Rejected):
            return multiple()
        assert old.state in GENERATION.finals
        if (
            old.state == State.confirmed
        ):  # another answer beside the one that there is, and no attempt to mend it
            assert (new.attempt, new.retry_of_id, new.parent_id) == (1, None, old.parent_id)
        else:
            assert (new.attempt, new.retry_of_id, new.parent_id) == (old.attempt + 1, old.pk, old.parent_id)
        return new.pk

    @rule(row=rows)
    def stop(self, row: UUID) -> None:
        """From any tab, once or twice: the first one that is in time says so, and it is so."""
        old = Generation.objects.get(pk=row)
        open_ = old.state not in GENERATION.finals
        follows = Generation.objects.unfinished().filter(retry_of=old, automatic_retries__gt=0).exists()
        stopped = generations.cancel(old, by=self.ana)
        now = Generation.objects.get(pk=row)
        assert stopped == (open_ or follows)
        assert now.state == (State.cancelled if open_ else old.state)

    @rule(talk=consumes(talks))
    def delete(self, talk: UUID) -> None:
        conversation = Conversation.objects.filter(pk=talk).first()
        if conversation is not None:
            conversations.delete(conversation, by=self.ana)

    # --- what runners do ------------------------------------------------------------------------------------------
    @rule(target=jobs, row=rows, owner=OWNERS)
    def claim(self, row: UUID, owner: str) -> Any:
        before = Generation.objects.get(pk=row)
        job = running.claim(row, owner=owner)
        if job is None:
            return multiple()
        leased = before.lease_until is not None and before.lease_until > timezone.now()
        assert (leased, before.state in GENERATION.finals) == (False, False)
        assert job.generation.fence == before.fence + 1
        return job

    @rule(target=jobs, row=rows, owner=OWNERS)
    def run_to_text(self, row: UUID, owner: str) -> Any:
        """The usual beginning in one step, so that ends are reached more often."""
        job = running.claim(row, owner=owner)
        if job is None:
            return multiple()
        self.open(job)
        self.first_delta(job)
        return job

    @rule(job=jobs)
    def open(self, job: Job) -> None:
        if job.generation.state == State.queued:
            with self.walled(job):
                running.opened(job, wire="openai_chat", requests=1)

    @rule(job=jobs)
    def first_delta(self, job: Job) -> None:
        if job.generation.state == State.received:
            now = timezone.now()
            with self.walled(job):
                running.first_delta(job, first_event_at=now, first_text_at=now)

    @rule(job=jobs, seq=st.integers(1, 9))
    def save(self, job: Job, seq: int) -> None:
        row = job.generation
        with self.walled(job):
            drafts.save([Save(row.pk, row.fence, Snapshot(row.number, seq, "Two", "", ""))])

    @rule(job=jobs)
    def note_response(self, job: Job) -> None:
        """The provider can be asked to go on: another runner may take this one over."""
        with self.walled(job):
            running.note_response(job, "resp_1")

    @rule(target=rows, job=jobs, how=st.sampled_from([*WHOLE]))
    def end_whole(self, job: Job, how: str) -> Any:
        """The provider said that it is whole; the checks may say otherwise."""
        if job.generation.state == State.queued:
            return multiple()
        found = reading(**{"answer": self.text("reply"), **WHOLE[how]})
        if how == "whole":
            self.said[job.generation.pk].add(found.answer)
        return self._end(job, found)

    @rule(target=rows, job=jobs, how=st.sampled_from([*SHORT]))
    def end_short(self, job: Job, how: str) -> Any:
        """Any other end; a second time, too, after an error of the database."""
        return self._end(job, SHORT[how])

    def _end(self, job: Job, found: Reading) -> Any:
        row = job.generation
        with self.walled(job) as wall:
            ended = running.end(job, found, Snapshot(row.number, 1, "Two", "", ""))
        if ended.successor is None:
            return multiple()
        assert not wall.stale
        assert ended.successor.automatic_retries <= 2
        return ended.successor.pk

    @rule(job=jobs)
    def wind_down(self, job: Job) -> None:
        """Someone else has ended it: what is handed in moves nothing."""
        if Generation.objects.get(pk=job.generation.pk).state in GENERATION.finals:
            with self.walled(job):
                running.wind_down(job, cut(), Snapshot(job.generation.number, 1, "Two", "", ""))

    @rule(job=jobs)
    def release(self, job: Job) -> None:
        with self.walled(job):
            running.release(job, Snapshot(job.generation.number, 1, "Two", "", ""))

    @rule(owner=OWNERS)
    def renew(self, owner: str) -> None:
        running.renew(owner)

    # --- what the clock does --------------------------------------------------------------------------------------
    @rule(row=rows, found=st.booleans())
    def crash(self, row: UUID, *, found: bool) -> None:
        """Its runner is gone, or frozen: the lease runs out, and the job stays in a memory that may wake up, before the
        reaper has found it or after."""
        Generation.objects.filter(pk=row).exclude(lease_until=None).update(
            lease_until=timezone.now() - dt.timedelta(seconds=1)
        )
        if found:
            self.sweep()

    @rule(row=rows, minutes=st.sampled_from([11, 31]))
    def grow_old(self, row: UUID, minutes: int) -> None:
        Generation.objects.filter(pk=row).update(created=timezone.now() - dt.timedelta(minutes=minutes))

    @rule()
    def sweep(self) -> None:
        before = dict(Generation.objects.values_list("pk", "fence"))
        swept = generations.sweep()
        for row in swept.ended:
            assert row.state in GENERATION.finals
            # Whoever held it and wakes up has a stale fence.
            now = Generation.objects.get(pk=row.pk)
            assert (now.fence, now.owner, now.lease_until) == (before[row.pk] + 1, "", None)
        lost = Generation.objects.unfinished().leaseless(timezone.now())
        assert set(lost.values_list("pk", flat=True)) == {row.pk for row in swept.orphans}

    # --- what must hold ---------------------------------------------------------------------------------------------
    def walled(self, job: Job) -> "Wall":
        return Wall(job)

    def moves_of(self, subject: str) -> dict[UUID, list[JournalRow]]:
        journal: dict[UUID, list[JournalRow]] = defaultdict(list)
        for move in JournalRow.objects.filter(subject=subject).order_by("sequence"):
            journal[move.subject_id].append(move)
        return journal

    @invariant()
    def one_end_and_a_journal_that_leads_there(self) -> None:
        journal = self.moves_of("generation")
        rows = list(Generation.objects.all())
        assert journal.keys() <= {row.pk for row in rows}
        for row in rows:
            state = GENERATION.initial
            for number, move in enumerate(journal[row.pk], 1):
                following = GENERATION.next_state(state, Trigger(move.trigger))
                assert (move.sequence, move.from_state, move.to_state) == (number, state, following)
                assert following is not None
                state = following
            assert (row.state, row.version) == (state, len(journal[row.pk]))
            assert row.state not in (State.assembled, State.validated), (
                "seen between two moves of one transaction"
            )
            assert row.fence >= self.fences.get(row.pk, 0)
            self.fences[row.pk] = row.fence
            if row.state in GENERATION.finals:
                assert self.ends.setdefault(row.pk, row.state) == row.state
            else:
                assert row.conversation_id is not None

    @invariant()
    def a_message_if_and_only_if_confirmed(self) -> None:
        confirmed = Generation.objects.filter(state=str(State.confirmed)).exclude(conversation=None)
        answers = list(Message.objects.filter(kind="answer"))
        assert {answer.generation_id for answer in answers} == (
            set(confirmed.values_list("pk", flat=True)) - self.taken
        )
        assert len(answers) == len({answer.generation_id for answer in answers})
        for answer in answers:
            assert answer.generation is not None
            assert answer.text in self.said[answer.generation.pk]
            assert answer.parent_id == answer.generation.parent_id
        kept = Checkpoint.objects.select_related("generation")
        assert [draft.pk for draft in kept if draft.generation.state == State.confirmed] == []
        assert [draft.pk for draft in kept if draft.generation.conversation_id is None] == []

    @invariant()
    def no_call_is_ever_run(self) -> None:
        """Each whole one that a model made is written down with its reply's end, refused, and hears of nothing else; what it
        said stands as long as its conversation does."""
        journal = self.moves_of("tool_call")
        calls = list(ToolCall.objects.select_related("generation"))
        assert journal.keys() == {call.pk for call in calls}
        for call in calls:
            moves = [
                (move.sequence, move.from_state, move.trigger, move.to_state) for move in journal[call.pk]
            ]
            assert moves == [(1, "proposed", "denied", "rejected")]
            assert (call.state, call.version, call.generation.state) == ("rejected", 1, State.failed)
            assert bool(call.arguments) == (call.generation.parent_id is not None)
        refused = Generation.objects.filter(reason=str(Reason.unexpected_tool_call))
        assert set(refused.values_list("pk", flat=True)) == {call.generation_id for call in calls}

    @invariant()
    def one_reply_at_a_time(self) -> None:
        running_ = Counter(Generation.objects.unfinished().values_list("conversation_id", flat=True))
        assert [talk for talk, times in running_.items() if times > 1] == []


class Wall:
    """Around what a runner does: with a stale fence, or after the end, nothing of the row's life may change."""

    def __init__(self, job: Job) -> None:
        self.job = job

    def __enter__(self) -> Self:
        self.before = self._life()
        row = Generation.objects.get(pk=self.job.generation.pk)
        self.stale = row.fence != self.job.generation.fence or row.state in GENERATION.finals
        self.draft = self._draft()
        self.foreign = row.fence != self.job.generation.fence
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None and self.stale:
            assert self._life() == self.before
        if kind is None and self.foreign:
            assert self._draft() == self.draft

    def _life(self) -> dict[str, Any]:
        return dict(Generation.objects.filter(pk=self.job.generation.pk).values(*STATIC).get())

    def _draft(self) -> list[Any]:
        return list(Checkpoint.objects.filter(pk=self.job.generation.pk).values())
