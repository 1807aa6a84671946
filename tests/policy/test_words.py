"""A word is found however it is written, and only where it stands alone."""

import pytest

from chat.policy.words import fold, phrases


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("DÓI", "doi"),
        ("do\u0301i", "doi"),
        ("d\u00ado\u200bi", "doi"),
        ("ＰＡＩＮ", "pain"),
        ("don’t", "don't"),
        ("covid‑19", "covid-19"),
        ("Straße", "strasse"),
        ("año", "ano"),
        ("", ""),
        ("日本", "日本"),
    ],
)
def test_folding(text: str, folded: str) -> None:
    """Nobody types soft hyphens to get past a filter by accident, but pasted text holds them."""
    assert fold(text) == folded


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("my pain is back", "pain"),
        ("painting Spain", None),
        ("pain_level", None),
        ("pain-free", "pain"),
        ("chest \n pain", "chest pain"),
        ("pregnancies", "pregnancies"),
        ("impregnable", None),
        ("chest", None),
    ],
)
def test_phrases_stand_alone(text: str, found: str | None) -> None:
    match = phrases("pain | chest pain\n pregnan*").search(text)
    assert (" ".join(match.group().split()) if match else None) == found


def test_an_empty_list_finds_nothing() -> None:
    """Most rows have no false friends."""
    assert phrases(" | \n ").search("anything") is None
