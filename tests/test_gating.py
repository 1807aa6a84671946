"""The gate is chosen from what was asked, before anything is launched, and stays with the generation."""

from typing import Any

import pytest

from chat import gating
from chat.flows import COACH
from chat.models import Conversation, GatePolicy, Generation, Message
from tests.rows import conversation_of, ended, person, reading, sent

pytestmark = pytest.mark.django_db

KNEE = "My knee hurts when I squat"


def chosen(row: Generation) -> tuple[str, str]:
    stored = Generation.objects.get(pk=row.pk)
    return stored.gate, stored.gate_rule


def test_the_coach_shows_sentences_and_holds_what_is_about_health() -> None:
    ana = person()
    assert chosen(sent(ana, "How long do I rest?")) == ("sentence", "flow: coach")
    assert chosen(sent(ana, KNEE)) == ("whole", "health: pain")


def test_a_follow_up_is_held_too() -> None:
    """It is asked in the same breath; two turns later it is forgotten."""
    ana = person()
    row = sent(ana, KNEE)
    rules = []
    for text in ("And how long will it last?", "And then?", "Which shoes?"):
        ended(row, reading("Ask a physiotherapist."))
        row = sent(ana, text, conversation=Conversation.objects.get())
        rules.append(chosen(row))
    assert rules == [
        ("whole", "health: pain, earlier"),
        ("whole", "health: pain, earlier"),
        ("sentence", "flow: coach"),
    ]


def test_a_prompt_of_its_own_shows_at_once(settings: Any) -> None:
    """Whoever brings another prompt has brought another filter, or wants none."""
    settings.SYSTEM_PROMPT = "You are a pirate."
    assert chosen(sent(person(), KNEE)) == ("immediate", "flow: custom")


def test_what_is_read_for_it_is_bounded(django_assert_num_queries: Any) -> None:
    """The filter stands before every send: a conversation of any length costs it two queries."""
    ana = person()
    row = sent(ana, "one")
    for number in range(5):
        ended(row, reading("Good."))
        row = sent(ana, f"question {number}", conversation=conversation_of(row))
    last = Message.objects.latest("created")
    with django_assert_num_queries(1):
        assert gating.questions(last) == ["question 2", "question 3", "question 4"]
    with django_assert_num_queries(2):
        gating.choose(COACH, last, "scripted", "scripted-1")


def test_an_administrator_switches_a_model_from_the_next_reply_on() -> None:
    """Its own row before its provider's; questions about health stay held unless the row says otherwise."""
    ana = person()
    before = sent(ana, "one")
    GatePolicy.objects.create(endpoint="scripted", gate="window", chars=80)
    assert chosen(before) == ("sentence", "flow: coach")
    assert chosen(sent(ana, "two")) == ("window 80", "any; switch: scripted")
    GatePolicy.objects.create(endpoint="scripted", model="scripted-1", gate="immediate")
    GatePolicy.objects.create(endpoint="scripted", model="scripted-2", gate="whole")
    assert chosen(sent(ana, "three")) == ("immediate", "any; switch: scripted:scripted-1")
    assert chosen(sent(ana, KNEE)) == ("whole", "health: pain")
    GatePolicy.objects.filter(model="scripted-1").update(for_health=True)
    assert chosen(sent(ana, KNEE)) == ("immediate", "health: pain; switch: scripted:scripted-1")


def test_a_retry_chooses_anew() -> None:
    """What was switched since must hold."""
    from chat import generations

    ana = person()
    row = sent(ana, "one")
    ended(row, reading("", reason=None))
    GatePolicy.objects.create(endpoint="scripted", gate="hold_first", chars=50)
    assert chosen(generations.retry(row, user=ana)) == ("hold_first 50", "any; switch: scripted")
