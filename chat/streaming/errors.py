"""Every exception of the pure core, so that a caller can tell their fault from ours.

Takes nothing; gives the tree below. Knows nothing of HTTP: what a transport raises belongs to `upstream.py`.

    StreamingError
    ├── ProviderFault          theirs: what came over the network cannot be read; becomes a verdict
    │   ├── EventTooLarge        one event passed the limit before it ended
    │   ├── ReplyTooLong         all parts together passed the limit of a reply
    │   ├── MalformedStream      an event is not what its wire allows (broken JSON, for one)
    │   └── RewrittenText        a cumulative transport took back text that it had already shown
    └── Misuse                 ours: a bug in this project, to be seen by a developer
        ├── FeedAfterClose       a stage was fed after its close
        ├── ReleaseBeforeClose   held text was asked for before the stream had ended
        ├── UnknownSetting       a prompt carries a setting that its wire does not know
        ├── UnknownGate          a gate was asked for by a name or size that there is not
        └── IllegalTransition    a non-final state has no cell for that trigger
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class StreamingError(Exception):
    """The root of the tree."""


class ProviderFault(StreamingError):
    """What the provider sent cannot be read. The text never quotes the stream, so that it may be journalled."""


class EventTooLarge(ProviderFault):
    """One event passed the limit; its bytes were dropped, and the events before it come along.

    `events` are those that stood whole before it in the same chunk: without them the reading would depend on
    how the network cut the bytes.
    """

    def __init__(self, limit_bytes: int, events: Sequence[Any] = ()) -> None:
        # How much had come when it was noticed depends on the chunks, so the text does not say it.
        super().__init__(f"expected an event of at most {limit_bytes} bytes, got a larger one")
        self.events = list(events)


class ReplyTooLong(ProviderFault):
    """The parts of one reply passed the limit together, event by event: a model that does not end."""

    def __init__(self, limit_chars: int) -> None:
        super().__init__(f"expected a reply of at most {limit_chars} characters, got a longer one")


class MalformedStream(ProviderFault):
    """An event is not what its wire allows."""


class RewrittenText(ProviderFault):
    """A transport that shows all so far changed what it had shown."""


class Misuse(StreamingError):
    """This project used the core in a way that has no meaning."""


class FeedAfterClose(Misuse):
    """A stage was fed after its close."""

    def __init__(self, stage: object) -> None:
        super().__init__(f"expected no more input after close(), got some in {type(stage).__name__}")


class ReleaseBeforeClose(Misuse):
    """Held text was asked for while the stream was still open."""


class UnknownSetting(Misuse):
    """A prompt carries a setting that its wire does not know."""


class UnknownGate(Misuse):
    """A gate was asked for by a name or size that there is not."""


class IllegalTransition(Misuse):
    """A non-final state has no cell for that trigger."""
