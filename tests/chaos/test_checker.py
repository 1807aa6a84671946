"""The judge of the chaos runs judges: a truthful database is clean, and every planted lie is found and named."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.db import connection as django_connection

from tests.chaos.checker import MOVES, Entry, allowed_s, judge
from tests.chaos.walk import KNOBS

TABLES = (
    "chat_conversation",
    "chat_generation",
    "chat_message",
    "chat_journalrow",
    "chat_checkpoint",
    "chat_toolcall",
)
TEXT = "Rest two minutes."
WAY = (
    "opened:received",
    "first_delta:buffered",
    "ended_whole:assembled",
    "checks_passed:validated",
    "committed:confirmed",
)
AT = "2026-01-01 10:00:{:06.3f}"
BASE_S = 1767261600.0  # AT with no seconds, as a time stamp


class World:
    """A database with the product's own tables and without its walls, and the log beside it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.log: list[Entry] = [{"what": "knobs", **KNOBS}]
        with django_connection.cursor() as cursor, closing(sqlite3.connect(path)) as made, made:
            for name in TABLES:
                described = django_connection.introspection.get_table_description(cursor, name)
                made.execute(f"CREATE TABLE {name} ({', '.join(column.name for column in described)})")

    def add(self, table: str, **values: Any) -> None:
        """One row; a column that the product does not have is an error."""
        with closing(sqlite3.connect(self.path)) as made, made:
            names = ", ".join(values)
            marks = ", ".join("?" * len(values))
            made.execute(f"INSERT INTO chat_{table} ({names}) VALUES ({marks})", [*values.values()])

    def change(self, query: str) -> None:
        """Plant a lie."""
        with closing(sqlite3.connect(self.path)) as made, made:
            assert made.execute(query).rowcount > 0, "nothing was planted"

    def walk(self, run: int, way: tuple[str, ...] = WAY, *, reason: str = "", **said: Any) -> None:
        """One run that went this way, said as it was."""
        text, generation = f"chaos run {run}", f"g{run}"
        said = {
            "text": f"{TEXT} ({run})",
            "reasoning": "",
            "painted": "",
            "whole_at": 100,
            "sent": 100,
        } | said
        state = way[-1].partition(":")[2] if way else "queued"
        self.log += [
            {"what": "run", "run": run, "kind": "healthy"},
            {"what": "tried", "run": run, "text": text},
            {"what": "accepted", "run": run, "text": text, "status": 201},
            {"what": "said", "run": run, "busy_from": BASE_S + 1, "busy_until": BASE_S + 3, **said},
        ]
        self.add("message", id=f"u{run}", kind="user", text=text, reasoning="")
        self.add(
            "generation",
            id=generation,
            parent_id=f"u{run}",
            state=state,
            reason=reason,
            version=len(way),
            created=AT.format(0),
            ended_at=AT.format(4) if state not in MOVES else None,
        )
        before = "queued"
        for number, step in enumerate(way, 1):
            trigger, _, after = step.partition(":")
            self.add(
                "journalrow",
                subject="generation",
                subject_id=generation,
                sequence=number,
                trigger=trigger,
                from_state=before,
                to_state=after,
            )
            before = after
        if state == "confirmed":
            self.answer(run)
        elif state in {"incomplete", "failed", "cancelled"}:
            self.add("checkpoint", generation_id=generation, answer=TEXT[:5], reasoning="")

    def answer(self, run: int) -> None:
        """An answer message for this run's generation."""
        self.add(
            "message",
            id=f"a{run}",
            kind="answer",
            text=f"{TEXT} ({run})",
            reasoning="",
            generation_id=f"g{run}",
            parent_id=f"u{run}",
        )

    def figures(self) -> dict[str, int]:
        """What the checker found, without the zeros."""
        report = judge(self.path, self.log)
        names = ("false_confirms", "stuck", "lost_user_messages", "duplicate_finals", "strange_drafts")
        found = {name: getattr(report, name) for name in names if getattr(report, name)}
        assert len(report.sentences) == sum(found.values())
        return found


