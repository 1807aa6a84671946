"""A title says what the conversation is about, not how it began."""

import pytest

from chat import titles


@pytest.mark.parametrize(
    ("question", "answer", "title"),
    [
        ("How do I rest?", "# Resting **well**\n\nTwo minutes.", "Resting well"),
        ("How do I rest?", "## [Rest](https://example.org/) #\nTwo.", "Rest"),
        ("How do I rest?", f"# {'x' * 61}\nTwo.", ""),
        ("How do I rest?", "Two minutes.\n# Later", ""),
        ("How do I rest?", "#hashtag", ""),
        ("Hello, how long should I rest?", "Two.", "How long should I rest?"),
        ("Olá! quanto tempo devo descansar?", "Dois.", "Quanto tempo devo descansar?"),
        ("Buenos días, ¿cuánto descanso?", "Dos.", "¿cuánto descanso?"),
        ("Hi", "Hello!", ""),
        ("Highland cattle need what?", "Grass.", ""),
        ("Hey, " + "word " * 30, "Two.", "Word word word word word word word word word word word word…"),
        ("", "", ""),
    ],
)
def test_after(question: str, answer: str, title: str) -> None:
    assert titles.after(question, answer) == title
