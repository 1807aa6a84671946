"""The picture of the states is never older than the states."""

from __future__ import annotations

from pathlib import Path

import pytest

from chat.states import diagram


def test_the_document_is_fresh() -> None:
    """`python -m chat.states.diagram` writes it."""
    assert diagram.PATH.read_text(encoding="utf-8") == diagram.render()


def test_it_writes_what_it_renders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder may be missing."""
    monkeypatch.setattr(diagram, "PATH", tmp_path / "docs" / "states.md")
    diagram.main()
    diagram.main()  # and may be there
    assert diagram.PATH.read_text(encoding="utf-8") == diagram.render()


def test_it_shows_both_machines_and_the_outcomes() -> None:
    """Arrows, finals and cells of both tables."""
    lines = diagram.render().split("\n")
    for line in (
        "    [*] --> queued",
        "    queued --> failed: rejected, error",
        "    confirmed --> [*]",
        "| complete | ended_whole |",
        "| open | (nothing: still open) |",
        "    [*] --> proposed",
        "    unknown --> approved: not_found",
        "| compensated (final) | " + " | ".join([""] * 14) + " |",
    ):
        assert line in lines
