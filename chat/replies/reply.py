"""One reply as HTML: the same template for the page, for a fragment and for a stream's final frame.

Takes a generation's row (with `message` and `checkpoint`, selected or not), gives a `Reply` for the template or the
finished HTML. Knows no request: buttons belong to the page's own form, which holds the CSRF token.
"""

import datetime as dt
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from django.core.exceptions import ObjectDoesNotExist
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from chat import branches, drafts, rendering
from chat.conversations import Stretch, Turn, Versions
from chat.flows import MATERIAL, PLAN, is_about_health
from chat.models import Generation, Message, MessageKind, Plan
from chat.replies import endings, picker
from chat.replies.rendered import RENDERED
from chat.states.generation import State
from chat.streaming.frames import Snapshot


@dataclass(frozen=True, slots=True)
class Lane:
    """One part of a reply: its Markdown (only while more may follow, for the script) and its HTML."""

    name: str
    html: SafeString
    source: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """What a reply took: tokens as its provider counted them, price by the lists, seconds since it was asked for."""

    tokens_in: int | None
    tokens_out: int | None
    price_usd: Decimal | None
    first_word_s: float | None
    whole_s: float | None
    temperature: float | None
    max_tokens: int | None


@dataclass(frozen=True, slots=True)
class Reply:
    """What `_reply.html` shows. `message` is set when, and only when, the reply is an answer."""

    id: UUID
    handle: int
    state: str
    reason: str
    seq: int
    model: str
    answer: Lane
    reasoning: Lane
    refusal: Lane
    unfinished: bool
    current: bool
    message: Message | None = None
    at: dt.datetime | None = None
    ending: endings.Ending | None = None
    waited_s: int = 0
    checking: str = ""
    plan: Plan | None = None
    facts: Facts | None = None
    attempt: int = 1
    continues: bool = False
    can_go_on: bool = False
    sole: str = ""  # the only model that can be asked: there is none to choose

    @property
    def draft_id(self) -> UUID | None:
        """Its own, where something stands there that a person may make their own version of."""
        return self.id if self.ending is not None and self.answer.html else None

    @property
    def lanes(self) -> tuple[Lane, Lane, Lane]:
        return self.answer, self.reasoning, self.refusal


@dataclass(frozen=True, slots=True)
class Other:
    """A reply that no generation here made: a person's own version of one, or one that was imported."""

    message: Message
    answer: Lane
    reasoning: Lane
    model: str

    @property
    def is_own(self) -> bool:
        return self.message.kind == MessageKind.EDITED


class Way(NamedTuple):
    """Where a step of the switcher leads: through `message`, or to it as it stands without an answer."""

    message: UUID
    unanswered: bool = False


class Switcher(NamedTuple):
    """Which version is shown, of how many, and where the steps lead."""

    place: int
    total: int
    previous: Way | None
    following: Way | None


@dataclass(frozen=True, slots=True)
class ShownTurn:
    """A person's message, the reply that stands under it, the replies that this one goes on from, and the attempts that
    did not become an answer. `follows` is the message of the turn before, `again` the generation by which to ask once more
    where its reply was deleted."""

    message: Message
    reply: Reply | None = None
    earlier: list[Reply] = field(default_factory=list)
    other: Other | None = None
    before: list[Reply] = field(default_factory=list)
    questions: Switcher | None = None
    replies: Switcher | None = None
    follows: UUID | None = None
    last: bool = True
    again: UUID | None = None


def reply_of(generation: Generation, *, current: bool = True) -> Reply:
    """Read a generation for showing; `current` is whether a person may still try it again."""
    unfinished = not generation.is_final
    message = _message_of(generation) if generation.state == State.confirmed else None
    anchor = f"g{generation.number}"
    if message is not None:
        text = Snapshot(
            handle=generation.number, seq=0, answer=message.text, reasoning=message.reasoning, refusal=""
        )
    else:
        text = drafts.snapshot(generation)
    return Reply(
        id=generation.pk,
        handle=generation.number,
        state=generation.state,
        reason=generation.reason,
        seq=text.seq,
        model=picker.label(generation.endpoint, generation.model),
        answer=_lane("answer", text.answer, anchor, unfinished=unfinished),
        reasoning=_lane("reasoning", text.reasoning, f"{anchor}r", unfinished=unfinished),
        refusal=_lane("refusal", text.refusal, f"{anchor}f", unfinished=unfinished),
        unfinished=unfinished,
        current=current,
        message=message,
        at=generation.confirmed_at or generation.ended_at,
        ending=endings.ending(
            generation.state,
            generation.reason,
            generation.detail,
            by_person=generation.cancelled_by_id is not None,
        ),
        waited_s=int((timezone.now() - generation.created).total_seconds()) if unfinished else 0,
        checking=_checking(generation) if unfinished else "",
        plan=_plan(message) if message and generation.flow == PLAN.name else None,
        facts=None if unfinished else _facts(generation),
        attempt=generation.attempt,
        continues=generation.continues_id is not None,
        can_go_on=branches.can_go_on(generation, text.answer),
        sole="" if unfinished else picker.sole(),
    )


