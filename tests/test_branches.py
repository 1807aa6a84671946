"""Editing, going on, switching and taking away: every version stays until somebody takes it away."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.contrib.auth.models import AbstractBaseUser

from chat import attachments, branches, conversations, generations, journal, running, search, tree
from chat.generations import Busy, Rejected
from chat.models import Attachment, Checkpoint, Generation, JournalRow, Message
from chat.providers.base import Turn
from chat.streaming.outcome import Reason
from tests.rows import (
    claimed,
    closing,
    conversation_of,
    cut,
    draft,
    ended,
    fresh,
    messages,
    opened,
    person,
    reading,
    sent,
)

COMMITTED = pytest.mark.django_db(transaction=True)


@pytest.fixture
def ana(db: None) -> AbstractBaseUser:
    return person()


def active(row: Generation) -> list[str]:
    """The texts of the active branch, as they are stored now."""
    return [message.text for message in tree.active(conversation_of(fresh(row)))]


def at(text: str) -> Message:
    return Message.objects.get(text=text)


# --- A person's message ---------------------------------------------------------------------------------------------
def test_an_edited_message_stands_beside_the_first(ana: AbstractBaseUser) -> None:
    first = ended(sent(ana, "One?"), reading("First."))
    ended(sent(ana, "Two?", conversation=first.conversation), reading("Second."))
    third = branches.edit_question(at("Two?"), user=ana, text=" Zwei?\r\n", session_key="s")
    assert (third.parent, third.retry_of, third.attempt) == (at("Zwei?"), None, 1)
    assert third.session == generations.fingerprint("s")
    assert at("Zwei?").parent == at("Two?").parent == at("First.")
    assert active(first) == ["One?", "First.", "Zwei?"]
    assert running.history(at("Zwei?"), sees=False) == [
        Turn("user", "One?"),
        Turn("assistant", "First.", [], "openai_chat", "scripted-1"),
        Turn("user", "Zwei?"),
    ]
    turns = conversations.transcript(conversation_of(fresh(first)))
    assert turns[1].questions == conversations.Versions((at("Two?").pk, at("Zwei?").pk), at("Zwei?").pk)


def test_an_edited_message_keeps_its_files_and_may_ask_another_model(ana: AbstractBaseUser) -> None:
    upload = attachments.read("plan.txt", b"Rest a day.")
    ended(sent(ana, "One?", files=[upload]), reading("First."))
    row = branches.edit_question(at("One?"), user=ana, text="Uno?", endpoint="other", model="other-1")
    assert list(Attachment.objects.filter(message=at("Uno?")).values_list("name", "text")) == [
        ("plan.txt", "Rest a day.")
    ]
    owned = conversation_of(fresh(row))
    assert (row.endpoint, row.model, owned.endpoint, owned.model) == ("other", "other-1") * 2


@pytest.mark.parametrize("text", ["", " \n", "a\x00b", "x" * 5_000_000])
def test_a_text_that_cannot_be_kept_changes_nothing(ana: AbstractBaseUser, text: str) -> None:
    row = ended(sent(ana, "One?"), reading("First."))
    with pytest.raises(Rejected):
        branches.edit_question(at("One?"), user=ana, text=text)
    with pytest.raises(Rejected):
        branches.edit_reply(text, message=at("First."))
    assert active(row) == ["One?", "First."]


def test_one_reply_at_a_time_on_all_branches_together(ana: AbstractBaseUser) -> None:
    first = ended(sent(ana, "One?"), cut(Reason.max_tokens))
    second = sent(ana, "Two?", conversation=first.conversation)
    with pytest.raises(Busy) as busy:
        branches.edit_question(at("One?"), user=ana, text="Uno?")
    assert busy.value.generation == second
    with pytest.raises(Busy):
        branches.go_on(first, user=ana)
    with pytest.raises(Busy):
        generations.retry(first, user=ana)
    assert messages() == [("user", "One?"), ("user", "Two?")]


def test_an_answer_is_no_question(ana: AbstractBaseUser) -> None:
    ended(sent(ana, "One?"), reading("First."))
    with pytest.raises(Rejected, match="one of kind answer"):
        branches.edit_question(at("First."), user=ana, text="Uno?")
    with pytest.raises(Rejected, match="got a person's message"):
        branches.edit_reply("Uno?", message=at("One?"))
    with pytest.raises(Rejected, match="got neither"):
        branches.edit_reply("Uno?")


# --- A reply ----------------------------------------------------------------------------------------------------------
def test_an_edited_answer_is_the_persons_own(ana: AbstractBaseUser) -> None:
    """The confirmed one stays as it was; the next prompt takes the person's words, without what the provider had signed."""
    row = ended(sent(ana, "One?"), reading("First.", carry=[{"signature": "s"}]))
    own = branches.edit_reply("My first.", message=at("First."))
    assert (own.kind, own.generation, own.based_on, own.parent) == ("edited", None, row, at("One?"))
    assert (at("First.").kind, at("First.").generation) == ("answer", row)
    assert active(row) == ["One?", "My first."]
    following = sent(ana, "Two?", conversation=row.conversation)
    assert claimed(following).prompt.turns == [
        Turn("user", "One?"),
        Turn("assistant", "My first."),
        Turn("user", "Two?"),
    ]
    again = branches.edit_reply("My own first.", message=own)
    assert (again.based_on, again.parent) == (row, at("One?"))


