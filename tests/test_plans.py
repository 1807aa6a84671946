"""A plan is kept with its message or not at all, and numbered for its person."""

import pytest
from django.db import IntegrityError, transaction

from chat import conversations, plans
from chat.models import Generation, Message, Plan
from tests.plans import plan, plan_json
from tests.rows import conversation_of, ended, fresh, person, reading, sent

pytestmark = pytest.mark.django_db

ASKED = "Make me a training plan"


def versions(user: object) -> list[tuple[int, str]]:
    return [(each.version, each.title) for each in plans.of(user)]  # type: ignore[arg-type]


def test_a_confirmed_plan_is_kept_with_version_and_generation() -> None:
    """Its message is its text: that is what is copied, searched and sent with the next turn."""
    ana = person()
    row = ended(sent(ana, ASKED), reading(plan_json()))
    [kept] = plans.of(ana)
    assert (row.state, row.flow, row.gate, row.gate_rule) == ("confirmed", "plan", "whole", "flow: plan")
    assert (kept.version, kept.schema_version, kept.data, kept.generation_id) == (1, 1, plan(), row.pk)
    assert Message.objects.get(kind="answer").text.startswith("## Strong in four weeks")
    assert [check["check"] for check in row.checks][-3:] == ["schema", "plan_rules", "policy"]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("Here is your plan: squat.", "invalid_plan"),
        (plan_json(weeks=0), "invalid_plan"),
        (plan_json(advice="Push through the pain."), "policy"),
        (" ", "empty_answer"),
    ],
)
def test_what_is_not_a_good_plan_leaves_nothing(answer: str, reason: str) -> None:
    ana = person()
    row = ended(sent(ana, ASKED), reading(answer))
    assert (row.state, row.reason) == ("failed", reason)
    assert (Plan.objects.count(), Message.objects.filter(kind="answer").count()) == (0, 0)


def test_versions_count_up_over_all_conversations() -> None:
    ana, bob = person(), person("bob")
    one = sent(ana, ASKED)
    ended(one, reading(plan_json()))
    ended(sent(bob, ASKED), reading(plan_json(title="His")))
    ended(sent(ana, ASKED), reading(plan_json(title="Second")))
    ended(
        sent(ana, "With less weight", conversation=conversation_of(fresh(one)), plan=True),
        reading(plan_json(title="Third")),
    )
    assert versions(ana) == [(3, "Third"), (2, "Second"), (1, "Strong in four weeks")]
    assert versions(bob) == [(1, "His")]


def test_a_plan_goes_with_its_conversation() -> None:
    """Out of sight at once, and away when the conversation is."""
    ana = person()
    row = ended(sent(ana, ASKED), reading(plan_json()))
    conversations.delete(conversation_of(fresh(row)), by=ana)
    assert versions(ana) == []


def test_another_try_makes_a_plan_again(settings: object) -> None:
    """Also where the button had asked for it, and the words did not."""
    from chat import generations

    ana = person()
    row = sent(ana, "I like rowing", plan=True)
    ended(row, reading("no"))
    assert generations.retry(row, user=ana).flow == "plan"


def test_a_custom_prompt_makes_no_plans(settings: object) -> None:
    settings.SYSTEM_PROMPT = "You are a pirate."  # type: ignore[attr-defined]
    row = sent(person(), ASKED, plan=True)
    assert (row.flow, Generation.objects.get().gate) == ("custom", "immediate")


def test_a_plan_about_health_says_who_may_judge() -> None:
    ana = person()
    row = ended(sent(ana, f"{ASKED} for my bad knee pain"), reading(plan_json(advice="Slowly.")))
    assert (row.gate_rule, row.reason, row.detail) == (
        "health: pain",
        "policy",
        "check policy said no: rule points_to_professional",
    )


def test_a_version_is_there_once() -> None:
    """The database's own wall."""
    ana = person()
    row = ended(sent(ana, ASKED), reading(plan_json()))
    message = Message.objects.get(generation=row)
    with pytest.raises(IntegrityError), transaction.atomic():
        Plan.objects.create(user_id=ana.pk, message=message, version=1, title="x", data={}, schema_version=1)
