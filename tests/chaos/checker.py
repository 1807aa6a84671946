"""The judge of a chaos run: what the database holds against what the provider said.

Takes a SQLite file and a log; gives figures and, for each fault, a sentence. It reads both with the standard library alone
and imports nothing of the product, so that it cannot share a mistake with it: the state table below is a copy made by
hand from the design. The log's entries, one JSON object each: `knobs` (the time-outs in force), `run` (its fault),
`accepted` (a message that the server took), `stop` (what it answered to one), `served` (a server became ready, or woke),
`said` (one connection of the provider).
"""

import datetime as dt
import json
import sqlite3
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FINALS = frozenset({"confirmed", "cancelled", "incomplete", "failed", "expired"})
_ALWAYS = {"rejected": "failed", "error": "failed", "cancel": "cancelled", "deadline": "expired"}
_OPEN = {**_ALWAYS, "ended_short": "incomplete"}
MOVES: dict[str, dict[str, str]] = {
    "queued": {"opened": "received", **_ALWAYS},
    "received": {"first_delta": "buffered", "ended_whole": "assembled", **_OPEN},
    "buffered": {"ended_whole": "assembled", **_OPEN},
    "assembled": {"checks_passed": "validated", **_OPEN},
    "validated": {"committed": "confirmed"},
}
MARGIN_S = 5.0
"""What a loaded machine may add to a documented time."""

Entry = dict[str, Any]
Row = sqlite3.Row


@dataclass
class Report:
    """The figures of a run; `sentences` say which row each fault is about."""

    runs: int = 0
    confirmed: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    false_confirms: int = 0
    stuck: int = 0
    lost_user_messages: int = 0
    duplicate_finals: int = 0
    strange_drafts: int = 0
    sentences: list[str] = field(default_factory=list)
    ends: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    """By fault: how its generations ended, for people to read."""

    def found(self, figure: str, sentence: str) -> None:
        """Count one fault."""
        setattr(self, figure, getattr(self, figure) + 1)
        self.sentences.append(f"{figure}: {sentence}")

    @property
    def clean(self) -> bool:
        """Whether no fault was found."""
        return not self.sentences

    def line(self, seed: int) -> str:
        """The one line that a chaos run prints."""
        names = ("false_confirms", "stuck", "lost_user_messages", "duplicate_finals")
        figures = {name: getattr(self, name) for name in names}
        faults = dict(sorted(self.faults.items()))
        return json.dumps(
            {"seed": seed, "runs": self.runs, "confirmed": self.confirmed, "faults": faults, **figures}
        )


def judge(database: Path, log: Iterable[Entry]) -> Report:
    """Compare the stored rows with what was said, accepted and answered."""
    entries = list(log)
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        connection.row_factory = sqlite3.Row
        case = _Case(connection, entries)
    for generation in case.generations:
        case.look_at(generation)
    case.look_for_strays()
    case.look_for_lost_messages()
    case.look_at_stops()
    case.look_at_calls()
    case.count()
    return case.report


