"""Who is told when a generation begins or ends, or a page must: the seam between verbs and whatever runs generations.

Verbs call `tell` inside their transaction; the engines that registered themselves hear of it after the commit.
"""

from typing import Any, Protocol
from uuid import UUID

from django.db import transaction

from chat.models import Generation


class Engine(Protocol):
    """What runs generations. Called after the commit, from any thread."""

    def launch(self, generation: Generation) -> None:
        """Run it, unless somebody does already."""

    def stop(self, generation: Generation) -> None:
        """It was ended by a person: let go of the provider, and tell the pages."""

    def closed(self, conversation_id: UUID) -> None:
        """The conversation is gone: send its pages away."""

    def signed_out(self, session_key: str) -> None:
        """The session is gone: send its pages away."""


_engines: list[Engine] = []


def register_engine(engine: Engine) -> None:
    """From now on `engine` is told. Without one the reaper of the next process launches what is queued."""
    _engines.append(engine)


def unregister_engine(engine: Engine) -> None:
    _engines.remove(engine)


def tell(verb: str, *args: Any) -> None:
    """Call `verb` of each engine once the transaction is committed."""
    for engine in _engines:
        transaction.on_commit(lambda engine=engine: getattr(engine, verb)(*args))  # type: ignore[misc]
