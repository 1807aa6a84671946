"""The words that steer a provider in another process."""

import pytest

from tests.fakes.script import DONE, FIN, USAGE, Cut, Paced, Script, T, play, whole_answer
from tests.fakes.stories import STORIES, story


def ordinary(per_second: float = 100) -> Script:
    pieces = tuple(T(f"w{n} ") for n in range(1, 41))
    return play(Paced(pieces, per_second), FIN("stop"), USAGE(9, 40), DONE)


@pytest.mark.parametrize("word", sorted(STORIES))
def test_a_word_anywhere_in_the_line_tells_its_story(word: str) -> None:
    arguments = {"tokens": " 50 10", "slow": " 10 20"}.get(word, "")
    wanted = STORIES[word](arguments.split())
    assert story(f"Please, {word.upper()}{arguments}!") == wanted
    assert wanted != ordinary()


def test_no_word_is_an_ordinary_answer() -> None:
    assert story("How are you?", per_second=50) == ordinary(50)


def test_only_the_last_line_counts() -> None:
    """The turn of a cut reply is joined to the next question: the old wish must not answer it."""
    assert story("cut\n\nAnd now?") == ordinary()


def test_mend_tells_the_story_once() -> None:
    assert Cut() in story("mend cut").steps
    assert story("mend cut", asked_before=1) == ordinary()


def test_whole_answer_can_be_cut_in_equal_pieces() -> None:
    assert whole_answer("abcdefg", tokens=3) == play(
        T("ab"), T("cd"), T("efg"), FIN("stop"), USAGE(9, 3), DONE
    )
