"""How often a person may ask: so many replies within an hour, whatever the conversation and the page.

Takes a person, raises `TooFast` with the seconds after which they may ask again. Replies that follow by themselves after a
lost connection are nobody's asking and are not counted; deleting a conversation gives none back.
"""

import datetime as dt
import math

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.utils import timezone

from chat.models import Generation

HOUR = dt.timedelta(hours=1)


class TooFast(Exception):
    """Not now: `wait_s` seconds later there is room again. `limit` is how many an hour holds."""

    def __init__(self, limit: int, wait_s: int) -> None:
        super().__init__(f"expected at most {limit} replies asked for within an hour; got one more")
        self.limit = limit
        self.wait_s = wait_s


def check(person: AbstractBaseUser) -> None:
    """Whether one more reply may be asked for now."""
    limit: int = settings.GYMNASIA.messages_per_hour
    if limit == 0:
        return
    now = timezone.now()
    lately = Generation.objects.filter(user_id=person.pk, automatic_retries=0, created__gt=now - HOUR)
    at = lately.order_by("-created").values_list("created", flat=True)[limit - 1 : limit].first()
    if at is not None:
        raise TooFast(limit, max(1, math.ceil((at + HOUR - now).total_seconds())))