def test_an_edited_draft_is_the_persons_own(ana: AbstractBaseUser) -> None:
    """The draft stays a draft, in its own place: no message, and not found."""
    row = ended(sent(ana, "One?"), cut())
    own = branches.edit_reply("Two minutes, I think.", generation=row)
    assert (own.kind, own.based_on) == ("edited", row)
    assert Checkpoint.objects.get(pk=row.pk).answer == "Two"
    assert messages() == [("user", "One?"), ("edited", "Two minutes, I think.")]
    (turn,) = conversations.transcript(conversation_of(fresh(row)))
    assert (turn.reply, turn.generations) == (own, [row])
    assert [hit.message_id for hit in search.find(ana, "minutes").hits] == [own.pk]


def test_what_is_being_written_is_not_edited(ana: AbstractBaseUser) -> None:
    row = sent(ana, "One?")
    with pytest.raises(Rejected, match="this one is being written"):
        branches.edit_reply("Mine.", generation=row)


# --- Going on ---------------------------------------------------------------------------------------------------------
def test_a_reply_that_came_to_a_limit_is_gone_on_with(ana: AbstractBaseUser) -> None:
    """The model gets its own draft back and is asked for the rest; the rest alone is the message."""
    first = ended(sent(ana, "One?"), cut(Reason.max_tokens))
    second = branches.go_on(first, user=ana)
    assert (second.continues, second.retry_of, second.attempt, second.parent) == (first, None, 1, at("One?"))
    job = claimed(second)
    assert job.prompt.turns == [
        Turn("user", "One?"),
        Turn("assistant", "Two"),
        Turn("user", branches.GO_ON),
    ]
    job = opened_again(job)
    running.end(job, reading(" minutes."), draft(second))
    assert messages() == [("user", "One?"), ("answer", " minutes.")]
    assert active(first) == ["One?", " minutes."]
    following = sent(ana, "Two?", conversation=first.conversation)
    turns = claimed(following).prompt.turns
    assert [turn.text for turn in turns] == ["One?", " minutes.", "Two?"]


def opened_again(job: running.Job) -> running.Job:
    assert running.opened(job, wire="openai_chat", requests=1) is journal.Fired.MOVED
    return job


def test_a_second_limit_sends_all_that_there_is(ana: AbstractBaseUser) -> None:
    first = ended(sent(ana, "One?"), cut(Reason.max_tokens))
    second = branches.go_on(first, user=ana)
    running.end(opened(second), cut(Reason.max_tokens), draft(second, " min"))
    third = branches.go_on(second, user=ana)
    assert branches.parts(third) == [first, second]
    assert branches.so_far(third) == "Two min"
    assert [turn.text for turn in claimed(third).prompt.turns] == ["One?", "Two min", branches.GO_ON]


