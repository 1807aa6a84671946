"""The laws of the papers: what is written from tables is fresh, every word is explained, every link leads somewhere."""

import re

from chat.conf import KNOBS
from chat.states import diagram, toolcall
from chat.states.generation import State, Trigger
from chat.streaming.draft import LANES
from chat.streaming.gates import GATES
from gymnasia import reference
from tests.source import ROOT, name_of


def test_papers_that_are_written_from_tables_are_fresh() -> None:
    """`python -m chat.states.diagram` and `python -m gymnasia.reference` write them."""
    for written in (diagram, reference):
        assert written.PATH.read_text(encoding="utf-8") == written.render()


def test_the_glossary_has_every_word_of_the_tables() -> None:
    """Each is explained once; a word that is added to a table must be explained too."""
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    explained = re.findall(r"^\*\*(.+?)\*\*", text, re.MULTILINE)
    words = {str(word) for word in [*State, *Trigger, *toolcall.State, *toolcall.Trigger, *LANES, *GATES]}
    assert sorted(set(explained)) == sorted(explained)
    assert sorted(word for word in words if f"`{word}`" not in text) == []


def test_decisions_are_short_and_numbered() -> None:
    """Question, choice, what was refused, what would change it: one page each."""
    papers = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    assert [path.name[:4] for path in papers] == [f"{number:04}" for number in range(1, len(papers) + 1)]
    for path in papers:
        lines = path.read_text(encoding="utf-8").split("\n")
        assert len(lines) <= 41, path.name
        found = [line.removeprefix("## ") for line in lines if line.startswith("## ")]
        assert found == ["Question", "Choice", "Refused", "What would change it"], path.name


def test_papers_point_at_files_that_exist() -> None:
    dead = []
    for path in sorted((ROOT / "docs").rglob("*.md")):
        text = path.read_text(encoding="utf-8")
        links = [path.parent / target for target in re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", text)]
        named = [ROOT / name for name in re.findall(r"`((?:chat|gymnasia|tests|bench|docs)/[\w./-]+)`", text)]
        dead += [f"{name_of(path)}: {target.name}" for target in [*links, *named] if not target.exists()]
    assert dead == []


def test_the_times_of_the_lifecycle_are_those_of_the_knobs() -> None:
    """A number in prose is forgotten first."""
    text = (ROOT / "docs" / "lifecycle.md").read_text(encoding="utf-8")
    told = dict(re.findall(r"`(\w+)` ([\d,]+)", text))
    defaults = {knob.name: knob.default for knob in KNOBS}
    assert told
    assert {name: float(value.replace(",", "")) for name, value in told.items()} == {
        name: float(defaults[name]) for name in told
    }
