"""What a person reads when a reply did not become an answer: one row per reason, one sentence each.

Takes the words of a generation's row, gives an `Ending`. It knows no request and no text of the reply. A reason
without a row of its own is told by its state, so that no reply ever ends without a sentence.
"""

import re
from typing import NamedTuple

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext, pgettext_lazy

from chat.states.generation import GENERATION

Text = str | Promise


class Ending(NamedTuple):
    """`kind` chooses mark and shape (also the icon's name); `retry` says whether trying again can help, `anew` whether a new
    conversation would."""

    kind: str
    sentence: Text
    retry: bool = True
    anew: bool = False

    @property
    def mark(self) -> Text:
        """The word that tells kinds apart before colour does."""
        return MARKS[self.kind]


MARKS: dict[str, Text] = {
    "stopped": pgettext_lazy("mark of a reply", "stopped"),
    "cut": pgettext_lazy("mark of a reply", "cut off"),
    "limit": pgettext_lazy("mark of a reply", "too long"),
    "refused": pgettext_lazy("mark of a reply", "refused"),
    "withdrawn": pgettext_lazy("mark of a reply", "withdrawn"),
    "failed": pgettext_lazy("mark of a reply", "failed"),
    "expired": pgettext_lazy("mark of a reply", "out of time"),
}

REASONS: dict[str, Ending] = {
    # A person's wish.
    "cancelled": Ending("stopped", _("You stopped this reply here.")),
    "deleted": Ending(
        "stopped", _("This conversation was deleted while the reply was being written."), retry=False
    ),
    # The provider stopped short, and said so.
    "max_tokens": Ending("limit", _("The model came to its length limit before it was done.")),
    "context_window": Ending(
        "limit",
        _(
            "This conversation no longer fits into the model. Shorten your message, start a new conversation, or choose "
            "a roomier model below."
        ),
        anew=True,
    ),
    "content_filter": Ending("refused", _("The provider's content filter ended this reply half-way.")),
    "paused": Ending("cut", _("The model paused in the middle and did not pick up again.")),
    "continuation": Ending("cut", _("The provider sent only the first part of this reply.")),
    "incomplete": Ending("cut", _("The provider called this reply incomplete, and did not say why.")),
    "provider_notice": Ending("cut", _("The provider ended this reply with a notice instead of an ending.")),
    "unknown": Ending("cut", _("The provider ended this reply with a word that we do not know.")),
    # The end was never seen.
    "stream_truncated": Ending("cut", _("The reply stopped before the model said that it was done.")),
    "connection_lost": Ending("cut", _("The line to the model broke in mid-sentence.")),
    "stalled": Ending("cut", _("The model went silent, so we stopped waiting.")),
    "worker_lost": Ending(
        "cut", _("The server went down while this was being written; this is the draft as last saved.")
    ),
    "shutdown": Ending("cut", _("The server was restarted while this was being written.")),
    # Somebody said no.
    "model_refusal": Ending("refused", _("The model declined to answer. Other words may help.")),
    "refusal": Ending("refused", _("The model broke off and declined to go on. Other words may help.")),
    "prompt_blocked": Ending("refused", _("The provider's rules kept this question from the model.")),
    "policy": Ending(
        "withdrawn",
        _(
            "This reply broke one of our rules for safe advice, so we took it back. For your health, ask a doctor or a "
            "physiotherapist."
        ),
    ),
    "ungrounded": Ending(
        "withdrawn", _("This reply had a figure that our material does not have, so we took it back.")
    ),
    "invalid_plan": Ending(
        "failed",
        _(
            "The plan was not one that could be trained, so it was not kept. Another try may bring a good one."
        ),
    ),
    # Something is broken, there or here.
    "provider_error": Ending("failed", _("The provider ran into an error of its own.")),
    "rate_limited": Ending(
        "failed", _("The provider has too many requests. Give it a minute, then try again.")
    ),
    "quota": Ending(
        "failed", _("This server's account with the provider is used up. Another model may work.")
    ),
    "unauthorized": Ending(
        "failed", _("The provider did not accept this server's key. Another model may work.")
    ),
    "not_found": Ending(
        "failed", _("The provider does not know this model any more. Choose another one below.")
    ),
    "connect_failed": Ending("failed", _("We could not reach the model.")),
    "http_error": Ending("failed", _("The model's server turned this request down.")),
    "bad_response": Ending("failed", _("The provider answered, but not with a reply.")),
    "malformed_stream": Ending("failed", _("What the provider sent could not be read.")),
    "event_too_large": Ending("failed", _("The reply was larger than this server accepts.")),
    "malformed_tool_call": Ending("failed", _("The model asked for a tool in a way that could not be read.")),
    "unexpected_tool_call": Ending("failed", _("The model asked for a tool that it was never offered.")),
    "empty_answer": Ending("failed", _("The model finished without writing a word.")),
    "divergent": Ending("failed", _("The provider's final text was not what it had sent. We trust neither.")),
    "internal": Ending("failed", _("Something went wrong on our side. It has been written down.")),
    # Out of time.
    "deadline": Ending("expired", _("This reply took longer than this server allows.")),
}

STATES: dict[str, Ending] = {
    "cancelled": Ending("stopped", _("This reply was stopped here.")),
    "incomplete": Ending("cut", _("This reply is not whole.")),
    "failed": Ending("failed", _("This reply failed.")),
    "expired": Ending("expired", _("The time for this reply ran out.")),
}

PROVIDER_BROKE = Ending("failed", _("The provider had a fault of its own and did not answer."))
# How the wires begin the detail of an HTTP error. A provider's own word for it may be anything.
_SERVER_FAULT = re.compile(r"HTTP 5\d\d\b")
# What the runner adds where a provider said how long it wants to be left alone.
_ASKED_TO_WAIT = re.compile(r"; asked to wait (\d{1,6}) s$")


class PageEnding(NamedTuple):
    """How an open page ends what it shows of a reply, when it will hear no more of it; the state is the page's alone."""

    name: str
    state: str
    reason: str
    ending: Ending


PAGE_ENDINGS = (
    PageEnding("gone", "cancelled", "deleted", REASONS["deleted"]),
    PageEnding(
        "signedOut",
        "incomplete",
        "signed_out",
        Ending(
            "cut",
            _(
                "You have been signed out, so this page no longer follows the reply. Sign in to see how it went on."
            ),
            retry=False,
        ),
    ),
)


def ending(state: str, reason: str, detail: str = "", *, by_person: bool = True) -> Ending | None:
    """How a reply in `state` ended, for `reason`; None while it is being written and when it is an answer.

    `detail` (the row's) only tells who is to blame for an HTTP error (what broke there did not turn anybody down), and how
    long a provider wants to be left alone. What no person stopped (`by_person`) is not said to be anybody's doing.
    """
    if state not in GENERATION.finals or state == "confirmed":
        return None
    if reason == "cancelled" and not by_person:
        return STATES["cancelled"]
    if reason == "http_error" and _SERVER_FAULT.match(detail):
        return PROVIDER_BROKE
    if reason == "rate_limited" and (asked := _ASKED_TO_WAIT.search(detail)):
        return Ending("failed", _wait(int(asked[1])))
    return REASONS.get(reason) or STATES[state]


def _wait(seconds: int) -> str:
    """How long the provider wants to be left alone, in minutes, rounded up."""
    minutes = max(1, -(-seconds // 60))
    return ngettext(
        "The provider has too many requests. It can be asked again in %(n)s minute.",
        "The provider has too many requests. It can be asked again in %(n)s minutes.",
        minutes,
    ) % {"n": minutes}
