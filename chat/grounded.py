"""Whether each figure and date of an answer stands in the material that it quotes. Portuguese, Spanish and English.

Takes an answer and the material; gives the figures and dates of the answer that the material does not have, as they are
written. A number is read in every way that it may be meant ("1.234" is a thousand or a bit over one): one reading in
common is enough. Units and dates are compared by meaning ("45 min", "45 minutos"; "12/03/2025", "March 12, 2025"). Numbers
written as words and the numbers of a list are no figures. Knows no flow and no model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple

from chat.policy.words import fold

_MONTHS_TEXT = """
    january janeiro enero jan ene | february fevereiro febrero feb fev | march marco marzo mar | april abril apr abr
    | may maio mayo mai | june junho junio jun | july julho julio jul | august agosto aug ago
    | september setembro septiembre setiembre sep sept set | october outubro octubre oct out
    | november novembro noviembre nov | december dezembro diciembre dec dez dic
"""
_MONTHS = {name: at for at, names in enumerate(_MONTHS_TEXT.split("|"), 1) for name in names.split()}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))

_UNITS_TEXT = """
    kg kgs kilo kilos quilo quilos kilogram kilograms quilograma quilogramas kilogramo kilogramos
    | g gram grams grama gramas gramo gramos | mg milligram milligrams miligrama miligramas miligramo miligramos
    | lb lbs pound pounds libra libras | km kms kilometre kilometres kilometer kilometers quilometro quilometros
    kilometro kilometros | m metre metres meter meters metro metros | cm centimetre centimetres centimeter centimeters
    centimetro centimetros | mi mile miles milha milhas milla millas | l litre litres liter liters litro litros
    | ml millilitre millilitres milliliter milliliters mililitro mililitros | h hr hrs hour hours hora horas
    | min mins minute minutes minuto minutos | s sec secs second seconds segundo segundos | day days dia dias
    | week weeks semana semanas | month months mes meses | year years ano anos | % percent pct | kcal cal calories
    calorias kilocalories quilocalorias kilocalorias | € eur euro euros | $ us$ usd dollar dollars dolar dolares
    | r$ brl real reais reales | £ gbp pound_sterling | bpm | watts watt w
