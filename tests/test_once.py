"""A form that is sent twice does its work once."""

import datetime as dt
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.contrib.auth.models import AbstractBaseUser
from django.utils import timezone

from chat import conversations
from chat.generations import Busy
from chat.models import Conversation, FormKey, Generation
from chat.once import Gone, Result, once
from tests.rows import closing, conversation_of, person, sent


@pytest.fixture
def ana(db: None) -> AbstractBaseUser:
    return person()


def asked(user: AbstractBaseUser, key: str, text: str = "How long?") -> Result:
    def act() -> Result:
        row = sent(user, text)
        return conversation_of(row), row

    return once(user, key, ("send", text), act)


def test_the_same_form_gives_what_came_of_it_the_first_time(ana: AbstractBaseUser) -> None:
    assert asked(ana, "k") == asked(ana, "k") == asked(ana, "k")
    assert Conversation.objects.count() == Generation.objects.count() == 1


def test_other_words_another_key_and_another_person_are_another_form(ana: AbstractBaseUser) -> None:
    """Who goes back in the browser and writes something else under the old key must not lose it."""
    found = [asked(ana, "k"), asked(ana, "k", "And now?"), asked(ana, "l"), asked(person("ben"), "k")]
    assert len({conversation.pk for conversation, _ in found}) == 4


def test_without_a_key_each_time_counts(ana: AbstractBaseUser) -> None:
    """A client that knows nothing of keys is no double click."""
    assert asked(ana, "") != asked(ana, "")
    assert FormKey.objects.count() == 0


def test_what_was_refused_may_be_sent_again(ana: AbstractBaseUser) -> None:
    row = sent(ana)

    def busy() -> Result:
        raise Busy(row)

    with pytest.raises(Busy):
        once(ana, "k", ("send", "How long?"), busy)
    assert asked(ana, "k")[1] != row


def test_what_was_deleted_since_is_not_done_again(ana: AbstractBaseUser) -> None:
    owned, _ = asked(ana, "k")
    conversations.delete(owned, by=ana)
    with pytest.raises(Gone):
        asked(ana, "k")
    assert Conversation.objects.count() == 0


def test_keys_are_forgotten_after_a_day(ana: AbstractBaseUser) -> None:
    asked(ana, "k")
    FormKey.objects.update(created=timezone.now() - dt.timedelta(days=2))
    asked(ana, "l")
    assert FormKey.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_five_at_once_make_one(ana: AbstractBaseUser) -> None:
    """The wall is the database's own: no look before the leap could hold it."""
    together = Barrier(5)

    def click() -> Result:
        together.wait(10)
        return asked(ana, "k")

    with ThreadPoolExecutor(5) as pool:
        clicks = [pool.submit(closing, click) for _ in range(5)]
        found = {click.result(30) for click in clicks}
    assert len(found) == 1
    assert Conversation.objects.count() == Generation.objects.count() == 1
