"""The picker shows what can be asked, by names for people."""

import pytest

from chat.replies import picker


def test_groups() -> None:
    """One group per endpoint; the value names both, also where a model's name has a colon."""
    (group,) = picker.groups()
    assert (group.name, group.label) == ("scripted", "Scripted")
    assert [(choice.value, choice.label) for choice in group.choices] == [
        ("scripted:scripted-1", "Scripted One"),
        ("scripted:scripted:2", "Scripted Two"),
    ]


def test_the_only_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    groups = picker.groups()
    assert picker.sole() == ""
    monkeypatch.setattr(picker, "groups", lambda: [groups[0]._replace(choices=groups[0].choices[:1])])
    assert picker.sole() == "scripted:scripted-1"
    monkeypatch.setattr(picker, "groups", list)
    assert picker.sole() == ""


def test_label() -> None:
    """A model that is gone keeps the name that it was asked by: old replies still say who wrote them."""
    assert picker.label("scripted", "scripted:2") == "Scripted Two"
    assert picker.label("scripted", "gone") == "gone"
    assert picker.label("nowhere", "x") == "x"
