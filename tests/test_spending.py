"""What replies have used, by month and model; what nobody knows is not made up."""

import datetime as dt
from decimal import Decimal

import pytest
from django.contrib.auth.models import AnonymousUser

from chat import spending
from chat.models import Generation
from chat.spending import Line
from chat.streaming.deltas import Usage
from tests.rows import cut, ended, person, reading, sent


@pytest.mark.django_db
def test_every_reply_counts_in_its_month() -> None:
    ana, eva = person(), person("eva")
    for text in ("1", "2"):
        ended(sent(ana, text), reading(usage=Usage(10, 5)))
    cut_short = ended(sent(ana, "3"), cut())
    old = ended(sent(ana, "4"), reading(usage=Usage(1, 1)))
    ended(sent(eva), reading())
    rows = Generation.objects.filter(user_id=ana.pk)
    rows.update(created=dt.datetime(2026, 11, 3, tzinfo=dt.UTC))
    rows.filter(pk=old.pk).update(
        created=dt.datetime(2026, 10, 31, 23, tzinfo=dt.UTC), model="b", price_usd=Decimal("0.5")
    )
    rows.filter(pk=cut_short.pk).update(price_usd=Decimal("0.25"))
    november, october = spending.months(ana)
    assert (november.month, november.lines) == (
        dt.date(2026, 11, 1),
        [Line("scripted", "scripted-1", 3, 20, 10, Decimal("0.25"), 2)],
    )
    assert october == (dt.date(2026, 10, 1), [Line("scripted", "b", 1, 1, 1, Decimal("0.5"), 0)])
    assert november.total == Line("", "", 3, 20, 10, Decimal("0.25"), 2)
    assert spending.months(AnonymousUser()) == []
