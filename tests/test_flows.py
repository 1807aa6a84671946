"""Which prompt a reply was asked with can be told from its row."""

from chat import flows
from chat.flows import COACH, Flow
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
    assert {COACH.gate, flows.current("x").gate} <= set(GATES)