def _checking(row: Generation) -> str:
    """What is being done with text that has come and is not shown yet."""
    if row.flow == PLAN.name:
        return _("making the plan, and checking it")
    if is_about_health(row.gate_rule):
        return _("checking the health advice")
    return _("checking the figures") if row.gate_rule.endswith(MATERIAL) else _("checking")


def _facts(row: Generation) -> Facts:
    def after(at: dt.datetime | None) -> float | None:
        return (at - row.created).total_seconds() if at else None

    return Facts(
        tokens_in=row.usage_input,
        tokens_out=row.usage_output,
        price_usd=row.price_usd,
        first_word_s=after(row.first_text_at),
        whole_s=after(row.ended_at),
        temperature=row.settings.get("temperature"),
        max_tokens=row.settings.get("max_tokens"),
    )


def render_reply(generation: Generation) -> str:
    """The inner HTML of the reply's element, as it stands in the page and in the final frame."""
    return render_to_string("chat/_reply.html", {"reply": reply_of(generation)})


def shown(turn: Turn, *, last: bool = True, follows: UUID | None = None) -> ShownTurn:
    """A turn for `_turn.html`; only the last turn's last reply can be tried again at once."""
    latest = turn.open_generations[-1] if turn.open_generations else None
    row, other = latest, None
    if turn.reply is not None:
        row = next((each for each in turn.generations if each.pk == turn.reply.generation_id), None)
        other = _other(turn.reply) if row is None else None
    parts = branches.parts(row) if row is not None else []
    apart = {row, *parts}
    if turn.replies is not None and None in turn.replies.all:
        apart.add(latest)  # it has a place of its own among the versions
    return ShownTurn(
        turn.message,
        reply_of(row, current=last) if row is not None else None,
        [reply_of(each, current=False) for each in turn.open_generations if each not in apart],
        other,
        [reply_of(each, current=False) for each in parts],
        _switcher(turn.questions, turn.message.pk),
        _switcher(turn.replies, turn.message.pk),
        follows,
        last,
        turn.again.pk if turn.again is not None and last else None,
    )


def shown_all(stretch: Stretch) -> list[ShownTurn]:
    """Every turn of a page."""
    turns = stretch.turns
    before: list[UUID | None] = [stretch.follows, *(turn.message.pk for turn in turns)]
    return [
        shown(turn, last=stretch.is_end and turn is turns[-1], follows=follows)
        for turn, follows in zip(turns, before, strict=False)
    ]


def _switcher(versions: Versions | None, question: UUID) -> Switcher | None:
    if versions is None or len(versions.all) < 2:
        return None
    ways = [Way(each or question, each is None) for each in versions.all]
    at = versions.all.index(versions.shown)
    previous = ways[at - 1] if at else None
    following = ways[at + 1] if at + 1 < len(ways) else None
    return Switcher(at + 1, len(ways), previous, following)


def _other(message: Message) -> Other:
    anchor = f"m{message.pk.hex[:12]}"
    return Other(
        message,
        _lane("answer", message.text, anchor, unfinished=False),
        _lane("reasoning", message.reasoning, f"{anchor}r", unfinished=False),
        message.origin_model,
    )


def render_turns(stretch: Stretch) -> str:
    """A page's turns as a fragment, for a page that learns of them while it is open."""
    return "".join(render_to_string("chat/_turn.html", {"turn": turn}) for turn in shown_all(stretch))


def said(message: Message) -> SafeString:
    """An answer's HTML where it stands alone, without the reply around it."""
    return _lane("answer", message.text, f"m{message.pk.hex[:12]}", unfinished=False).html


def _lane(name: str, text: str, anchor: str, *, unfinished: bool) -> Lane:
    if not text:
        return Lane(name, SafeString(""))
    # What has ended never changes; the page of a long conversation would render all of it at each visit.
    html = (rendering.render if unfinished else RENDERED.html)(text, anchor=anchor)
    # nh3 stands behind `render`: this is the one place where HTML from outside is called safe.
    return Lane(name, mark_safe(html), text if unfinished else "")  # noqa: S308


def _plan(message: Message) -> Plan | None:
    try:
        return message.plan
    except ObjectDoesNotExist:
        return None


def _message_of(generation: Generation) -> Message | None:
    try:
        return generation.message
    except ObjectDoesNotExist:
        return None