@pytest.fixture
def world(tmp_path: Path, db: None) -> World:
    """Two runs, one confirmed and one cut short, of which everything is true."""
    made = World(tmp_path / "db.sqlite3")
    made.walk(1)
    short = (*WAY[:2], "ended_short:incomplete")
    made.walk(2, short, reason="stream_truncated", whole_at=None, sent=40)
    return made


def test_the_truth_is_clean(world: World) -> None:
    """A judge that always finds something is worth no more than one that never does."""
    world.log.append({"what": "stop", "generation": "g1", "stopped": False})
    report = judge(world.path, world.log)
    assert report.sentences == []
    assert json.loads(report.line(7)) == {
        "seed": 7,
        "runs": 2,
        "confirmed": 1,
        "faults": {"healthy": 2},
        "false_confirms": 0,
        "stuck": 0,
        "lost_user_messages": 0,
        "duplicate_finals": 0,
    }
    assert report.ends == {"healthy": {"confirmed": 1, "incomplete(stream_truncated)": 1}}


@pytest.mark.parametrize(
    ("lie", "found"),
    [
        ("UPDATE chat_message SET text = 'Rest two' WHERE id = 'a1'", {"false_confirms": 1}),
        ("UPDATE chat_message SET text = text || ' ' WHERE id = 'a1'", {"false_confirms": 1}),
        ("UPDATE chat_message SET reasoning = 'Hm.' WHERE id = 'a1'", {"false_confirms": 1}),
        ("DELETE FROM chat_message WHERE id = 'a1'", {"false_confirms": 1}),
        # An answer without a generation hangs in the air, and the generation stands without its answer.
        ("UPDATE chat_message SET generation_id = 'gx' WHERE id = 'a1'", {"false_confirms": 2}),
        ("DELETE FROM chat_message WHERE id = 'u2'", {"lost_user_messages": 1, "strange_drafts": 1}),
        (
            "UPDATE chat_message SET text = 'chaos run 1' WHERE id = 'u2'",
            {"lost_user_messages": 1, "duplicate_finals": 1},
        ),
        ("DELETE FROM chat_journalrow WHERE sequence = 2 AND subject_id = 'g1'", {"duplicate_finals": 1}),
        ("DELETE FROM chat_journalrow WHERE sequence = 5", {"duplicate_finals": 1}),
        ("UPDATE chat_journalrow SET trigger = 'cancel' WHERE sequence = 5", {"duplicate_finals": 1}),
        ("UPDATE chat_journalrow SET subject_id = 'gx' WHERE subject_id = 'g2'", {"duplicate_finals": 2}),
        ("UPDATE chat_generation SET version = 9 WHERE id = 'g2'", {"duplicate_finals": 1}),
        ("UPDATE chat_generation SET state = 'failed' WHERE id = 'g2'", {"duplicate_finals": 1}),
        ("UPDATE chat_checkpoint SET answer = 'Rest three'", {"strange_drafts": 1}),
    ],
)
def test_a_planted_lie_is_found(world: World, lie: str, found: dict[str, int]) -> None:
    world.change(lie)
    assert world.figures() == found


def test_a_confirmation_before_the_last_byte_of_the_signal_is_false(world: World) -> None:
    """The text may be all there: without the whole terminal signal nobody could know."""
    world.walk(3, sent=99)
    world.walk(4, whole_at=None)
    assert world.figures() == {"false_confirms": 2}


def test_one_whole_connection_of_several_is_enough_only_for_its_own_text(world: World) -> None:
    """A retry that was whole does not heal the first request's text."""
    world.walk(3, whole_at=None)
    other = {"text": "Another reply.", "reasoning": "", "painted": "", "whole_at": 9, "sent": 9}
    world.log.append({"what": "said", "run": 3, "busy_from": BASE_S, "busy_until": BASE_S, **other})
    assert world.figures() == {"false_confirms": 1}


