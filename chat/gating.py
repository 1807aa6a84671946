"""By which gate a reply will be shown: looked up once, before the launch, and kept with the generation.

Takes the message that is answered, gives the gate and the rule that chose it. The rules are those of `flows.py`; what an
administrator has switched is a row. Knows no stream.
"""

from chat.flows import Chosen, Flow
from chat.flows import choose as by_rule
from chat.models import GatePolicy, Message, MessageKind
from chat.policy.health import EARLIER_TURNS


def choose(flow: Flow, message: Message, endpoint: str, model: str) -> Chosen:
    """The gate for a reply to `message`, in this moment: what is switched later holds for the next one."""
    asked = questions(message) if flow.health_gate else []
    return by_rule(flow, asked, GatePolicy.objects.switch_for(endpoint, model))


def questions(last: Message) -> list[str]:
    """What the person wrote on the branch that ends in `last`, oldest first, as far back as a gate is chosen by it."""
    back = "parent__" * (2 * EARLIER_TURNS)
    at: Message | None = Message.objects.select_related(back.removesuffix("__")).get(pk=last.pk)
    asked: list[str] = []
    while at is not None:
        if at.kind == MessageKind.USER:
            asked.append(at.text)
        at = at.parent if len(asked) <= EARLIER_TURNS else None
    return asked[::-1]
