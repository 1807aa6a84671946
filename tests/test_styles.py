"""What stands in a page are the same rules as in the files, in fewer letters."""

import pytest
from pytest_django import Settings

from chat import styles

FILES = sorted(styles.FOLDER.glob("*.css"))


def test_comments_and_white_space_go_and_words_stay() -> None:
    source = (
        '/* a */\n.b > .c,\n.d[e="f"] :hover {\n  color: red;\n  content: "✓ , " / "";\n}\n\n'
        "@media (width > 1rem) {\n  e {\n    x: y\n  }\n}\n"
    )
    assert styles.short(source) == (
        '.b > .c,.d[e=f] :hover{color:red;content:"✓ , " / ""}@media (width > 1rem){e{x:y}}'
    )


@pytest.mark.parametrize("path", [pytest.param(path, id=path.name) for path in FILES])
def test_nothing_in_our_files_would_be_misread(path: object) -> None:
    """A comment's sign inside a text, or the end of the element that the rules stand in."""
    source = next(each for each in FILES if each == path).read_text(encoding="utf-8")
    assert "</" not in source
    assert "'" not in styles._COMMENT.sub("", source)
    assert all("/*" not in text for text in styles._TEXT.findall(styles._COMMENT.sub("", source)))


def test_files_in_the_order_that_was_asked_for_and_read_once(settings: Settings) -> None:
    both = styles.sheet("tokens", "base")
    assert both.index("--paper:") < both.index("box-sizing:border-box")
    assert both is styles.sheet("tokens", "base")
    settings.DEBUG = True
    assert both == styles.sheet("tokens", "base")
    assert both is not styles.sheet("tokens", "base")
