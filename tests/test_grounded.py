"""A figure that the material has is found however it is written; one that it has not is told."""

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.grounded import ungrounded

MATERIAL = """
Opening hours: 6:30 to 22:00. The pool is 25 m long and holds 1.250.000 litros of water.
A month costs R$ 149,90; a year 1,499.00 USD. Founded on 12/03/2015. Closed on 25 December 2025 and 2026-01-01.
Sessions last 45 min; 80 % of members come 3 times a week. A course runs 8 semanas. Max 120 kg.
"""


@pytest.mark.parametrize(
    "answer",
    [
        "It opens at 6:30 and closes at 22:00.",
        "A piscina tem 25 metros.",
        "It holds 1,250,000 litres; 1 250 000 l.",
        "Custa 149,90 reais por mês, or R$149.90.",
        "A year is 1499 dollars, ou 1.499,00.",
        "Fundada em 12 de março de 2015, on March 12, 2015, el 12 de marzo.",
        "Closed on 25/12/2025, 12/25/2025, December 25th and January 1, 2026 (01.01.2026).",
        "45 minutos; 80 por cento, 80 percent, 80%.",
        "1. First, warm up.\n2) Then lift.\n- 3. Rest.",
        "8 weeks, up to 120 quilos.",
        "No figure at all, version A.",
        "٤٥ min",
        "",
    ],
)
def test_what_the_material_has(answer: str) -> None:
    assert ungrounded(answer, MATERIAL) == []


@pytest.mark.parametrize(
    ("answer", "missing"),
    [
        ("It closes at 23:00.", ["23"]),
        ("The pool is 50 m long.", ["50 m"]),
        ("25 kg", ["25 kg"]),
        ("It costs R$ 149,99.", ["r$ 149,99"]),
        ("Founded on 13/03/2015.", ["13/03/2015"]),
        ("Founded on 12 March 2016.", ["12 march 2016"]),
        ("Fechado em 24 de dezembro.", ["24 de dezembro"]),
        ("85 % come; 3 times.", ["85 %"]),
        ("45 h", ["45 h"]),
        ("1.250.001 litros, 2 e 45 min", ["1.250.001 litros", "2"]),
    ],
)
def test_what_it_has_not(answer: str, missing: list[str]) -> None:
    """A right number with a wrong unit is a wrong figure."""
    assert ungrounded(answer, MATERIAL) == missing


def test_a_year_that_was_not_given_is_not_grounded() -> None:
    """The material says the day alone: the answer may not add a year to it."""
    assert ungrounded("Closed on 5 May.", "Closed on 5 May 2024.") == []
    assert ungrounded("Closed on 5 May 2024.", "Closed on 5 May.") == ["5 may 2024"]


def grouped(number: int, sign: str) -> str:
    return f"{number:,}".replace(",", sign)


SIGNS = st.sampled_from([(",", "."), (".", ","), (" ", ","), ("", "."), ("", ","), ("\u202f", ",")])
UNITS = st.sampled_from(["", " kg", " quilos", "kg", " kilos"])


@given(whole=st.integers(0, 10**9), cents=st.integers(1, 99), said=SIGNS, known=SIGNS, one=UNITS, other=UNITS)
def test_a_number_is_the_same_in_every_way_of_writing(
    whole: int, cents: int, said: tuple[str, str], known: tuple[str, str], one: str, other: str
) -> None:
    """Whatever groups its thousands and parts its decimals, in the answer and in the material."""

    def write(signs: tuple[str, str], unit: str) -> str:
        return f"about {grouped(whole, signs[0])}{signs[1]}{cents:02}{unit} in all"

    assert ungrounded(write(said, one), write(known, other)) == []


@given(known=st.integers(0, 10**6), said=st.integers(0, 10**6), sign=st.sampled_from(["", ",", ".", " "]))
def test_another_number_is_never_grounded(known: int, said: int, sign: str) -> None:
    """Unless "1.234" may be meant as a fraction, which no whole number equals."""
    found = ungrounded(f"x {grouped(said, sign)} y", f"x {grouped(known, sign)} y")
    assert bool(found) is (known != said)


DATES = st.dates(dt.date(1990, 1, 1), dt.date(2040, 12, 31))
EN_TEXT = "January February March April May June July August September October November December"
PT_TEXT = "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro"
ES_TEXT = "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"
MONTHS = {"en": EN_TEXT.split(), "pt": PT_TEXT.split(), "es": ES_TEXT.split()}
WAYS = [
    lambda day: day.isoformat(),
    lambda day: f"{day.day}/{day.month}/{day.year}",
    lambda day: f"{day.month:02}/{day.day:02}/{day.year}",
    lambda day: f"{day.day:02}.{day.month:02}.{day.year}",
    lambda day: f"{MONTHS['en'][day.month - 1]} {day.day}, {day.year}",
    lambda day: f"{day.day} de {MONTHS['pt'][day.month - 1]} de {day.year}",
    lambda day: f"{day.day} de {MONTHS['es'][day.month - 1]} del {day.year}",
]


@given(day=DATES, said=st.sampled_from(WAYS), known=st.sampled_from(WAYS))
def test_a_date_is_the_same_in_every_way_of_writing(day: dt.date, said: object, known: object) -> None:
    assert callable(said)
    assert callable(known)
    assert ungrounded(f"It was on {said(day)}.", f"On {known(day)} it was.") == []


@given(day=DATES, other=DATES, way=st.sampled_from(WAYS[3:]))
def test_another_date_is_told(day: dt.date, other: dt.date, way: object) -> None:
    """Where it is not a matter of which comes first, day or month."""
    assert callable(way)
    swapped = (day.year, day.day, day.month) == (other.year, other.month, other.day)
    found = ungrounded(f"It was on {way(day)}.", f"On {way(other)} it was.")
    assert bool(found) is (day != other and not (swapped and "." in way(day)))


def test_a_giant_costs_what_it_is_long() -> None:
    """Not its length times that of the material: it is looked at where all replies end."""
    assert len(ungrounded("12 kg " * 20_000, "13 kg " * 20_000)) == 20_000