def test_a_further_attempt_goes_on_from_the_same_draft(ana: AbstractBaseUser) -> None:
    """By a person, and by itself."""
    first = ended(sent(ana, "One?"), cut(Reason.max_tokens))
    second = ended(branches.go_on(first, user=ana), cut())
    third = ended(generations.retry(second, user=ana), cut(Reason.connection_lost))
    fourth = Generation.objects.get(number=4)
    assert (third.continues, fourth.continues, fourth.retry_of, fourth.attempt) == (first, first, third, 3)


def test_only_a_limit_with_a_draft_can_be_gone_on_with(ana: AbstractBaseUser) -> None:
    whole = ended(sent(ana), reading())
    lost = ended(sent(ana), cut())
    empty = sent(ana)
    running.end(opened(empty), cut(Reason.max_tokens), draft(empty, ""))
    for row in (whole, lost, empty):
        with pytest.raises(Rejected, match="cannot be continued"):
            branches.go_on(row, user=ana)


# --- Going to another branch --------------------------------------------------------------------------------------------
def test_each_branch_is_found_as_it_was_left(ana: AbstractBaseUser) -> None:
    first = ended(sent(ana, "One?"), reading("First."))
    ended(sent(ana, "Two?", conversation=first.conversation), reading("Second."))
    ended(branches.edit_question(at("One?"), user=ana, text="Uno?"), reading("Primero."))
    branches.switch(at("One?"))
    assert active(first) == ["One?", "First.", "Two?", "Second."]
    branches.switch(at("Uno?"))
    assert active(first) == ["Uno?", "Primero."]
    moves = conversation_of(fresh(first)).moves
    branches.switch(at("Uno?"))
    assert conversation_of(fresh(first)).moves == moves


def test_a_message_goes_to_the_branch_that_its_person_saw(ana: AbstractBaseUser) -> None:
    """Another tab has gone elsewhere meanwhile; a page that is only behind is no other branch."""
    first = ended(sent(ana, "One?"), reading("First."))
    ended(branches.edit_question(at("One?"), user=ana, text="Uno?"), reading("Primero."))
    owned = conversation_of(first)
    ended(sent(ana, "Two?", conversation=owned, after=at("First.").pk), reading("Second."))
    assert active(first) == ["One?", "First.", "Two?", "Second."]
    ended(sent(ana, "Three?", conversation=owned, after=at("One?").pk), reading("Third."))
    assert active(first) == ["One?", "First.", "Two?", "Second.", "Three?", "Third."]
    branches.delete(at("Uno?"), by=ana)
    with pytest.raises(Rejected, match="it was deleted"):
        sent(ana, "Lost?", conversation=owned, after=owned.pk)


def test_ten_failing_replies_leave_the_answer_and_every_attempt(ana: AbstractBaseUser) -> None:
    first = ended(sent(ana, "One?"), reading("First."))
    row = first
    for _ in range(10):
        row = ended(generations.retry(row, user=ana), cut())
    (turn,) = conversations.transcript(conversation_of(fresh(first)))
    assert [each.attempt for each in turn.generations] == [1, *range(1, 11)]
    assert turn.replies == conversations.Versions((at("First.").pk, None), None)
    branches.switch(at("First."))
    assert active(first) == ["One?", "First."]
    branches.switch(at("One?"), unanswered=True)
    assert active(first) == ["One?"]


