"""What a link shows: the branch as it was, and of it messages alone."""

import pytest
from django.contrib.auth.models import AbstractBaseUser

from chat import generations, sharing
from chat.generations import Rejected
from chat.models import Message, MessageKind, SharedLink
from tests.rows import conversation_of, cut, ended, fresh, opened, person, reading, sent


@pytest.fixture
def ana(db: None) -> AbstractBaseUser:
    return person()


def shown(link: SharedLink) -> list[str]:
    return [message.text for message in sharing.messages(SharedLink.objects.get(pk=link.pk))]


def test_a_link_is_a_snapshot_up_to_the_last_answer(ana: AbstractBaseUser) -> None:
    """A question that waits is not in it, nor is what comes later."""
    row = ended(sent(ana, "One?"), reading("First."))
    waiting = sent(ana, "Two?", conversation=row.conversation)
    link = sharing.share(conversation_of(fresh(waiting)), by=ana)
    ended(waiting, reading("Second."))
    assert shown(link) == ["One?", "First."]
    later = sharing.share(conversation_of(fresh(waiting)), by=ana)
    assert shown(later) == ["One?", "First.", "Two?", "Second."]
    assert link.token != later.token


def test_what_did_not_become_an_answer_is_not_shown(ana: AbstractBaseUser) -> None:
    row = ended(sent(ana, "One?"), cut())
    with pytest.raises(Rejected, match="expected a conversation with an answer"):
        sharing.share(conversation_of(row), by=ana)
    row = ended(generations.retry(row, user=ana), reading("First.", reasoning_parts=["heron"]))
    link = sharing.share(conversation_of(row), by=ana)
    assert shown(link) == ["One?", "First."]


def test_an_answer_that_was_not_confirmed_would_not_be_shown(ana: AbstractBaseUser) -> None:
    """The last wall, should such a row ever be made."""
    row = fresh(opened(sent(ana, "One?")).generation)
    conversation = conversation_of(row)
    forged = Message.objects.create(
        conversation=conversation, parent=row.parent, kind=MessageKind.ANSWER, text="Forged.", generation=row
    )
    conversation.head = forged
    conversation.save()
    assert shown(sharing.share(conversation, by=ana)) == ["One?"]


def test_revoking_is_for_good(ana: AbstractBaseUser) -> None:
    link = sharing.share(conversation_of(ended(sent(ana), reading())), by=ana)
    sharing.revoke(link)
    first = SharedLink.objects.get().revoked
    sharing.revoke(link)
    assert SharedLink.objects.get().revoked == first
    assert not SharedLink.objects.open().exists()
