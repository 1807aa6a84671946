"""What goes by itself once its time is up: conversations that were deleted and not brought back, sessions that have ended.

Takes the clock, gives how many went. Called again and again by the reaper of every process; knows no engine.
"""

import datetime as dt

from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from chat import conversations
from chat.models import Conversation

AT_ONCE = 5


def window() -> dt.timedelta:
    """How long a deleted conversation can be brought back."""
    return dt.timedelta(seconds=settings.GYMNASIA.undo_window_s)


def restorable(user_id: int) -> QuerySet[Conversation]:
    """What a person deleted a moment ago, newest first."""
    since = timezone.now() - window()
    return Conversation.objects.filter(user_id=user_id, deleted__gte=since).order_by("-deleted")


def purge() -> int:
    """Take away for good what was deleted longer ago than that: a few at a time, for the next call comes soon. Gives how
    many conversations went."""
    _purge_sessions()
    over = timezone.now() - window()
    rows = Conversation.objects.filter(deleted__lt=over)
    keys = list(rows.order_by("deleted").values_list("pk", flat=True)[:AT_ONCE])
    for key in keys:
        with transaction.atomic():
            # Looked at again: it may have been brought back in this very moment.
            row = rows.select_for_update().filter(pk=key).first()
            if row is not None:
                conversations.delete(row, by=None)
    return len(keys)


def _purge_sessions() -> None:
    """Those that ran out: with each goes what was noted of its browser and address (`apps.py`)."""
    over = Session.objects.filter(expire_date__lt=timezone.now())
    for session in over.order_by("expire_date")[:AT_ONCE]:
        session.delete()
