"""The whole domain under any order of events: `domain.py` and `people.py` draw it, and say what must hold."""

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from chat import generations
from chat.journal import Fired
from chat.models import IndexRow, JournalRow, Message, ToolCall
from tests.chaos.people import People
from tests.chaos.stories import EVERYTHING, REACHED, Stories
from tests.rows import asking, ended, sent

HOW = settings(
    deadline=None,
    # Without `explain`: it runs what has failed again and again, line by line, which takes minutes here.
    phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.target, Phase.shrink],
    report_multiple_bugs=False,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)


@pytest.mark.django_db
def test_whatever_happens_a_generation_ends_once_and_only_a_whole_one_is_an_answer() -> None:
    run_state_machine_as_test(Stories, settings=settings(HOW, max_examples=30, stateful_step_count=25))


@pytest.mark.slow
@pytest.mark.django_db
def test_the_same_for_longer_and_everything_is_met() -> None:
    """Every final state and every story, or the machine proves less than it says."""
    REACHED.clear()
    run_state_machine_as_test(Stories, settings=settings(HOW, max_examples=200, stateful_step_count=50))
    assert sorted(EVERYTHING - REACHED.keys()) == []


@pytest.mark.django_db
def test_the_machine_sees_a_message_that_nothing_confirmed() -> None:
    """The invariants are walls and no wallpaper: a planted lie stops them."""
    domain = People()
    row = sent(domain.ana)
    assert row.conversation is not None
    domain.a_message_if_and_only_if_confirmed()
    Message.objects.create(conversation=row.conversation, kind="answer", text="Half", generation=row)
    with pytest.raises(AssertionError):
        domain.a_message_if_and_only_if_confirmed()
    assert generations.cancel(row, by=domain.ana)
    JournalRow.objects.all().delete()
    with pytest.raises(AssertionError):
        domain.one_end_and_a_journal_that_leads_there()
    domain.teardown()


@pytest.mark.django_db
def test_the_machine_sees_a_call_that_somebody_let_pass() -> None:
    domain = People()
    ended(sent(domain.ana), asking())
    domain.no_call_is_ever_run()
    ToolCall.objects.update(state="executing", ended_at=None)
    with pytest.raises(AssertionError):
        domain.no_call_is_ever_run()
    ToolCall.objects.all().delete()
    with pytest.raises(AssertionError):
        domain.no_call_is_ever_run()
    domain.teardown()


@pytest.mark.django_db
def test_the_machine_sees_a_search_that_lost_a_message() -> None:
    domain = People()
    domain.begin()
    domain.search_finds_what_there_is()
    IndexRow.objects.all().delete()
    with pytest.raises(AssertionError):
        domain.search_finds_what_there_is()
    domain.teardown()


def test_losing_is_an_answer() -> None:
    """The machine above counts on it: a verb with a stale fence returns, and what it returns is not MOVED."""
    assert {fired for fired in Fired if fired is not Fired.MOVED} == {Fired.LATE, Fired.LOST, Fired.GONE}