# --- Taking away --------------------------------------------------------------------------------------------------------
def test_a_version_goes_with_what_followed_on_it(ana: AbstractBaseUser) -> None:
    """The reply that is being written for it is stopped in the same transaction; its row stays for the audit."""
    first = ended(sent(ana, "One?"), reading("First."))
    ended(sent(ana, "Two?", conversation=first.conversation), cut())
    ended(branches.edit_question(at("One?"), user=ana, text="Uno?"), reading("Primero."))
    branches.switch(at("One?"))
    job = opened(sent(ana, "Three?", conversation=first.conversation))
    branches.delete(at("One?"), by=ana)
    assert messages() == [("user", "Uno?"), ("answer", "Primero.")]
    assert active(first) == ["Uno?", "Primero."]
    stopped = fresh(job.generation)
    assert (stopped.state, stopped.reason, stopped.parent_id) == ("cancelled", "deleted", None)
    assert stopped.cancelled_by_id == ana.pk
    running.wind_down(job, cut(), draft(job.generation))
    assert Checkpoint.objects.count() == 0
    assert JournalRow.objects.filter(subject_id=stopped.pk).count() == 3
    assert search.find(ana, "Two").hits == []


def test_the_nearest_version_takes_the_place_of_one_that_goes(ana: AbstractBaseUser) -> None:
    first = ended(sent(ana, "One?"), reading("First."))
    ended(generations.retry(first, user=ana), reading("Again."))
    own = branches.edit_reply("Mine.", message=at("Again."))
    branches.switch(at("Again."))
    branches.delete(at("Again."), by=ana)
    assert active(first) == ["One?", "Mine."]
    branches.delete(own, by=ana)
    assert active(first) == ["One?", "First."]
    branches.delete(at("First."), by=ana)
    assert active(first) == ["One?"]
    (turn,) = conversations.transcript(conversation_of(fresh(first)))
    assert (turn.reply, turn.generations) == (None, [])
    branches.delete(at("One?"), by=ana)
    assert active(first) == []
    with pytest.raises(Rejected):
        branches.delete(own, by=ana)


def test_a_branch_that_is_not_shown_goes_without_moving_the_other(ana: AbstractBaseUser) -> None:
    first = ended(sent(ana, "One?"), reading("First."))
    ended(branches.edit_question(at("One?"), user=ana, text="Uno?"), reading("Primero."))
    moves = conversation_of(fresh(first)).moves
    branches.delete(at("One?"), by=ana)
    assert (active(first), conversation_of(fresh(first)).moves) == (["Uno?", "Primero."], moves)


# --- Races ---------------------------------------------------------------------------------------------------------------
@COMMITTED
def test_two_tabs_that_edit_at_once_make_one_version(ana: AbstractBaseUser) -> None:
    """One reply at a time holds between them too: the other one is told, and nothing of it is left."""
    row = ended(sent(ana, "One?"), reading("First."))
    together = Barrier(2)

    def edit(text: str) -> str:
        together.wait(10)
        try:
            branches.edit_question(at("One?"), user=ana, text=text)
        except Busy:
            return "busy"
        return text

    with ThreadPoolExecutor(2) as pool:
        found = [pool.submit(closing, edit, text) for text in ("Uno?", "Eins?")]
        said = sorted(each.result(30) for each in found)
    assert said in (["Uno?", "busy"], ["Eins?", "busy"])
    assert active(row) == [said[0]]
    assert Message.objects.count() == 3


@COMMITTED
def test_a_reply_that_ends_while_a_person_goes_elsewhere(ana: AbstractBaseUser) -> None:
    """Whoever is first, the person stands where they went, and the answer where it belongs."""
    row = ended(sent(ana, "One?"), reading("First."))
    for turn in range(12):
        job = opened(branches.edit_question(at("One?"), user=ana, text=f"Version {turn}?"))
        together = Barrier(2)
        with ThreadPoolExecutor(2) as pool:
            away = pool.submit(closing, at_once, together, branches.switch, at("One?"))
            whole = reading(f"Answer {turn}.")
            end = pool.submit(closing, at_once, together, running.end, job, whole, draft(job.generation))
            away.result(30)
            assert end.result(30).generation.state == "confirmed"
        assert active(row) == ["One?", "First."]
        assert at(f"Answer {turn}.").parent == at(f"Version {turn}?")
        branches.switch(at(f"Version {turn}?"))
        assert active(row) == [f"Version {turn}?", f"Answer {turn}."]


def at_once(together: Barrier, call: Any, *args: Any) -> Any:
    together.wait(10)
    return call(*args)
