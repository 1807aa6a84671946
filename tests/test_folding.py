"""Folding forgets case, accents and the unseen, and knows the way back."""

import pytest

from chat.folding import fold, spans


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Ação\tÉ\n", "acao e "),
        ("cafe\u0301", "cafe"),
        ("Straße", "strasse"),
        ("ﬁn Ⅳ ２", "fin iv 2"),
        ("a\u200bb\x00c\ufeff", "abc"),
        ("हिन्दी", "हिन्दी"),
        ("が", "か\u3099"),
        ("\ud800x", "x"),
    ],
)
def test_fold(text: str, folded: str) -> None:
    """Accents go; what makes another letter of one (a virama, the voicing of kana) stays."""
    assert fold(text) == folded


@pytest.mark.parametrize(
    ("text", "term", "found"),
    [
        ("Sem ação, nem Ações", "ACAO", ["ação"]),
        ("Sem ação, nem Ações", "açã", ["açã"]),
        ("cafe\u0301 noir", "cafe", ["cafe\u0301"]),
        ("Straße", "s", ["S", "ß"]),
        ("Straße", "strasse", ["Straße"]),
        ("a\u200bb", "ab", ["a\u200bb"]),
        ("plain", "zzz", []),
        ("plain", "", []),
    ],
)
def test_spans_are_stretches_of_the_text(text: str, term: str, found: list[str]) -> None:
    """Whole characters with the marks that belong to them."""
    assert [text[start:end] for start, end in spans(text, [fold(term)])] == found


def test_spans_do_not_overlap_and_are_bounded() -> None:
    assert spans("abcabc", ["ab", "bc"]) == [(0, 3), (3, 6)]
    assert spans("a" * 1000, ["a"], most=3) == [(0, 1), (1, 2), (2, 3)]
