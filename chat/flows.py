"""What a conversation is for: system prompt, gates, rules and their version, one row per flow.

Pure data, and the one decision that it leads to: by which gate a reply is shown, and why. An installation's own system
prompt (`GYMNASIA_SYSTEM_PROMPT`) makes the flow `custom` out of the default.
"""

import hashlib
from collections.abc import Callable, Sequence
from typing import NamedTuple

from chat import planning
from chat.policy import advice, health
from chat.streaming.deltas import PartKind
from chat.streaming.gates import Check, Gate, allow, make
from chat.validation import Demands

COACH_PROMPT = (
    "You are Gymnasia, a friendly and careful fitness coach. Answer in the language of the question: Portuguese, "
    "Spanish or English. Be short, warm and exact. For pain, injuries, illness, pregnancy or medicines, "
    "say clearly that a doctor or physiotherapist should be asked."
)


class Flow(NamedTuple):
    """One row. `gate` and `health_gate` are spelled as in `chat.streaming.gates`; without a `health_gate` no question is
    looked at. `ruled`: what the model says is held against `chat.policy.advice`. `material`: what it quotes, and every
    figure must stand in. `is_plan`: it answers with an object that follows `chat.planning.SCHEMA`."""

    name: str
    system_prompt: str
    gate: str
    health_gate: str = ""
    ruled: bool = False
    material: str = ""
    is_plan: bool = False

    @property
    def prompt_version(self) -> str:
        """Changes whenever the prompt does, so that a generation can say what it was asked with."""
        return hashlib.sha256(self.system_prompt.encode()).hexdigest()[:12]


def told(flow: Flow, preset: str = "", instructions: str = "") -> Flow:
    """The flow with what a person adds to it: the flow's own words stay, and come first."""
    added = [
        f"{title}\n{text.strip()}"
        for title, text in (
            (
                "What the person wants you to know and to keep to, unless it is against what stands above:",
                instructions,
            ),
            ("What this conversation is about, unless it is against what stands above:", preset),
        )
        if text.strip()
    ]
    return flow._replace(system_prompt="\n\n".join([flow.system_prompt, *added])) if added else flow


COACH = Flow("coach", COACH_PROMPT, "sentence", health_gate="whole", ruled=True)
PLAN = Flow("plan", planning.WORDS, "whole", health_gate="whole", ruled=True, is_plan=True)
QUOTING = (
    "Every figure and date that you give must stand in this material. What it does not say, do not guess:"
)


def current(system_prompt: str = "", material: str = "") -> Flow:
    """The flow of this installation: the coach, or the team's own prompt; with material, one that quotes it, and shows
    nothing before its figures are checked."""
    flow = Flow("custom", system_prompt, "immediate") if system_prompt else COACH
    if not material.strip():
        return flow
    words = f"{flow.system_prompt}\n\n{QUOTING}\n\n{material.strip()}"
    return flow._replace(system_prompt=words, gate="whole", material=material)


def plans_of(flow: Flow) -> Flow | None:
    """The flow in which this one's person gets a plan; None where there is none: the coach alone makes plans."""
    return PLAN if flow.name == COACH.name else None


# --- by which gate --------------------------------------------------------------------------------------------------
class Switch(NamedTuple):
    """An administrator's word for a model: its gate, and whether it holds for questions about health as well."""

    gate: str
    for_health: bool
    where: str


class Chosen(NamedTuple):
    """A gate, and the rule that chose it: `health: pain`, `flow: coach`, `switch: openai`."""

    gate: str
    rule: str


HEALTH = "health: "
MATERIAL = ", material"


def choose(flow: Flow, asked: Sequence[str], switch: Switch | None = None) -> Chosen:
    """The gate of the next reply: a question about health first, then an administrator, then the flow's own.

    `asked` is what the person wrote on this branch, oldest first; the rule is kept with the generation.
    """
    topic = health.topic_of_turns(asked) if flow.health_gate else None
    if flow.is_plan:  # half an object is nothing to look at, whatever an administrator likes to see
        switch = None
    rule = f"{HEALTH}{topic}" if topic else ""
    if switch is not None and (not topic or switch.for_health):
        # What it was about stays in the rule: the answer is still held against what holds for health.
        return Chosen(switch.gate, f"{rule or 'any'}; switch: {switch.where}")
    if topic:
        return Chosen(flow.health_gate, rule)
    return Chosen(flow.gate, f"flow: {flow.name}{MATERIAL if flow.material else ''}")


def is_about_health(rule: str) -> bool:
    """Whether the rule that chose a gate found a question about health."""
    return rule.startswith(HEALTH)


def demands_of(flow: Flow, rule: str) -> Demands:
    """What a whole answer of this flow is held against."""
    return Demands(flow.ruled, is_about_health(rule), flow.is_plan, flow.material)


def check_of(flow: Flow, rule: str) -> Check:
    """What a gate of this flow asks of each stretch before it is shown."""
    about_health = is_about_health(rule)
    if not flow.ruled or flow.is_plan:  # a plan is looked at as a person would read it, not as JSON
        return allow
    return lambda text: advice.broken_rule(text, about_health=about_health)


def gates_of(flow: Flow, gate: str, rule: str) -> Callable[[PartKind], Gate]:
    """How each part of one reply gets its gate: reasoning and refusals wait as the answer does."""
    check = check_of(flow, rule)
    return lambda _kind: make(gate, check)
