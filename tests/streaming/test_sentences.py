"""Sentences as people see them, in the languages that the product speaks, however the text comes in."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.streaming.errors import FeedAfterClose
from chat.streaming.sentences import MAX_SENTENCE_CHARS, Sentences


def cut(*pieces: str) -> list[str]:
    """Cut a text that comes in these pieces."""
    sentences = Sentences()
    return [sentence for piece in pieces for sentence in sentences.feed(piece)] + sentences.close()


@pytest.mark.parametrize(
    "sentences",
    [
        ["Bom dia! ", "Dormiu bem? ", "Sim."],
        ["O Sr. Almeida nada 1.5 km por dia. ", "Depois descansa."],
        ["Ver p. ex. a pág. 3. ", "Depois siga."],
        ["Use e.g. this one. ", "Then J. R. Stone came."],
        ["La Dra. Ríos llega aprox. a las 7. ", "EE. UU. queda lejos. ", "¿Qué? ", "¡Vamos!"],
        ["1. Respirar\n", "2. Beber água.\n", "\n", "Fim"],
        ["a) Primeiro. ", "Segundo."],
        ["- Um. ", "Dois.\n", "- Três"],
        ["Força! 💪 ", "Agora. 🏋🏽\u200d♀️🎉\n", "Ok"],
        ["Boa!🎉 ", "Sim"],
        ['"Não." ', "Disse ele. ", "(Talvez.) ", "Ok"],
        ["これは文です。", "次の文！", "「終わり。」", "はい"],
        ["espera... depois. ", "Espera... ", "Depois"],
        ["Wait…  ", "then… ", "Then."],
        ["Versão 1.2.3 de a.b.c. ", "Fim"],
        ["Use `foo.bar`. ", "**Forte.** ", "Fim."],
        ["Sério?! ", "Sim!!! ", "Ok"],
        ["Veja:\n", "```py\n", "x = 1. y\n", "\n", "z. W\n", "```\n", "Depois. ", "Fim."],
        ["~~~~\n", "a. B\n", "~~~\n", "```\n", "~~~~~\n", "Xis. ", "Y"],
        ["Um `` dois. ", "Três"],
        ["Sem fim"],
        ["Fim. \n", "Novo"],
        ["Ano de 2024. ", "Outro"],
    ],
)
def test_sentences_of_people(sentences: list[str]) -> None:
    """Whole and letter by letter; a joined text is cut where a reader would."""
    text = "".join(sentences)
    assert (cut(text), cut(*text)) == (sentences, sentences)


PIECES = st.sampled_from(
    [
        "A",
        "a",
        ".",
        ". ",
        "!",
        "? ",
        "\n",
        "```",
        "~~~\n",
        "1",
        "Sr",
        "p",
        "。",
        "」",
        "💪",
        "\u200d",
        " ",
        "…",
        '"',
        "  ",
        "é",
    ]
)


@settings(deadline=None)
@given(st.lists(PIECES, max_size=30), st.lists(st.integers(0, 60), max_size=4))
def test_cuts_do_not_matter_and_nothing_is_lost(letters: list[str], edges: list[int]) -> None:
    """Whatever the text is."""
    text = "".join(letters)
    places = [0, *sorted(min(edge, len(text)) for edge in edges), len(text)]
    pieces = [text[start:end] for start, end in pairwise(places)]
    whole = cut(text)
    assert (cut(*pieces), cut(*text), "".join(whole)) == (whole, whole, text)


@pytest.mark.parametrize(
    "text", ["x" * 5000, "```" + "x" * 5000, "```\n" + "x" * 5000 + "\n```\nA. B", "a. " + " " * 4000]
)
def test_a_text_without_ends_is_cut_at_a_length(text: str) -> None:
    """It must not wait for ever, and must not depend on the pieces either."""
    whole = cut(text)
    assert (cut(*text), "".join(whole)) == (whole, text)
    assert max(map(len, whole)) == MAX_SENTENCE_CHARS


def test_a_long_text_costs_no_more_and_more() -> None:
    """400 KB without an end, in small pieces, within a moment."""
    start = time.process_time()
    cut(*["word "] * 80_000)
    assert time.process_time() - start < 5


def test_nothing_is_taken_after_close() -> None:
    """A caller that goes on is wrong, and must see it."""
    sentences = Sentences()
    sentences.close()
    with pytest.raises(FeedAfterClose):
        sentences.feed("x")
