"""Ending an account: all of one person, nothing of another, and the audit that stays."""

from allauth.usersessions.models import UserSession
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client

from chat import people
from chat.models import Conversation, Generation, JournalRow, Message, Preferences
from tests.rows import ended, reading, sent
from tests.visitors import user


def signed_in(person: User) -> Client:
    person.set_password("long-enough-93")
    person.save()
    client = Client()
    client.post("/accounts/login/", {"login": person.username, "password": "long-enough-93"})
    return client


def test_everything_of_a_person_goes_and_the_audit_stays(db: None) -> None:
    ana, eva = user("ana"), user("eva")
    actor = f"user:{ana.pk}"
    whole, running, other = ended(sent(ana), reading()), sent(ana), ended(sent(eva), reading())
    Preferences.objects.create(user=ana, language="es")
    assert signed_in(ana).get("/").status_code == 200
    assert Session.objects.count() == UserSession.objects.count() == 1
    people.delete(ana)
    assert [*User.objects.values_list("username", flat=True)] == ["eva"]
    assert {each.conversation_id for each in Message.objects.all()} == {other.conversation_id}
    assert [Session.objects.count(), Preferences.objects.count(), Conversation.objects.count()] == [0, 0, 1]
    rows = Generation.objects.exclude(pk=other.pk).order_by("created")
    assert [(row.pk, row.state, row.reason, row.user_id, row.conversation_id) for row in rows] == [
        (whole.pk, "confirmed", "", None, None),
        (running.pk, "cancelled", "deleted", None, None),
    ]
    stopped = JournalRow.objects.get(subject_id=running.pk)
    assert (stopped.trigger, stopped.actor) == ("cancel", actor)