class _Case:
    """The rows and the log, sorted for looking up."""

    def __init__(self, connection: sqlite3.Connection, entries: list[Entry]) -> None:
        self.report = Report()
        self.generations = _rows(connection, "SELECT * FROM chat_generation ORDER BY created")
        self.messages = _rows(connection, "SELECT * FROM chat_message ORDER BY created")
        self.drafts = {
            row["generation_id"]: row for row in _rows(connection, "SELECT * FROM chat_checkpoint")
        }
        self.moves: dict[str, list[Row]] = defaultdict(list)
        self.calls = _rows(connection, "SELECT * FROM chat_toolcall")
        self.call_moves: dict[str, list[str]] = defaultdict(list)
        for row in _rows(connection, "SELECT * FROM chat_journalrow ORDER BY subject_id, sequence"):
            if row["subject"] == "tool_call":
                self.call_moves[row["subject_id"]].append(row["to_state"])
            else:
                self.moves[row["subject_id"]].append(row)
        self.entries = entries
        self.kinds = {entry["run"]: entry["kind"] for entry in self._all("run")}
        self.said: dict[int, list[Entry]] = defaultdict(list)
        for entry in self._all("said"):
            self.said[entry["run"]].append(entry)
        self.knobs = next(iter(self._all("knobs")))
        self.answers: dict[str, list[Row]] = defaultdict(list)
        for row in self.messages:
            if row["kind"] == "answer":
                self.answers[row["generation_id"]].append(row)
        asked = {entry["text"]: entry["run"] for entry in (*self._all("accepted"), *self._all("tried"))}
        texts = {row["id"]: row["text"] for row in self.messages}
        self.run_of = {row["id"]: asked.get(texts.get(row["parent_id"], "")) for row in self.generations}

    def _all(self, what: str) -> list[Entry]:
        return [entry for entry in self.entries if entry["what"] == what]

    # --- one generation ---------------------------------------------------------------------------------------
    def look_at(self, row: Row) -> None:
        """Its journal, its message, its end and its time."""
        name = f"generation {row['id']} of run {self.run_of[row['id']]}"
        self._replay(row, name)
        self._compare_message(row, name)
        self._compare_draft(row, name)
        if row["state"] not in FINALS:
            self.report.found("stuck", f"{name} is still {row['state']}")
        elif (late_s := self._late_s(row)) > 0:
            self.report.found(
                "stuck", f"{name} ended {late_s:.1f} s after the documented time ({row['reason']})"
            )

    def _replay(self, row: Row, name: str) -> None:
        """One way through the table, one final move, and the row where it leads."""
        state, moves = "queued", self.moves[row["id"]]
        for number, move in enumerate(moves, 1):
            expected = MOVES.get(state, {}).get(move["trigger"])
            if (move["sequence"], move["from_state"], move["to_state"]) != (number, state, expected):
                told = f"{move['sequence']}: {move['from_state']} -{move['trigger']}-> {move['to_state']}"
                self.report.found(
                    "duplicate_finals", f"{name}: expected move {number} from {state}, got {told}"
                )
                return
            state = move["to_state"]
        if (state, len(moves)) != (row["state"], row["version"]):
            self.report.found(
                "duplicate_finals",
                f"{name} is {row['state']} after {row['version']} moves, its journal {state} after {len(moves)}",
            )

    def _compare_message(self, row: Row, name: str) -> None:
        answers = self.answers[row["id"]]
        if len(answers) > 1:
            self.report.found("duplicate_finals", f"{name} has {len(answers)} messages")
        if answers and row["state"] != "confirmed":
            self.report.found("duplicate_finals", f"{name} is {row['state']} and has a message")
        if row["state"] == "confirmed" and not answers:
            self.report.found("false_confirms", f"{name} is confirmed without a message")
        for answer in answers:
            said = [entry for entry in self._said(row) if entry["text"] == answer["text"]]
            if not any(is_whole(entry) for entry in said):
                what = "a text that was not wholly said" if said else "a text that nobody said"
                self.report.found("false_confirms", f"{name} was confirmed with {what}: {answer['text']!r}")
            elif not any(entry["reasoning"] == answer["reasoning"] for entry in said):
                self.report.found("false_confirms", f"{name} was confirmed with other reasoning")

    def _compare_draft(self, row: Row, who: str) -> None:
        """What is kept of a draft is a beginning of one text, never a mixture; none is left beside an answer."""
        draft = self.drafts.get(row["id"])
        if draft is None:
            return
        if row["state"] == "confirmed":
            self.report.found("strange_drafts", f"{who} is confirmed and still has a draft")
        texts = ["", *(entry[name] for entry in self._said(row) for name in ("text", "painted"))]
        if not any(text.startswith(draft["answer"]) for text in texts):
            self.report.found("strange_drafts", f"{who} has a draft that nobody said: {draft['answer']!r}")

    def _said(self, row: Row) -> list[Entry]:
        run = self.run_of[row["id"]]
        return self.said[run] if run is not None else []

    def _late_s(self, row: Row) -> float:
        """By how much it ended after the time that the knobs allow, counted from when nothing more was to come."""
        ended = seconds(row["ended_at"])
        quiet = seconds(row["created"])
        for entry in self._said(row):
            if entry["busy_from"] <= ended:
                quiet = max(quiet, entry["busy_until"])
        for entry in self._all("served"):
            if entry["at"] <= ended:
                quiet = max(quiet, entry["at"])
        return ended - quiet - allowed_s(self.knobs)

    # --- all of them ------------------------------------------------------------------------------------------
    def look_for_strays(self) -> None:
        """Rows that belong to nothing, and one text that became two answers."""
        known = {row["id"] for row in self.generations}
        for subject in self.moves.keys() - known:
            self.report.found("duplicate_finals", f"journal rows of {subject}, which is no generation")
        for generation_id in self.answers.keys() - known:
            self.report.found("false_confirms", f"an answer of {generation_id}, which is no generation")
        texts = Counter(row["text"] for rows in self.answers.values() for row in rows)
        for text, times in texts.items():
            if times > 1:
                self.report.found("duplicate_finals", f"one text is {times} answers: {text!r}")

    def look_for_lost_messages(self) -> None:
        stored = Counter(row["text"] for row in self.messages if row["kind"] == "user")
        for entry in self._all("accepted"):
            if not stored[entry["text"]]:
                self.report.found("lost_user_messages", f"accepted with {entry['status']}: {entry['text']!r}")
            elif stored[entry["text"]] > 1:
                self.report.found("duplicate_finals", f"stored more than once: {entry['text']!r}")

    def look_at_stops(self) -> None:
        """Who was told that it is stopped must find it stopped."""
        states = {row["id"]: row["state"] for row in self.generations}
        for entry in self._all("stop"):
            state = states.get(entry["generation"].replace("-", ""))
            if entry["stopped"] and state != "cancelled":
                self.report.found(
                    "duplicate_finals", f"{entry['generation']} was said to be stopped, is {state}"
                )

    def look_at_calls(self) -> None:
        """Nobody offers a tool: a call is refused with its reply, and nothing else ever happens to it."""
        states = {row["id"]: row["state"] for row in self.generations}
        for call in self.calls:
            found = call["state"], self.call_moves.pop(call["id"], []), states.get(call["generation_id"])
            if found != ("rejected", ["rejected"], "failed"):
                self.report.found("false_confirms", f"tool call {call['id']} of a reply is {found}")
        for subject in self.call_moves:
            self.report.found("duplicate_finals", f"journal rows of {subject}, which is no tool call")

    def count(self) -> None:
        accepted = {entry["text"]: entry["run"] for entry in self._all("accepted")}
        texts = {row["id"]: row["text"] for row in self.messages}
        self.report.runs = len(set(accepted.values()))
        self.report.faults = Counter(self.kinds[run] for run in set(accepted.values()))
        firsts: set[int] = set()
        for row in self.generations:
            run = accepted.get(texts.get(row["parent_id"], ""))
            if run is None:
                continue
            word = f"{row['state']}({row['reason']})" if row["reason"] else row["state"]
            self.report.ends[self.kinds[run]][word] += 1
            if run not in firsts:
                firsts.add(run)
                self.report.confirmed += row["state"] == "confirmed"


