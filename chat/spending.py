"""What a person's replies have used, by month and model: tokens as providers counted them, prices by the lists.

Takes a person, gives sums, newest month first. Every generation counts, whole or not: a stopped reply costs too, and what
its provider had not yet told is missing here.
"""

import datetime as dt
from decimal import Decimal
from typing import NamedTuple

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import Count, Q, Sum
from django.db.models.functions import TruncMonth

from chat.models import Generation

MONTHS = 12


class Line(NamedTuple):
    """One model in one month. `unpriced` is how many of its `replies` no list knows a price of."""

    endpoint: str
    model: str
    replies: int
    tokens_in: int
    tokens_out: int
    price_usd: Decimal
    unpriced: int


class Month(NamedTuple):
    """A month and its lines, the dearest first."""

    month: dt.date
    lines: list[Line]

    @property
    def total(self) -> Line:
        """The sum over its models."""
        return Line(
            "",
            "",
            sum(line.replies for line in self.lines),
            sum(line.tokens_in for line in self.lines),
            sum(line.tokens_out for line in self.lines),
            sum((line.price_usd for line in self.lines), Decimal(0)),
            sum(line.unpriced for line in self.lines),
        )


def months(user: AbstractBaseUser | AnonymousUser) -> list[Month]:
    """The newest months in which anything was asked."""
    if user.pk is None:
        return []
    found = (
        Generation.objects.filter(user_id=user.pk)
        .annotate(month=TruncMonth("created"))
        .values("month", "endpoint", "model")
        .annotate(
            replies=Count("pk"),
            tokens_in=Sum("usage_input", default=0),
            tokens_out=Sum("usage_output", default=0),
            price=Sum("price_usd", default=Decimal(0)),
            unpriced=Count("pk", filter=Q(price_usd=None)),
        )
        .order_by("-month", "-price", "-tokens_out", "endpoint", "model")
    )
    by_month: dict[dt.date, list[Line]] = {}
    for row in found:
        line = Line(
            row["endpoint"],
            row["model"],
            row["replies"],
            row["tokens_in"],
            row["tokens_out"],
            row["price"],
            row["unpriced"],
        )
        by_month.setdefault(row["month"].date(), []).append(line)
    return [Month(month, lines) for month, lines in list(by_month.items())[:MONTHS]]
