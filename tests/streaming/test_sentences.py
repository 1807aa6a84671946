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
        # Titles, initials, degrees, numbers of things.
        ["Fale com a Sra. D. Maria e o Prof. Dr. Costa. ", "Ok."],
        ["Ud. va con la Dra. Ríos. ", "Sí."],
        ["Dr. House vs. St. James Inc. won. ", "J.R.R. Tolkien, Ph.D. Smith and M.Sc. Lee too. ", "Ok."],
        ["No. 5 is best. ", "Is it? ", "No. ", "Why?"],
        ["É o 1.º dia, e a 2.ª série. ", "Ver art. 5.º da lei. ", "Fim."],
        ["Ej. 3 y p. ej. 4 kg. ", "Luego."],
        # What may end one as well, where a capital follows.
        ["Frutas, p. ex. maçã, pera etc. ", "Depois descanse."],
        ["Eat etc. and come at 10 p.m. if you can. ", "At 8 a.m. you rise. ", "Ok."],
        ["Rest 90 s. ", "Walk 5 min. ", "At min. 3 km. ", "Done."],
        ["The U.S. Army trains. ", "The U.K. is far. ", "Ok."],
        # Figures, addresses, files.
        ["Weight is 3.5 kg. ", "Cuesta 1.234,56 €. ", "Reps 12. ", "Faça 3x. ", "Fim"],
        ["Open https://example.com/a.b?c=d. ", "See README.md, settings.py and Node.js. ", "Ok"],
        # Several marks, quotes after them, notes.
        ["Espera… ", "What?! ", "Yes!! ", "Wait... what? ", "Ok"],
        ["Disse: “Pare.” ", "Ela parou. ", "«Basta.» ", "(See Fig. 3.) ", "Go."],
        ["Isto.[1] ", "Aquilo.[^12] ", "Sim.[1][2] ", "Ok [a.b]. ", "Fim"],
        ["¿Qué? ", "¡Ay! ", "Sí."],
        # Other scripts, and signs of full width.
        ["そうです。", "本当？", "はい！", "「終わり。」", "次。"],
        ["他说：“好。”", "行！！", "好？！", "走。"],
        ["全角．", "３．５キロ．", "半角｡", "終"],
        ["मैं ठीक हूँ। ", "مرحبا؟ ", "ok"],
        # Emoji of several signs, flags, skins.
        ["Boa! 👩‍👩‍👧‍👦 ", "Vai 👍🏽. ", "Flag 🇧🇷! ", "Go 🇪🇸. 🎉🎉 ", "End"],
        # Lists, headings, tables: a line of a table is one.
        ["1. Do it. ", "Twice.\n", "2. Then rest. ", "Well.\n"],
        ["## 3. Título\n", "### 4.\n", "Texto. ", "Fim"],
        ["| a. B | c. D |\n", "|---|---|\n", "| 1. X! Y | 2. Y |\n", "After. ", "End"],
        ["> | a. B | c |\n", "Z. W"],
        # Fences: longer than what is in them, with words behind, in lists and quotations, and what is none.
        ["Code:\n", "````md\n", "```js\n", "ab. Cd. E\n", "```\n", "````\n", "After. ", "End."],
        ['~~~python title="Ab. C"\n', "xx = 1. Y\n", "```\n", "~~~\n", "Ok. ", "End"],
        ["1. step:\n", "    ```sh\n", "    ls. Rm\n", "    ```\n", "2. two. ", "Three\n"],
        ["- ```sh\n", "  ls. Rm\n", "  ```\n", "- two. ", "Three\n"],
        ["> ```\n", "> ab. Cd\n", "> ```\n", "> End. ", "X"],
        ["```\n", "ab. Cd\n", "Ef! Gh\n", "```\n", "~~~\n", "ij. Kl\n", "~~~\n", "End. ", "X"],
        ["```this``` is none. ", "Is it?\n", "No. ", "Ok"],
        ["End.\r\n", "Next. ", "Ok"],
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
        "| ",
        "> ",
        "- ",
        "1. ",
        "    ",
        "`",
        "[1",
        "]",
        "．",
        "No",
        "etc",
        "min",
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
    "text",
    [
        "x" * 5000,
        "```" + "x" * 5000,
        "```\n" + "x" * 5000 + "\n```\nA. B",
        "a. " + " " * 4000,
        "|" + "x. Y" * 999,
    ],
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
    cut(*("-" * 1900 + "\n") * 10)  # each sign might begin a fence
    assert time.process_time() - start < 5


def test_nothing_is_taken_after_close() -> None:
    """A caller that goes on is wrong, and must see it."""
    sentences = Sentences()
    sentences.close()
    with pytest.raises(FeedAfterClose):
        sentences.feed("x")