def is_whole(entry: Entry) -> bool:
    """Whether the terminal signal of this connection went out to its last byte."""
    return entry["whole_at"] is not None and entry["sent"] >= entry["whole_at"]


def allowed_s(knobs: dict[str, float]) -> float:
    """The longest that any documented clock lets a generation live once nothing more comes (docs/lifecycle.md)."""
    longest = max(
        knobs["idle_timeout_s"],
        knobs["no_progress_timeout_s"],
        knobs["retry_after_max_s"],
        knobs["lease_s"] + knobs["sweep_interval_s"],
    )
    return longest + knobs["checkpoint_interval_ms"] / 1000 + MARGIN_S


def seconds(text: str) -> float:
    """The time of day of a column, which is UTC."""
    return dt.datetime.fromisoformat(text).replace(tzinfo=dt.UTC).timestamp()


def _rows(connection: sqlite3.Connection, query: str) -> list[Row]:
    found: list[Row] = connection.execute(query).fetchall()
    return found


def main() -> None:
    """`python -m tests.chaos.checker DATABASE LOG` judges a folder that was kept."""
    database, log = map(Path, sys.argv[1:3])
    report = judge(database, map(json.loads, log.read_text().splitlines()))
    sys.stdout.write("\n".join([*report.sentences, report.line(seed=-1)]) + "\n")


if __name__ == "__main__":
    main()
