"""The tree of a conversation, and where its branches were left."""

from typing import Any

import pytest
from django.contrib.auth.models import AbstractBaseUser

from chat import branches, generations, running, tree
from chat.models import Conversation, Generation, Message
from tests.rows import conversation_of, cut, draft, ended, opened, person, reading, sent

pytestmark = pytest.mark.django_db


@pytest.fixture
def ana(db: None) -> AbstractBaseUser:
    return person()


def texts(found: list[Message]) -> list[str]:
    return [message.text for message in found]


def two_branches(ana: AbstractBaseUser) -> tuple[Conversation, Generation, Generation]:
    """One? - First. - Two? - Second., and beside it Uno? - Primero."""
    first = ended(sent(ana, "One?"), reading("First."))
    ended(sent(ana, "Two?", conversation=first.conversation), reading("Second."))
    one = Message.objects.get(text="One?")
    other = ended(branches.edit_question(one, user=ana, text="Uno?"), reading("Primero."))
    return Conversation.objects.get(), first, other


def test_the_active_branch_is_the_path_to_the_head(ana: AbstractBaseUser) -> None:
    owned, _, _ = two_branches(ana)
    assert texts(tree.active(owned)) == ["Uno?", "Primero."]
    assert texts(tree.whole(owned)) == ["One?", "First.", "Two?", "Second.", "Uno?", "Primero."]
    sent(ana, "Elsewhere?")
    assert len(tree.whole(owned)) == 6


def test_reading_the_active_branch_takes_three_queries(
    ana: AbstractBaseUser, django_assert_num_queries: Any
) -> None:
    """Tree, messages, files: whatever the length, and without the texts of other branches."""
    owned, _, _ = two_branches(ana)
    with django_assert_num_queries(3):
        tree.active(owned)


def test_a_branch_is_found_where_it_was_left(ana: AbstractBaseUser) -> None:
    owned, _, _ = two_branches(ana)
    outline = tree.outline(owned)
    one, uno = outline.questions(None)
    second, primero = Message.objects.get(text="Second."), Message.objects.get(text="Primero.")
    assert (outline.leaf(one.pk).pk, outline.leaf(uno.pk).pk) == (second.pk, primero.pk)


def test_a_branch_that_nobody_was_in_ends_with_what_came_last(ana: AbstractBaseUser) -> None:
    """As one that was imported."""
    owned, _, _ = two_branches(ana)
    Message.objects.update(headed=0)
    one, _ = tree.outline(owned).questions(None)
    assert tree.outline(owned).leaf(one.pk).pk == Message.objects.get(text="Second.").pk


def test_a_question_without_its_answer(ana: AbstractBaseUser) -> None:
    """Where a person went on without an answer, that way on is another one than the answer's."""
    failed = ended(sent(ana, "One?"), cut())
    ended(sent(ana, "Two?", conversation=failed.conversation), reading("Second."))
    ended(generations.retry(failed, user=ana), reading("First."))
    outline = tree.outline(conversation_of(failed))
    (one,) = outline.questions(None)
    assert outline.leaf(one.pk).pk == Message.objects.get(text="First.").pk
    assert outline.leaf(one.pk, unanswered=True).pk == Message.objects.get(text="Second.").pk
    (first,) = outline.replies(one.pk)
    assert set(outline.below(one.pk)) == set(outline.nodes)
    assert list(outline.below(first.pk)) == [first.pk]


def test_a_path_to_nowhere_is_empty(ana: AbstractBaseUser) -> None:
    owned, _, _ = two_branches(ana)
    assert tree.outline(owned).path(None) == []
    assert texts(tree.messages(tree.outline(owned).path(owned.head_id))) == ["Uno?", "Primero."]


def test_a_reply_does_not_lead_away_from_where_a_person_has_gone(ana: AbstractBaseUser) -> None:
    """It lands under its question, and who goes there finds it."""
    owned, _, other = two_branches(ana)
    job = opened(generations.retry(other, user=ana))
    branches.switch(Message.objects.get(text="One?"))

    running.end(job, reading("Segundo."), draft(job.generation))
    owned.refresh_from_db()
    assert texts(tree.active(owned)) == ["One?", "First.", "Two?", "Second."]
    branches.switch(Message.objects.get(text="Uno?"))
    owned.refresh_from_db()
    assert texts(tree.active(owned)) == ["Uno?", "Segundo."]
