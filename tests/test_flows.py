"""Which prompt a reply was asked with can be told from its row."""

import pytest

from chat import flows
from chat.flows import COACH, Chosen, Flow, Switch
from chat.streaming.deltas import PartKind
from chat.streaming.gates import GATES


def test_an_installation_without_a_prompt_has_the_coach() -> None:
    assert flows.current() == flows.current("") == COACH


def test_a_prompt_of_its_own_makes_a_flow_of_its_own() -> None:
    assert flows.current("Be brief.") == Flow("custom", "Be brief.", "immediate")


def test_the_version_is_of_the_prompt() -> None:
    """Two replies with the same version were asked with the same words."""
    assert flows.current("Be brief.").prompt_version == "213c22ed7234"
    assert flows.current("Be brief. ").prompt_version != flows.current("Be brief.").prompt_version
    assert Flow("other", "Be brief.", "whole").prompt_version == "213c22ed7234"


def test_each_flow_names_a_gate_that_exists() -> None:
    assert {COACH.gate, COACH.health_gate, flows.current("x").gate} <= set(GATES)


CUSTOM = flows.current("x")
SWITCH = Switch("window 80", for_health=False, where="openai")
FOR_HEALTH = SWITCH._replace(for_health=True)


@pytest.mark.parametrize(
    ("flow", "asked", "switch", "chosen"),
    [
        (COACH, "How many sets?", None, Chosen("sentence", "flow: coach")),
        (COACH, "My knee hurts", None, Chosen("whole", "health: pain")),
        (COACH, "How many sets?", SWITCH, Chosen("window 80", "any; switch: openai")),
        (COACH, "My knee hurts", SWITCH, Chosen("whole", "health: pain")),
        (COACH, "My knee hurts", FOR_HEALTH, Chosen("window 80", "health: pain; switch: openai")),
        (CUSTOM, "My knee hurts", None, Chosen("immediate", "flow: custom")),
        (CUSTOM, "My knee hurts", SWITCH, Chosen("window 80", "any; switch: openai")),
    ],
)
def test_the_gate_of_the_next_reply(flow: Flow, asked: str, switch: Switch | None, chosen: Chosen) -> None:
    """Health first, then an administrator, then the flow; the rule says which it was."""
    assert flows.choose(flow, [asked], switch) == chosen
    assert flows.is_about_health(chosen.rule) is (chosen.rule.startswith("health"))


def test_what_a_gate_asks_of_each_stretch() -> None:
    """The coach's rules hold under every gate of the coach, and under none of somebody else's prompt."""
    dose, no_doctor = "Take 400 mg of ibuprofen.", "No need to see a doctor."
    verdicts = [
        flows.check_of(flow, rule)(text)
        for flow, rule in ((COACH, "flow: coach"), (COACH, "health: pain"), (CUSTOM, "flow: custom"))
        for text in (dose, no_doctor)
    ]
    assert verdicts == ["dose", None, "dose", "no_doctor", None, None]
    gate = flows.gates_of(COACH, "sentence", "flow: coach")(PartKind.answer)
    assert (gate.feed("Run. " + dose + " Then"), gate.blocked) == (["Run. "], "dose")
