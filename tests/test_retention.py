"""What was deleted can be brought back for a while, and then it is gone."""

import datetime as dt

import pytest
from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.utils import timezone

from chat import conversations, retention
from chat.models import Conversation, Generation, Message
from tests.rows import conversation_of, ended, person, reading, sent

pytestmark = pytest.mark.django_db


def test_a_discarded_conversation_goes_after_its_window() -> None:
    """Its messages with it; the rows of its generations stay for the audit. What stands is not touched."""
    ana = person()
    old = conversation_of(ended(sent(ana, "Old?"), reading()))
    young = conversation_of(sent(ana, "Young?"))
    kept = conversation_of(sent(ana, "Kept?"))
    for row in (old, young):
        conversations.discard(row, by=ana)
    Conversation.objects.filter(pk=old.pk).update(
        deleted=timezone.now() - retention.window() - dt.timedelta(seconds=1)
    )
    assert list(retention.restorable(ana.pk)) == [young]
    assert (retention.purge(), retention.purge()) == (1, 0)
    assert set(Conversation.objects.all()) == {young, kept}
    assert set(Message.objects.values_list("text", flat=True)) == {"Young?", "Kept?"}
    assert Generation.objects.count() == 3
    assert conversations.restore(old) is False


def test_a_session_that_ran_out_goes_with_what_was_noted_of_it() -> None:
    """The address and the browser of somebody are kept as long as they may be signed in there, and no longer."""
    ana = person()
    now = timezone.now()
    for key, ends in (("old", now - dt.timedelta(seconds=1)), ("young", now + dt.timedelta(days=1))):
        Session.objects.create(session_key=key, session_data="", expire_date=ends)
        UserSession.objects.create(session_key=key, user_id=ana.pk, ip="127.0.0.1", user_agent="x")
    retention.purge()
    assert [*Session.objects.values_list("pk", flat=True)] == ["young"]
    assert [*UserSession.objects.values_list("session_key", flat=True)] == ["young"]
    Session.objects.get().delete()
    assert not UserSession.objects.exists()
