"""One reply as HTML: the same template for the page, for a fragment and for a stream's final frame.

Takes a generation's row (with `message` and `checkpoint`, selected or not), gives a `Reply` for the template or the
finished HTML. Knows no request: buttons belong to the page's own form, which holds the CSRF token.
"""

import datetime as dt
from dataclasses import dataclass, field
from decimal import Decimal
from uuid import UUID

from django.core.exceptions import ObjectDoesNotExist
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe

from chat import drafts, rendering
from chat.conversations import Turn
from chat.models import Generation, Message
from chat.replies import endings, picker
from chat.replies.rendered import RENDERED
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
    facts: Facts | None = None

    @property
    def lanes(self) -> tuple[Lane, Lane, Lane]:
        return self.answer, self.reasoning, self.refusal


@dataclass(frozen=True, slots=True)
class ShownTurn:
    """A person's message, the reply that stands under it, and the attempts before that one."""

    message: Message
    reply: Reply | None
    earlier: list[Reply] = field(default_factory=list)


def reply_of(generation: Generation, *, current: bool = True) -> Reply:
    """Read a generation for showing; `current` is whether a person may still try it again."""
    unfinished = not generation.is_final
    message = None if unfinished else _message_of(generation)
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
        ending=endings.ending(generation.state, generation.reason, generation.detail),
        waited_s=int((timezone.now() - generation.created).total_seconds()) if unfinished else 0,
        facts=None if unfinished else _facts(generation),
    )


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


def shown(turn: Turn, *, last: bool = True) -> ShownTurn:
    """A turn for `_turn.html`; only the last turn's last reply can be tried again."""
    if not turn.generations:
        return ShownTurn(turn.message, None)
    *earlier, latest = turn.generations
    return ShownTurn(
        turn.message, reply_of(latest, current=last), [reply_of(each, current=False) for each in earlier]
    )


def render_turn(turn: Turn, *, last: bool = True) -> str:
    """The whole turn as a fragment, for a page that learns of it while it is open."""
    return render_to_string("chat/_turn.html", {"turn": shown(turn, last=last)})


def _lane(name: str, text: str, anchor: str, *, unfinished: bool) -> Lane:
    if not text:
        return Lane(name, SafeString(""))
    # What has ended never changes; the page of a long conversation would render all of it at each visit.
    html = (rendering.render if unfinished else RENDERED.html)(text, anchor=anchor)
    # nh3 stands behind `render`: this is the one place where HTML from outside is called safe.
    return Lane(name, mark_safe(html), text if unfinished else "")  # noqa: S308


def _message_of(generation: Generation) -> Message | None:
    try:
        return generation.message
    except ObjectDoesNotExist:
        return None
