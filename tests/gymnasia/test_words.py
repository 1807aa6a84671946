"""Texts are found in every kind of source, and a translation that does not fit is told."""

from pathlib import Path

import pytest
from babel.messages.catalog import Catalog

from gymnasia import words


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A product of two files."""
    chat = tmp_path / "chat"
    (chat / "templates").mkdir(parents=True)
    (chat / "templates" / "a.html").write_text(
        "<p>\n   {% translate 'Ask' %}\n {% blocktranslate count n=x|length trimmed %}\n  {{ n }} try\n"
        "{% plural %}{{ n }} tries{% endblocktranslate %}\n"
        '{% translate "May" context "month" %}{% translate title %}</p>'
    )
    (chat / "b.py").write_text(
        'x = _("Hello, %(name)s")\ny = ngettext("%(n)s try", "%(n)s tries", 2)\nz = _(x)\n'
    )
    monkeypatch.setattr(words, "CHAT", chat)
    monkeypatch.setattr(words, "BASE", tmp_path)
    return chat


def translate(small: Path, language: str, **texts: str) -> None:
    """Fill in the .po by hand: `Ask="Pedir"`."""
    path = words.po_path(language)
    text = path.read_text(encoding="utf-8")
    for name, value in texts.items():
        assert f'msgid "{name}"\nmsgstr ""' in text
        text = text.replace(f'msgid "{name}"\nmsgstr ""', f'msgid "{name}"\nmsgstr "{value}"')
    path.write_text(text, encoding="utf-8")


def test_every_kind_of_text_is_found(small: Path) -> None:
    found = {(message.context, message.id) for message in words.template() if message.id}
    assert found == {
        (None, "Ask"),
        (None, ("%(n)s try", "%(n)s tries")),
        ("month", "May"),
        (None, "Hello, %(name)s"),
    }


def test_a_new_po_is_empty_and_keeps_what_is_filled_in(small: Path) -> None:
    words.update()
    assert words.faults("es", words.template())[0] == "es: not translated: 'Hello, %(name)s'"
    assert len(words.faults("es", words.template())) == 4
    translate(small, "es", Ask="Preguntar")
    before = words.po_path("es").read_bytes()
    words.update()
    assert words.po_path("es").read_bytes() == before
    assert len(words.faults("es", words.template())) == 3


def test_what_is_missing_unsure_or_unused_is_told(small: Path) -> None:
    words.update()
    translate(small, "es", Ask="Preguntar")
    path = words.po_path("es")
    path.write_text(
        path.read_text().replace('msgid "Ask"', '#, fuzzy\nmsgid "Ask"') + '\nmsgid "Old"\nmsgstr "V"\n'
    )
    (small / "c.py").write_text('_("New")\n')
    lines = words.faults("es", words.template())
    assert {"es: fuzzy: 'Ask'", "es: not in the .po: 'New'", "es: unused: 'Old'"} <= set(lines)


@pytest.mark.parametrize(
    ("said", "translated", "fault"),
    [
        ("a %(n)s", "b %(n)s", []),
        ("a %(n)s", "b", ["expected %(n)s, got none"]),
        ("a", "b %(n)s", ["expected no placeholder, got %(n)s"]),
        ('<a href="%(u)s">a</a>', '<a href="%(u)s">b', ["expected %(u)s </a <a, got %(u)s <a"]),
        (("%(n)s a", "%(n)s as"), ("um b", "%(n)s bs"), []),
        (("%(n)s a", "%(n)s as"), ("%(m)s b", "%(n)s bs"), ["expected %(n)s, got %(m)s"]),
        (("%(n)s a", "%(n)s as"), ("%(n)s b",), ["not translated"]),
        ("a", "", ["not translated"]),
    ],
)
def test_placeholders_and_tags_stay(
    said: str | tuple[str, ...], translated: str | tuple[str, ...], fault: list[str]
) -> None:
    message = Catalog(locale="pt_BR").add(said, translated)
    assert list(words.differences(message, 2)) == fault


def test_the_mo_is_made_when_the_po_is_younger(small: Path) -> None:
    words.update()
    translate(small, "es", Ask="Preguntar")
    words.compile_all()
    made = words.po_path("es").with_suffix(".mo")
    assert b"Preguntar" in made.read_bytes()
    made.write_bytes(b"kept")
    words.compile_all()
    assert made.read_bytes() == b"kept"


def test_the_words_of_the_command(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert [words.main(word) for word in ("update", "compile", "")] == [0, 0, 2]
    assert words.main("check") == (1 if words.COMPLETE else 0)
    assert "not translated: 'Ask'" in capsys.readouterr().out


def test_half_a_translation_is_not_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "COMPLETE", False)
    assert words.offered() == [("en", "English")]
    monkeypatch.setattr(words, "COMPLETE", True)
    assert words.offered() == words.LANGUAGES


def test_every_text_is_translated() -> None:
    """`./run check` says the same; it names each text."""
    fresh = words.template()
    lines = [line for language in words.LOCALES for line in words.faults(language, fresh)]
    assert lines == [] or not words.COMPLETE
