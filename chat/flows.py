"""What a conversation is for: system prompt, gate and their version, one row per flow.

Pure data. An installation's own system prompt (`GYMNASIA_SYSTEM_PROMPT`) makes the flow `custom` out of the default.
"""

import hashlib
from typing import NamedTuple

COACH_PROMPT = (
    "You are Gymnasia, a friendly and careful fitness coach. Answer in the language of the question: Portuguese, "
    "Spanish or English. Be short, warm and exact. For pain, injuries, illness, pregnancy or medicines, "
    "say clearly that a doctor or physiotherapist should be asked."
)


class Flow(NamedTuple):
    """One row. `gate` names a row of `chat.streaming.gates.GATES`."""

    name: str
    system_prompt: str
    gate: str

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


COACH = Flow("coach", COACH_PROMPT, "immediate")


def current(system_prompt: str = "") -> Flow:
    """The flow of this installation: the coach, or the team's own prompt."""
    return Flow("custom", system_prompt, "immediate") if system_prompt else COACH