@pytest.mark.parametrize(
    ("lie", "found"),
    [
        ("", {}),
        ("UPDATE chat_toolcall SET state = 'executed'", {"false_confirms": 1}),
        ("DELETE FROM chat_journalrow WHERE subject = 'tool_call'", {"false_confirms": 1}),
        ("UPDATE chat_journalrow SET to_state = 'executing' WHERE subject_id = 't3'", {"false_confirms": 1}),
        ("UPDATE chat_toolcall SET generation_id = 'g1'", {"false_confirms": 1}),
        ("DELETE FROM chat_toolcall", {"duplicate_finals": 1}),
    ],
)
def test_a_call_that_was_not_refused_is_found(world: World, lie: str, found: dict[str, int]) -> None:
    """No tool is offered: whatever is done with a call, nobody has allowed it."""
    world.walk(3, (*WAY[:3], "rejected:failed"), reason="unexpected_tool_call")
    world.add("toolcall", id="t3", generation_id="g3", state="rejected")
    move = {"trigger": "denied", "from_state": "proposed", "to_state": "rejected"}
    world.add("journalrow", subject="tool_call", subject_id="t3", sequence=1, **move)
    if lie:
        world.change(lie)
    assert world.figures() == found


def test_a_second_final_move_is_found(world: World) -> None:
    """Confirmed and then stopped: two ends, whatever the row says last."""
    row = {"subject": "generation", "subject_id": "g1", "sequence": 6, "trigger": "cancel"}
    world.add("journalrow", **row, from_state="confirmed", to_state="cancelled")
    world.change("UPDATE chat_generation SET state = 'cancelled', version = 6 WHERE id = 'g1'")
    assert world.figures() == {"duplicate_finals": 2}  # the move, and the message of what is not confirmed


def test_a_second_message_and_a_message_of_a_draft_are_found(world: World) -> None:
    world.answer(1)
    world.answer(2)
    # Run 1: two messages, one text twice. Run 2: a message that is not confirmed, of a stream that was not whole.
    assert world.figures() == {"duplicate_finals": 3, "false_confirms": 1}


def test_a_draft_beside_an_answer_is_found(world: World) -> None:
    world.add("checkpoint", generation_id="g1", answer=TEXT, reasoning="")
    assert world.figures() == {"strange_drafts": 1}


def test_what_never_ends_is_stuck(world: World) -> None:
    world.walk(3, WAY[:2])
    assert world.figures() == {"stuck": 1}


@pytest.mark.parametrize(("over_s", "found"), [(-0.1, {}), (0.1, {"stuck": 1})])
def test_what_ends_after_the_documented_time_is_stuck(
    world: World, over_s: float, found: dict[str, int]
) -> None:
    """Counted from when the provider had no more to say."""
    ended = AT.format(3 + allowed_s(KNOBS) + over_s)
    world.change(f"UPDATE chat_generation SET ended_at = '{ended}' WHERE id = 'g2'")
    assert world.figures() == found


def test_a_server_that_was_away_has_its_time_from_its_return(world: World) -> None:
    ended = AT.format(3 + allowed_s(KNOBS) + 1)
    world.change(f"UPDATE chat_generation SET ended_at = '{ended}' WHERE id = 'g2'")
    world.log.append({"what": "served", "at": BASE_S + 10})
    assert world.figures() == {}


def test_who_was_told_that_it_is_stopped_must_find_it_so(world: World) -> None:
    world.log.append({"what": "stop", "generation": "g1", "stopped": True})
    assert world.figures() == {"duplicate_finals": 1}


def test_what_was_tried_but_never_accepted_may_be_there_or_not(world: World) -> None:
    """A server that was killed between its commit and its answer has kept no promise and broken none."""
    world.walk(3)
    world.log = [entry for entry in world.log if (entry["what"], entry.get("run")) != ("accepted", 3)]
    assert world.figures() == {}
    world.log.append({"what": "tried", "run": 4, "text": "chaos run 4"})
    assert world.figures() == {}


def test_the_judge_knows_the_state_table_but_not_the_product() -> None:
    """Its copy is made by hand, and must say what the product's own table says; its source imports none of it."""
    from chat.states.generation import GENERATION
    from tests.chaos import checker

    assert {
        str(state): {str(trigger): str(to) for trigger, to in row.items()}
        for state, row in GENERATION.table.items()
        if row
    } == MOVES
    assert {str(state) for state in GENERATION.finals} == checker.FINALS
    source = Path(checker.__file__).read_text()
    assert "import chat" not in source
    assert "from chat" not in source
