"""The texts that people read, and their translations: `python -m gymnasia.words update | check | compile`.

Takes the sources of `chat`, gives `chat/locale/<locale>/LC_MESSAGES/django.po` (committed, for people to fill in) and the
`.mo` beside it (made from it where it is installed). By Babel alone: it needs neither gettext's own programs nor settings.
"""

import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.utils.translation.template import templatize

BASE = Path(__file__).parents[1]
CHAT = BASE / "chat"

LANGUAGES = [("en", "English"), ("pt-br", "Português"), ("es", "Español")]
LOCALES = {"pt-br": "pt_BR", "es": "es"}
"""The folder of each language that the texts are translated into; they are written in English."""

COMPLETE = True
"""Whether every text is translated. Half a translation is worse than none: before that, only English is offered, and `check`
tells what is missing without failing."""

KEYWORDS: dict[str, Any] = {
    "_": None,
    "gettext": None,
    "gettext_lazy": None,
    "gettext_noop": None,
    "ngettext": (1, 2),
    "ngettext_lazy": (1, 2),
    "pgettext": ((1, "c"), 2),
    "pgettext_lazy": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
    "npgettext_lazy": ((1, "c"), 2, 3),
}
_DATED = re.compile(
    rb'^"(Project-Id-Version|Report-Msgid-Bugs-To|POT-Creation-Date|PO-Revision-Date|Last-Translator|Language-Team'
    rb"|Generated-By)[^\n]*\n",
    re.MULTILINE,
)
_PLACEHOLDER = re.compile(r"%\((\w+)\)[sd]|</?[a-z]\w*\b|%%")


def offered() -> list[tuple[str, str]]:
    """The languages that a person may choose."""
    return LANGUAGES if COMPLETE else LANGUAGES[:1]


def po_path(language: str) -> Path:
    return CHAT / "locale" / LOCALES[language] / "LC_MESSAGES" / "django.po"


# --- reading the sources --------------------------------------------------------------------------------------------
def sources() -> list[Path]:
    """Everything that may hold a text, in a fixed order."""
    templates = [path for path in (CHAT / "templates").rglob("*") if path.suffix in {".html", ".txt"}]
    modules = [path for path in CHAT.rglob("*.py") if "migrations" not in path.parts]
    return sorted([*modules, *templates])


def texts_of(path: Path) -> Iterator[tuple[str | None, tuple[str, ...]]]:
    """`(context, (singular, plural?))` for each text in one file."""
    source = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        # Django turns a template into calls of gettext between words that mean nothing; indentation means nothing either.
        source = "\n".join(line.strip() for line in templatize(source, origin=str(path)).split("\n"))
    found = extract("python", io.BytesIO(source.encode()), KEYWORDS, options={"encoding": "utf-8"})
    for _line, said, _comments, context in found:
        yield context, said if isinstance(said, tuple) else (said,)


def template() -> Catalog:
    """Every text of the sources, with the files that it stands in."""
    catalogue = Catalog()
    for path in sources():
        for context, said in texts_of(path):
            catalogue.add(
                said if len(said) > 1 else said[0],
                locations=[(path.relative_to(BASE).as_posix(), 1)],
                context=context,
            )
    return catalogue


# --- the three words ------------------------------------------------------------------------------------------------
def read(language: str) -> Catalog:
    """The translations as they stand in the repository; an empty catalogue where there are none yet."""
    path = po_path(language)
    if not path.exists():
        return Catalog(locale=LOCALES[language])
    with path.open("rb") as file:
        return read_po(file, locale=LOCALES[language])


def update() -> None:
    """Bring each .po up to the sources: new texts come in empty, those that are gone go, no guesses are made."""
    fresh = template()
    for language, locale in LOCALES.items():
        old, new = read(language), Catalog(locale=locale, fuzzy=False)
        for message in fresh:
            if message.id:
                known = old.get(singular(message), message.context)
                kept = known.string if known and known.id == message.id else ""
                new.add(message.id, kept, locations=message.locations, context=message.context)
        path = po_path(language)
        path.parent.mkdir(parents=True, exist_ok=True)
        written = io.BytesIO()
        write_po(written, new, width=110, sort_by_file=True, include_lineno=False)
        # Babel's header dates each writing; a file that says the same should be the same.
        text = _DATED.sub(b"", written.getvalue())
        path.write_bytes(text[text.index(b"msgid") :])


def singular(message: Message) -> str:
    return message.id if isinstance(message.id, str) else message.id[0]


def faults(language: str, fresh: Catalog) -> list[str]:
    """One line for each text of the sources (`fresh`) that is missing or unsure, that lost what is put into it, or that is
    used no more."""
    known, lines = read(language), []
    for message in fresh:
        if not message.id:
            continue
        name = singular(message)
        translated = known.get(name, message.context)
        if translated is None or translated.id != message.id:
            lines.append(f"{language}: not in the .po: {name!r}")
        elif translated.fuzzy:
            lines.append(f"{language}: fuzzy: {name!r}")
        else:
            lines += [
                f"{language}: {fault}: {name!r}" for fault in differences(translated, known.num_plurals)
            ]
    for message in known:
        if message.id and fresh.get(singular(message), message.context) is None:
            lines.append(f"{language}: unused: {singular(message)!r}")
    lines += [f"{language}: obsolete: {key!r}" for key in known.obsolete]
    return lines


def differences(message: Message, plurals: int) -> Iterator[str]:
    """What a translation lacks or adds, beside the words: placeholders and tags are the same in every language."""
    ids = [message.id] if isinstance(message.id, str) else list(message.id)
    strings = [message.string] if isinstance(message.string, str) else list(message.string or ())
    if not all(strings) or len(strings) != (1 if len(ids) == 1 else plurals):
        yield "not translated"
        return
    wanted = sorted(found.group() for found in _PLACEHOLDER.finditer(ids[-1]))
    for string in strings:
        got = sorted(found.group() for found in _PLACEHOLDER.finditer(string))
        # The form for one thing may say "one" instead of the number.
        if got != wanted and not (len(ids) > 1 and set(got) <= set(wanted)):
            yield f"expected {' '.join(wanted) or 'no placeholder'}, got {' '.join(got) or 'none'}"


def compile_all() -> None:
    """Make each .mo anew whose .po is younger."""
    for language in LOCALES:
        path = po_path(language)
        made = path.with_suffix(".mo")
        if not path.exists() or (made.exists() and made.stat().st_mtime > path.stat().st_mtime):
            continue
        temporary = made.with_suffix(".mo.part")  # another process may be reading the old one
        with temporary.open("wb") as file:
            write_mo(file, read(language))
        temporary.replace(made)


def main(word: str) -> int:
    """Give the exit status."""
    if word == "update":
        update()
    elif word == "compile":
        compile_all()
    elif word == "check":
        fresh = template()
        lines = [line for language in LOCALES for line in faults(language, fresh)]
        print("\n".join(lines))  # noqa: T201 this is what it is called for
        return 1 if lines and COMPLETE else 0
    else:
        print(__doc__, file=sys.stderr)  # noqa: T201
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) == 2 else ""))
