"""docs/settings.md says what the code reads, all of it and nothing else."""

import re
from pathlib import Path

from chat.conf import KNOBS, PREFIX
from gymnasia import env, reference

ROOT = Path(__file__).parents[2]
ROWS = [row for rows in reference.VARIABLES.values() for row in rows]

# Where a variable is read, and how.
READERS = {
    "gymnasia/settings.py": r'env\.\w+\(\s*"([A-Z0-9_]+)"',
    "chat/providers/endpoints.py": r'(?:setting\(environ, |_named\(environ, \w+, |key_env=)"([A-Z0-9_]+)"',
    "chat/management/commands/serve.py": r'environ\.get\("([A-Z0-9_]+)"',
    "chat/local_model.py": r'environ\.get\("([A-Z0-9_]+)"',
    "gymnasia/env.py": r'environ\.get\("([A-Z0-9_]+)"',
    "run": r"\$\{(PORT|GYMNASIA_\w+)",
}


def read() -> set[str]:
    found = set(env.FILE_NAMES)
    for path, pattern in READERS.items():
        names = set(re.findall(pattern, (ROOT / path).read_text(encoding="utf-8")))
        assert names, f"expected {path} to read a variable"
        found |= names
    return found


def test_the_file_is_as_the_tables_are() -> None:
    """`python -m gymnasia.reference` writes it."""
    assert reference.PATH.read_text(encoding="utf-8") == reference.render()


def test_every_variable_that_is_read_has_its_row() -> None:
    assert {row.name for row in ROWS} == read()
    assert len({row.name for row in ROWS}) == len(ROWS)


def test_rows_say_which_may_come_from_a_file() -> None:
    assert {row.name for row in ROWS if row.has_file} == set(env.FILE_NAMES)


def test_reserved_variables_are_those_that_nothing_reads() -> None:
    """A key that is not used must not look as if it were."""
    reserved = {row.name for row in ROWS if row.help.startswith("Reserved")}
    used = {
        name for path, pattern in READERS.items() for name in re.findall(pattern, (ROOT / path).read_text())
    }
    assert reserved == {row.name for row in ROWS} - used - {"DJANGO_SECRET_KEY"}


def test_every_knob_has_its_row() -> None:
    text = reference.render()
    assert [knob.name for knob in KNOBS if f"`{PREFIX}{knob.name.upper()}`" not in text] == []


def test_a_misspelt_variable_is_told_and_a_known_one_is_not() -> None:
    """Somebody who writes one expects an effect; silence would be a lie."""
    odd = {
        "GYMNASIA_MAX_EVNT_BYTES": "5",
        "GYMNASIA_LEASE_S": "5",
        "GYMNASIA_DATA": "x",
        "OPENAI_COMPATIBLE_PROFILE": "olama",
        "GYMNASIAX": "1",
    }
    assert reference.oddities(odd) == [
        "GYMNASIA_MAX_EVNT_BYTES is no variable of Gymnasia and has no effect. Is GYMNASIA_MAX_EVENT_BYTES meant?",
        "OPENAI_COMPATIBLE_PROFILE: 'olama' is no vendor that is known; its streams are read strictly.",
    ]
    for vendor in ("ollama", "llama.cpp", "LlamaCpp", "deepseek", "vLLM", ""):
        assert reference.oddities({"OPENAI_COMPATIBLE_PROFILE": vendor}) == []
