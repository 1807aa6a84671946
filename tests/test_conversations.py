"""How a conversation is read, renamed and taken away."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.db.models.deletion import Collector

from chat import conversations, drafts, generations, launching, running, tree
from chat.conversations import Turn, Versions
from chat.generations import Rejected
from chat.models import Checkpoint, Conversation, Generation, JournalRow, Message
from chat.streaming.outcome import Reason
from tests.rows import cut, draft, ended, fresh, opened, person, reading, sent


@pytest.fixture
def ana(db: None) -> AbstractBaseUser:
    return person()


def conversation_of(row: Generation) -> Conversation:
    assert row.conversation_id is not None
    return Conversation.objects.get(pk=row.conversation_id)


def test_a_transcript_pairs_each_message_with_its_attempts(ana: AbstractBaseUser) -> None:
    """Oldest first, and what did not end well stands beside what did: the page shows both, labelled."""
    first = ended(sent(ana, "One?"), cut())
    second = ended(generations.retry(first, user=ana), reading("First."))
    third = sent(ana, "Two?", conversation=first.conversation)
    one, two = Message.objects.filter(kind="user").order_by("created")
    answer = Message.objects.get(kind="answer")
    alone = Versions((one.pk,), one.pk), Versions((answer.pk,), answer.pk)
    assert conversations.transcript(conversation_of(first)) == [
        Turn(one, [first, second], answer, *alone),
        Turn(two, [third], None, Versions((two.pk,), two.pk), Versions((None,), None)),
    ]


def test_a_transcript_of_any_length_takes_five_queries(
    ana: AbstractBaseUser, django_assert_num_queries: Any
) -> None:
    """Tree, messages, files, and drafts with the generations: a long conversation must not ask once per reply."""
    row = ended(sent(ana, "0?"), reading())
    for number in range(1, 6):
        row = ended(
            sent(ana, f"{number}?", conversation=row.conversation), reading() if number % 2 else cut()
        )
    conversation = conversation_of(row)
    with django_assert_num_queries(5):
        turns = conversations.transcript(conversation)
        shown = [
            turn.generations[0].message.text
            if turn.generations[0].state == "confirmed"
            else turn.generations[0].checkpoint.answer
            for turn in turns
        ]
    assert shown == ["Two minutes.", "Two minutes.", "Two", "Two minutes.", "Two", "Two minutes."]


@pytest.mark.parametrize("moment", ["outline", "messages"])
def test_a_reply_that_is_confirmed_while_it_is_read_stands_on_the_page(
    ana: AbstractBaseUser, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """Neither open any more nor on the branch yet: such a page showed a question, and no reply at all."""
    row = sent(ana)
    job, conversation = opened(row), conversation_of(row)
    read = getattr(tree, moment)

    def confirmed_meanwhile(*told: Any) -> Any:
        found = read(*told)
        if not fresh(row).is_final:
            running.end(job, reading(), draft(row))
        return found

    monkeypatch.setattr(tree, moment, confirmed_meanwhile)
    [turn] = conversations.transcript(conversation)
    assert turn.reply is not None
    assert (turn.reply.generation_id, turn.reply.text, turn.open_generations) == (row.pk, "Two minutes.", [])


def test_a_message_off_the_branch_is_not_shown(ana: AbstractBaseUser) -> None:
    """`head` chooses the branch; other conversations never mix in."""
    first = ended(sent(ana, "One?"), reading("First."))
    ended(sent(ana, "Two?", conversation=first.conversation), reading("Second."))
    sent(ana, "Elsewhere?")
    shown = Conversation.objects.filter(pk=conversation_of(first).pk)
    shown.update(head=first.message)
    assert [turn.message.text for turn in conversations.transcript(shown.get())] == ["One?"]
    shown.update(head=None)
    assert conversations.transcript(shown.get()) == []


def test_a_new_title_is_one_line_and_does_not_move_the_conversation(ana: AbstractBaseUser) -> None:
    row = sent(ana)
    before = conversation_of(row)
    conversations.rename(before, "  Swimming \n in  winter ")
    after = conversation_of(row)
    assert (after.title, after.updated) == ("Swimming in winter", before.updated)
    conversations.rename(before, "x" * 120)


@pytest.mark.parametrize("title", ["", " \n ", "x" * 121, "a\x00b", "\u200b\ufeff", "\u00ad"])
def test_what_is_no_title_is_rejected(ana: AbstractBaseUser, title: str) -> None:
    row = sent(ana)
    with pytest.raises(Rejected, match="expected a title of 1 to 120 characters"):
        conversations.rename(conversation_of(row), title)
    assert conversation_of(row).title == "How long?"


def _by_verb(conversation: Conversation, user: AbstractBaseUser) -> None:
    conversations.delete(conversation, by=user)


def _by_row(conversation: Conversation, user: AbstractBaseUser) -> None:
    conversation.delete()


def _by_query(conversation: Conversation, user: AbstractBaseUser) -> None:
    Conversation.objects.filter(pk=conversation.pk).delete()


def _by_person(conversation: Conversation, user: AbstractBaseUser) -> None:
    user.delete()


def _by_people(conversation: Conversation, user: AbstractBaseUser) -> None:
    get_user_model().objects.filter(pk=user.pk).delete()


WAYS = [_by_verb, _by_row, _by_query, _by_person, _by_people]


@pytest.mark.parametrize("way", WAYS)
def test_deleting_takes_every_text_and_keeps_the_audit(
    ana: AbstractBaseUser, way: Callable[[Conversation, AbstractBaseUser], None]
) -> None:
    """Whatever the door: the rows of generations and their journal survive: who, when, which model, how it ended; no
    word of it."""
    first = ended(sent(ana, "Secret one?"), cut())
    writing = sent(ana, "Secret two?", conversation=first.conversation)
    job = opened(writing)
    drafts.save([drafts.Save(writing.pk, 1, draft(writing, "Secret draft"))])
    other = sent(person("eva"), "Kept?")
    way(conversation_of(first), ana)
    assert list(Conversation.objects.all()) == [other.conversation]
    assert list(Message.objects.values_list("text", flat=True)) == ["Kept?"]
    assert not Checkpoint.objects.exists()
    user_id = get_user_model().objects.filter(username="ana").values_list("pk", flat=True).first()
    by = "system" if way is not _by_verb else f"user:{user_id}"
    kept = Generation.objects.exclude(pk=other.pk).order_by("number")
    assert [(row.state, row.reason, row.conversation_id, row.parent_id, row.user_id) for row in kept] == [
        ("incomplete", "stream_truncated", None, None, user_id),
        ("cancelled", "deleted", None, None, user_id),
    ]
    history = JournalRow.objects.filter(subject_id=writing.pk).order_by("sequence")
    assert list(history.values_list("trigger", "actor")) == [
        ("opened", "runner-1"),
        ("first_delta", "runner-1"),
        ("cancel", by),
    ]
    # What its runner still writes changes nothing: the fence has moved, and nobody thinks that it holds the lease.
    assert running.renew("runner-1") == set()
    drafts.save([drafts.Save(writing.pk, job.generation.fence, draft(writing, "Secret draft"))])
    running.wind_down(job, cut(Reason.cancelled), draft(writing, "Secret draft"))
    assert running.end(job, reading("Secret answer"), draft(writing)).generation.state == "cancelled"
    assert (Message.objects.count(), Checkpoint.objects.exists()) == (1, False)


@pytest.mark.parametrize("door", ["row", "query"])
def test_a_message_that_is_deleted_takes_its_reply_with_it(ana: AbstractBaseUser, door: str) -> None:
    """The conversation stays, and what nobody asks any more is not answered."""
    first = ended(sent(ana, "One?"), reading("First."))
    writing = opened(sent(ana, "Secret two?", conversation=first.conversation)).generation
    drafts.save([drafts.Save(writing.pk, 1, draft(writing, "Secret draft"))])
    asked = Message.objects.filter(text="Secret two?")
    (asked if door == "query" else asked.get()).delete()
    row = Generation.objects.get(pk=writing.pk)
    assert (row.state, row.reason, row.fence, row.parent_id) == ("cancelled", "deleted", 2, None)
    assert list(Message.objects.order_by("created").values_list("text", flat=True)) == ["One?", "First."]
    assert not Checkpoint.objects.exists()


def test_a_deletion_that_is_rolled_back_changes_nothing(ana: AbstractBaseUser) -> None:
    """One transaction: no reply is stopped for a conversation that is still there."""
    writing = opened(sent(ana)).generation
    drafts.save([drafts.Save(writing.pk, 1, draft(writing))])
    with transaction.atomic():
        ana.delete()
        assert not Checkpoint.objects.exists()
        transaction.set_rollback(True)
    row = Generation.objects.get(pk=writing.pk)
    assert (row.state, row.fence, row.checkpoint.answer) == ("buffered", 1, "Two")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("way", WAYS)
def test_the_engine_is_told_to_stop_and_to_close_after_the_commit(
    way: Callable[[Conversation, AbstractBaseUser], None],
) -> None:
    """In this order: a page learns that the reply has ended, then that there is nothing to come back to."""
    calls: list[tuple[str, Any]] = []

    class Told:
        def launch(self, generation: Generation) -> None: ...

        def stop(self, generation: Generation) -> None:
            calls.append(("stop", (generation.pk, generation.reason, Conversation.objects.exists())))

        def closed(self, conversation_id: Any) -> None:
            calls.append(("closed", conversation_id))

        def signed_out(self, session_key: str) -> None: ...

    ana, engine = person(), Told()
    row = sent(ana)
    conversation = conversation_of(row)
    key = conversation.pk
    launching.register_engine(engine)
    try:
        way(conversation, ana)
    finally:
        launching.unregister_engine(engine)
    assert calls == [("stop", (row.pk, "deleted", False)), ("closed", key)]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("what", ["person", "query"])
def test_an_answer_that_is_confirmed_in_the_moment_of_the_deletion_goes_along(
    monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """Django gathers what hangs on a row before its transaction begins: an answer that came in between was left behind, and
    the deletion failed on it."""
    ana = person()
    row = sent(ana)
    job = opened(row)
    delete = Collector.delete

    def late(self: Collector) -> Any:
        monkeypatch.undo()
        assert running.end(job, reading(), draft(row)).generation.state == "confirmed"
        return delete(self)

    monkeypatch.setattr(Collector, "delete", late)
    {"person": ana.delete, "query": Conversation.objects.all().delete}[what]()
    assert (Conversation.objects.count(), Message.objects.count()) == (0, 0)
    assert (fresh(row).state, fresh(row).conversation_id) == ("confirmed", None)
