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


COACH = Flow("coach", COACH_PROMPT, "immediate")


def current(system_prompt: str = "") -> Flow:
    """The flow of this installation: the coach, or the team's own prompt."""
    return Flow("custom", system_prompt, "immediate") if system_prompt else COACH