"""
_UNITS = {name: at for at, names in enumerate(_UNITS_TEXT.split("|"), 1) for name in names.split()}
_UNIT_WORD = "|".join(re.escape(name) for name in sorted(_UNITS, key=len, reverse=True))

# Digits with signs between them that may group or part; a space groups three digits only.
_NUMBER = r"\d+(?:(?:[.,'\u202f\u00a0 ]\d{3})+(?!\d)(?:[.,]\d+)?|[.,]\d+)?"
_FIGURE = re.compile(
    rf"(?P<before>r\$|us\$|[€$£])?\s?(?<![\w.,])(?P<number>{_NUMBER})"
    rf"(?:\s?(?P<after>por cento|por ciento|per cent|{_UNIT_WORD})(?!\w))?",
)
_LIST_NUMBER = re.compile(r"^[ \t]*(?:[>*-][ \t]+)*\d{1,3}[.)][ \t]", re.MULTILINE)

_NUMERIC_DATE = re.compile(r"(?<![\w./-])(\d{1,4})([./-])(\d{1,2})\2(\d{1,4})(?![\w/-]|\.\d)")
_DAY_FIRST = re.compile(
    rf"(?<![\w.,])(\d{{1,2}})(?:st|nd|rd|th|º|o)?\s+(?:de\s+|of\s+)?({_MONTH})\b\.?"
    r"(?:,?\s+(?:de\s+|del\s+)?(\d{4}))?(?![\w])"
)
_MONTH_FIRST = re.compile(rf"(?<!\w)({_MONTH})\b\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?(?:,?\s+(\d{{4}}))?(?!\w)")


class Date(NamedTuple):
    """One day; year 0 where none was said."""

    year: int
    month: int
    day: int


class Found(NamedTuple):
    """A figure or a date: as it is written, and every way to read it. `unit` is 0 where none is said."""

    text: str
    numbers: frozenset[Decimal] = frozenset()
    unit: int = 0
    dates: frozenset[Date] = frozenset()


def ungrounded(answer: str, material: str) -> list[str]:
    """Return what the answer has and the material has not, in order, as it is written there."""
    numbers: dict[Decimal, set[int]] = {}
    days: dict[tuple[int, int], set[int]] = {}
    for known in _found(material):
        for number in known.numbers:
            numbers.setdefault(number, set()).add(known.unit)
        for date in known.dates:
            days.setdefault((date.month, date.day), set()).add(date.year)

    def stands(said: Found) -> bool:
        if said.dates:
            # A year that was not said contradicts nothing; one that is said must stand there.
            return any(
                date.year in days.get((date.month, date.day), ())
                or (date.year == 0 and (date.month, date.day) in days)
                for date in said.dates
            )
        # Nor does a unit that only one of them says.
        units = (numbers.get(number, set()) for number in said.numbers)
        return any(found and (said.unit == 0 or not found.isdisjoint({said.unit, 0})) for found in units)

    return [each.text for each in _found(answer) if not stands(each)]


def _found(text: str) -> Iterator[Found]:
    """Every date and every figure, in order of place; a date is no figure as well."""
    folded = _LIST_NUMBER.sub(lambda number: " " * len(number.group()), _plain(text))
    found: list[tuple[int, Found]] = []

    def take(match: re.Match[str], dates: set[Date]) -> str:
        if not dates:
            return match.group()
        found.append((match.start(), Found(match.group().strip(" ."), dates=frozenset(dates))))
        return " " * len(match.group())

    folded = _NUMERIC_DATE.sub(lambda match: take(match, _numeric(match)), folded)
    folded = _DAY_FIRST.sub(
        lambda match: take(match, _named(match.group(1), match.group(2), match.group(3))), folded
    )
    folded = _MONTH_FIRST.sub(
        lambda match: take(match, _named(match.group(2), match.group(1), match.group(3))), folded
    )
    for match in _FIGURE.finditer(folded):
        unit = match["after"] or match["before"] or ""
        place = 0 if not unit else _UNITS.get("%" if unit.startswith(("por ", "per ")) else unit, 0)
        number = match["number"]
        found.append((match.start(), Found(match.group().strip(), frozenset(_readings(number)), place)))
    return (each for _at, each in sorted(found, key=lambda pair: pair[0]))


def _plain(text: str) -> str:
    """Folded, with the digits of other scripts made ours."""
    return "".join(str(int(sign)) if sign.isdecimal() else sign for sign in fold(text))


def _readings(number: str) -> set[Decimal]:
    """Every value that a number may mean: each of its signs groups thousands, or the last one parts decimals."""
    compact = re.sub(r"['\u202f\u00a0 ]", "", number)
    signs = [sign for sign in compact if sign in ".,"]
    if not signs:
        return {Decimal(compact)}
    values = set()
    whole, last, rest = compact.rpartition(signs[-1])
    if signs.count(last) == 1:
        values.add(Decimal(f"{re.sub('[.,]', '', whole)}.{rest}"))
    if len(set(signs)) == 1 and re.fullmatch(r"\d{1,3}(?:[.,]\d{3})+", compact):
        values.add(Decimal(re.sub("[.,]", "", compact)))
    return values


def _numeric(match: re.Match[str]) -> set[Date]:
    first, second, third = match.group(1), match.group(3), match.group(4)
    if len(first) == 4 and len(third) <= 2:
        orders = [(first, second, third)]
    elif len(first) <= 2 and len(third) in {2, 4}:
        year = third if len(third) == 4 else f"20{third}"
        orders = [(year, second, first), (year, first, second)]  # the day first, or the month
    else:
        return set()
    return {date for order in orders for date in _date(*order)}


def _named(day: str, month: str, year: str | None) -> set[Date]:
    return set(_date(year or "0", str(_MONTHS[month]), day))


def _date(year: str, month: str, day: str) -> Iterator[Date]:
    if 1 <= int(month) <= 12 and 1 <= int(day) <= 31:
        yield Date(int(year), int(month), int(day))
