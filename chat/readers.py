"""Who reads an open page, and whether they still may: a page lives for hours, what let it in may end meanwhile.

Takes readers and conversations by the many, gives those that still stand, in one query for each kind of row. It knows no
transport and closes nothing.
"""

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY, get_user_model
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.sessions.models import Session
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from chat import launching
from chat.models import Conversation


@dataclass(frozen=True, slots=True)
class Reader:
    """The session that a page was opened in, and the person that it was of. The key stays in memory."""

    session_key: str
    user_id: int


def admitted(readers: Collection[Reader]) -> set[Reader]:
    """Those who are signed in as they were: the session lasts, it is still that person's and made with the password that
    they have now, and the person may still come in."""
    keys = {reader.session_key for reader in readers}
    lasting = Session.objects.filter(session_key__in=keys, expire_date__gt=timezone.now())
    said = {session.session_key: session.get_decoded() for session in lasting}
    people = get_user_model().objects.in_bulk({reader.user_id for reader in readers})
    return {
        reader
        for reader in readers
        if (data := said.get(reader.session_key)) and _is_of(data, people.get(reader.user_id))
    }


def _is_of(data: dict[str, str], person: AbstractBaseUser | None) -> bool:
    """As each of their requests is looked at, but changing nothing."""
    if person is None or not person.is_active or data.get(SESSION_KEY) != str(person.pk):
        return False
    made_with = data.get(HASH_SESSION_KEY, "")
    known = [person.get_session_auth_hash(), *person.get_session_auth_fallback_hash()]
    return any(constant_time_compare(made_with, each) for each in known)


def signed_out(session_key: str) -> None:
    """The session is being deleted, whoever does it: its pages in this process are sent away after the commit."""
    launching.tell("signed_out", session_key)


def standing(conversation_ids: Collection[UUID]) -> set[UUID]:
    """Those that still exist, and were not deleted."""
    return set(Conversation.objects.standing().filter(pk__in=conversation_ids).values_list("pk", flat=True))
