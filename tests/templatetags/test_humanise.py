"""Numbers as people write them, in the language of the page."""

from decimal import Decimal

import pytest
from django.utils import translation

from chat.templatetags.humanise import dollars, grouped, seconds


@pytest.mark.parametrize(
    ("price", "read"),
    [
        (None, ""),
        (Decimal(0), "US$ 0.00"),
        (Decimal("0.000012"), "< US$ 0.0001"),
        (Decimal("0.004449"), "US$ 0.0044"),
        (Decimal("1234.5"), "US$ 1,234.50"),
    ],
)
def test_dollars(price: Decimal | None, read: str) -> None:
    assert dollars(price) == read


def test_durations() -> None:
    assert [seconds(each) for each in (0.04, 0.84, 12.4, 119.4, 125.9)] == [
        "0.0 s",
        "0.8 s",
        "12 s",
        "119 s",
        "2 min 5 s",
    ]


def test_each_language_has_its_own_signs() -> None:
    with translation.override("pt-br"):
        assert (grouped(1234567), dollars(Decimal("1234.5")), seconds(0.84)) == (
            "1.234.567",
            "US$ 1.234,50",
            "0,8 s",
        )
