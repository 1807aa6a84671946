"""The walls around conversations and messages stand in the database, whatever code does."""

from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import IntegrityError, transaction
from django.utils import timezone

from chat.models import Conversation, Generation, Message
from tests.rows import ended, person, reading, sent

pytestmark = pytest.mark.django_db


def test_a_conversation_belongs_to_its_person_alone() -> None:
    """Staff included: nobody reads another person's conversation through the page."""
    ana, root = person(), person("root", is_superuser=True, is_staff=True)
    row = sent(ana)
    owned = Conversation.objects.owned_by
    assert (list(owned(ana)), list(owned(root)), list(owned(AnonymousUser()))) == ([row.conversation], [], [])


def test_the_newest_talk_comes_first() -> None:
    """The list of conversations is in this order."""
    ana = person()
    first, second = sent(ana, "First?"), sent(ana, "Second?")
    assert [c.title for c in Conversation.objects.all()] == ["Second?", "First?"]
    ended(first, reading())
    assert list(Conversation.objects.all()) == [first.conversation, second.conversation]


@pytest.mark.parametrize("changes", [{"text": ""}, {"kind": "draft"}, {"kind": ""}])
def test_a_message_without_text_or_of_no_kind_cannot_be_kept(changes: dict[str, str]) -> None:
    row = sent(person())
    values: dict[str, Any] = {"conversation": row.conversation, "kind": "user", "text": "Hello", **changes}
    with pytest.raises(IntegrityError), transaction.atomic():
        Message.objects.create(**values)


def test_a_generation_is_the_origin_of_one_message_at_most() -> None:
    """Even two confirmations of the same generation could not make two answers."""
    row = ended(sent(person()), reading())
    assert row.conversation is not None
    with pytest.raises(IntegrityError), transaction.atomic():
        Message.objects.create(conversation=row.conversation, kind="answer", text="Again", generation=row)


def test_rows_say_what_they_are() -> None:
    """The admin shows these words; a message's text is not among them."""
    row = ended(sent(person(), "Secret question"), reading("Secret answer"))
    assert str(row.conversation) == "Secret question"
    assert str(row.message) == f"message {row.message.pk} (answer)"
    assert str(Generation.objects.get()) == "generation 1 (confirmed)"


def test_what_was_discarded_is_nobodys() -> None:
    """Not even its owner's, until it is brought back; nor are its replies."""
    ana = person()
    row = sent(ana)
    Conversation.objects.update(deleted=timezone.now())
    assert list(Conversation.objects.owned_by(ana)) == []
    assert list(Generation.objects.owned_by(ana)) == []
    assert list(Conversation.objects.all()) == [row.conversation]


def test_nothing_is_imported_twice() -> None:
    """By one person: what somebody else imported is theirs. What was written here has no source."""
    ana, eva = person(), person("eva")
    values = {"title": "x", "endpoint": "", "model": ""}
    for user in (ana, eva):
        Conversation.objects.create(user_id=user.pk, source="chatgpt:1", **values)
        Conversation.objects.create(user_id=user.pk, **values)
        Conversation.objects.create(user_id=user.pk, **values)
    with pytest.raises(IntegrityError), transaction.atomic():
        Conversation.objects.create(user_id=ana.pk, source="chatgpt:1", **values)


def test_an_imported_answer_claims_no_generation() -> None:
    row = ended(sent(person()), reading())
    with pytest.raises(IntegrityError), transaction.atomic():
        Message.objects.filter(generation=row).update(origin="imported")
