"""What a link shows: the branch as it was, and of it messages alone."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.contrib.auth.models import AbstractBaseUser

from chat import conversations, generations, sharing
from chat.generations import Rejected
from chat.models import Message, MessageKind, SharedLink
from tests.rows import closing, conversation_of, cut, ended, fresh, opened, person, reading, sent


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


def test_the_same_is_shared_by_one_link_until_that_is_revoked(ana: AbstractBaseUser) -> None:
    """A double click, a second tab; another answer or another name is something else."""
    row = ended(sent(ana, "One?"), reading("First."))
    owned = conversation_of(row)
    first = sharing.share(owned, by=ana)
    assert sharing.share(owned, by=ana) == first
    conversations.rename(owned, "Knees")
    renamed = sharing.share(owned, by=ana)
    sharing.revoke(renamed)
    again = sharing.share(owned, by=ana)
    assert (renamed.title, len({first.pk, renamed.pk, again.pk})) == ("Knees", 3)
    assert set(SharedLink.objects.open()) == {first, again}


@pytest.mark.django_db(transaction=True)
def test_of_four_clicks_at_once_one_makes_a_link() -> None:
    ana = person()
    owned = conversation_of(ended(sent(ana, "One?"), reading("First.")))
    start = Barrier(4)

    def click() -> int:
        start.wait(30)
        return sharing.share(owned, by=ana).pk

    with ThreadPoolExecutor(4) as pool:
        clicks = [pool.submit(closing, click) for _ in range(4)]
        assert len({click.result(30) for click in clicks}) == 1
    assert SharedLink.objects.count() == 1


def test_a_conversation_that_is_gone_is_not_shared(ana: AbstractBaseUser) -> None:
    owned = conversation_of(ended(sent(ana, "One?"), reading("First.")))
    conversations.discard(owned, by=ana)
    with pytest.raises(Rejected):
        sharing.share(owned, by=ana)
    assert not SharedLink.objects.exists()


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
