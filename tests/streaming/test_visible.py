"""What looks empty counts as empty, and nothing else does."""

import pytest

from chat.streaming.visible import is_visible


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \t\n\u00a0",
        "\u200b",
        "\ufeff\u200b\u200d",
        "\u00ad",
        "\ufe0f",
        "\U000e0100",
        "\ufffd",
        "\u3164",
        "\u2800",
        "\u202e\u2066",
        "\U000e0041",
        "\u034f",
        "\x00",
        "\u2028",
    ],
)
def test_what_nobody_sees(text: str) -> None:
    assert not is_visible(text)


@pytest.mark.parametrize(
    "text", ["a", "\u200ba", ".", "0", "\u00bf", "é", "e\u0301", "漢", "नि", "👍🏽", "❤\ufe0f", "\ue000", "─"]
)
def test_what_somebody_sees(text: str) -> None:
    """One sign is enough, whatever stands around it; private signs (icons of a font) may be drawn."""
    assert is_visible(text)
