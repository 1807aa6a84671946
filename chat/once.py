"""A form that is sent twice does its work once: by a double click, a second Enter, a page that was sent again.

Takes the key that a page gave to a form, what the form says, and what it would do; gives what came of it, the first time
and every other time. Other words under the same key are another form: whoever goes back and changes the text loses nothing.
"""

import datetime as dt
import hashlib
from collections.abc import Callable

from django.contrib.auth.models import AbstractBaseUser
from django.db import IntegrityError, transaction
from django.utils import timezone

from chat.models import Conversation, FormKey, Generation

KEPT = dt.timedelta(days=1)
KEY_CHARS = 100

Result = tuple[Conversation, Generation | None]


class Gone(Exception):
    """It was done once, and what came of it has been deleted since."""


def once(user: AbstractBaseUser, key: str, said: tuple[str, ...], act: Callable[[], Result]) -> Result:
    """Do `act` unless this form was sent before; gives its conversation and generation. Without a key it is always done.

    Of two at once the second waits for the first, by the database's own wall. What `act` raises leaves no trace: the form
    may be sent again. Raises `Gone`.
    """
    if not key:
        return act()
    digest = hashlib.sha256("\x1f".join((key[:KEY_CHARS], *said)).encode("utf-8", "replace")).hexdigest()
    try:
        with transaction.atomic():
            row = FormKey.objects.create(user_id=user.pk, digest=digest)
            row.conversation, row.generation = result = act()
            row.save(update_fields=["conversation", "generation"])
            FormKey.objects.filter(user_id=user.pk, created__lt=timezone.now() - KEPT).delete()
            return result
    except IntegrityError:
        first = FormKey.objects.filter(user_id=user.pk, digest=digest)
        found = first.select_related("conversation", "generation__conversation").first()
        if found is None:
            raise
    if found.conversation is None:
        raise Gone
    return found.conversation, found.generation
