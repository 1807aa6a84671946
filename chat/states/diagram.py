"""The state tables as Markdown with Mermaid diagrams: `python -m chat.states.diagram` writes docs/states.md.

Takes the tables; gives the text of that file. Does not know anything that the tables do not say.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from chat.states.generation import GENERATION, OUTCOME_TRIGGER
from chat.states.machine import Machine
from chat.states.toolcall import TOOL_CALL

S = TypeVar("S", bound=StrEnum)
T = TypeVar("T", bound=StrEnum)

PATH = Path(__file__).parents[2] / "docs" / "states.md"

_HEAD = """# States

Written from the tables in `chat/states/` by `python -m chat.states.diagram`; a test fails when this file
lags. A final state has an empty row: a trigger that comes later is counted, and changes nothing. Any other
empty cell is a bug (`IllegalTransition`)."""


def render() -> str:
    """Return the whole of docs/states.md."""
    outcomes = ["| outcome of the stream | fires |", "| --- | --- |"]
    outcomes += [
        f"| {outcome} | {trigger or '(nothing: still open)'} |"
        for outcome, trigger in OUTCOME_TRIGGER.items()
    ]
    sections = [_HEAD, _section(GENERATION), "\n".join(outcomes), _section(TOOL_CALL)]
    return "\n\n".join(sections) + "\n"


def _section(machine: Machine[S, T]) -> str:
    return f"## {machine.name.capitalize()}\n\n{_mermaid(machine)}\n\n{_table(machine)}"


def _mermaid(machine: Machine[S, T]) -> str:
    lines = ["```mermaid", "stateDiagram-v2", f"    [*] --> {machine.initial}"]
    for state, row in machine.table.items():
        # One arrow for all triggers that lead to the same place keeps the picture readable.
        for target in dict.fromkeys(row.values()):
            triggers = ", ".join(trigger for trigger, to in row.items() if to is target)
            lines.append(f"    {state} --> {target}: {triggers}")
    lines += [f"    {state} --> [*]" for state in machine.states if machine.is_final(state)]
    return "\n".join([*lines, "```"])


def _table(machine: Machine[S, T]) -> str:
    triggers = list(machine.triggers)
    lines = [f"| state | {' | '.join(triggers)} |", f"| --- |{' --- |' * len(triggers)}"]
    for state, row in machine.table.items():
        cells = (row.get(trigger, "") for trigger in triggers)
        lines.append(f"| {state}{' (final)' if machine.is_final(state) else ''} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Write the file."""
    PATH.parent.mkdir(exist_ok=True)
    PATH.write_text(render(), encoding="utf-8")


if __name__ == "__main__":
    main()
