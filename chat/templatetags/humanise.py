"""Numbers as people of the page's language write them."""

from decimal import Decimal

from django import template
from django.utils.formats import number_format

register = template.Library()

CENT = Decimal("0.01")


@register.filter
def grouped(number: int) -> str:
    """A whole number with its thousands apart."""
    return number_format(number, 0, use_l10n=True, force_grouping=True)


@register.filter
def dollars(price: Decimal | None) -> str:
    """US dollars: to the cent, or as small as the price is; "" for none."""
    if price is None:
        return ""
    places = 2 if price >= CENT or price == 0 else 4
    if 0 < price < Decimal("0.0001"):
        return f"< US$ {number_format(Decimal('0.0001'), 4, use_l10n=True)}"
    return f"US$ {number_format(price, places, use_l10n=True, force_grouping=True)}"


@register.filter
def seconds(duration: float) -> str:
    """A duration as it is felt: tenths below ten seconds, minutes above two."""
    if duration < 10:
        return f"{number_format(round(duration, 1), 1, use_l10n=True)} s"
    if duration < 120:
        return f"{round(duration)} s"
    return f"{int(duration // 60)} min {int(duration % 60)} s"
