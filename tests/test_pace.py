"""So many replies an hour, and a word about when there is room again."""

import datetime as dt

import pytest
import time_machine
from django.contrib.auth.models import AbstractBaseUser
from pytest_django import Settings

from chat import conversations, generations, pace
from chat.models import Generation, Message
from tests.rows import ended, person, reading, sent

NOON = dt.datetime(2026, 11, 30, 12, 0, tzinfo=dt.UTC)


def ask(who: AbstractBaseUser, minute: int) -> Generation:
    with time_machine.travel(NOON + dt.timedelta(minutes=minute), tick=False):
        return sent(who)


@pytest.fixture(autouse=True)
def two_an_hour(settings: Settings) -> None:
    settings.GYMNASIA = settings.GYMNASIA.but(messages_per_hour=2)


def test_the_third_within_an_hour_waits_for_the_first_to_pass(db: None) -> None:
    ana, eva = person("ana"), person("eva")
    first, _second = ask(ana, 0), ask(ana, 20)
    with pytest.raises(pace.TooFast) as caught:
        ask(ana, 30)
    assert (caught.value.limit, caught.value.wait_s) == (2, 30 * 60)
    assert Message.objects.count() == 2, "what was refused left something behind"
    ask(eva, 30)
    assert first.conversation is not None
    conversations.delete(first.conversation, by=ana)
    with pytest.raises(pace.TooFast):
        ask(ana, 59)
    ask(ana, 61)


def test_trying_again_is_asking_and_following_by_itself_is_not(db: None) -> None:
    ana = person("ana")
    ask(ana, 0)
    with time_machine.travel(NOON, tick=False):
        lost = ended(sent(ana), reading("early"))
        Generation.objects.filter(pk=lost.pk).update(automatic_retries=1)
        again = generations.retry(lost, user=ana)
        with pytest.raises(pace.TooFast):
            generations.retry(ended(again, reading("early")), user=ana)


def test_without_a_limit_nobody_waits(db: None, settings: Settings) -> None:
    settings.GYMNASIA = settings.GYMNASIA.but(messages_per_hour=0)
    ana = person("ana")
    assert len([sent(ana) for _ in range(5)]) == 5
