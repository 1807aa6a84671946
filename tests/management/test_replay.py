"""`manage.py replay` shows the product's reading of a recorded body."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from chat.providers import WIRES, read
from chat.streaming.reading import Reading
from tests.recordings.corpus import HERE, MANIFESTS, READING_KEYS, Case, contract_cases, own_cases, streams
from tests.recordings.test_readings import shown

ROOT = Path(__file__).parents[2]
HAND_MADE = [
    *contract_cases("openai_chat", "openai_compat", "anthropic", "gemini"),
    *contract_cases("openai_responses", "gemini_interactions"),
    *own_cases("openai_chat", "anthropic", "google", "openai_responses", "google_interactions"),
]


def path(case: Case) -> Path:
    """Where the body of a case lies."""
    folder = HERE if case.name.startswith("own/") else HERE / "contract"
    return next(path for path in folder.glob(f"{case.name}.*") if path.suffix != ".json")


def read_as_told(case: Case) -> Reading:
    assert case.ending in ("eof", "cut")
    return read(case.wire, [case.body], profile=case.profile, ending="cut" if case.ending == "cut" else "eof")


def replay(*arguments: object) -> Any:
    """Call the command and read what it prints."""
    out = io.StringIO()
    call_command("replay", *map(str, arguments), stdout=out, stderr=io.StringIO())
    text = out.getvalue()
    assert text.count("\n") == 1
    return json.loads(text)


@pytest.mark.parametrize("case", HAND_MADE, ids=str)
def test_a_body_gives_its_reading(case: Case) -> None:
    """Exactly these keys, in this order, whatever the cut."""
    flags: list[object] = ["--wire", case.wire, "--ending", case.ending]
    flags += ["--profile", case.profile] if case.profile else []
    for cutting in (
        [],
        ["--chunk", 1],
        ["--cut", 40],
        ["--cut", 40, "--chunk", 7],
        ["--cut", 10**9],
        ["--cut", 0],
    ):
        shown = replay(*flags, *cutting, path(case))
        assert (list(shown), shown) == (READING_KEYS, case.expected)


@pytest.mark.parametrize("kind", MANIFESTS)
def test_a_recorded_stream_gives_what_python_reads(kind: str, tmp_path: Path) -> None:
    """By the shell as by `read`, whose readings are those of the manifest (recordings/test_readings.py)."""
    file, differing = tmp_path / "body", []
    for case in streams(kind):
        file.write_bytes(case.body)
        flags = ["--wire", case.wire, "--ending", case.ending]
        flags += ["--profile", case.profile] if case.profile else []
        if replay(*flags, "--chunk", 1000, file) != shown(read_as_told(case)):
            differing.append(str(case))
    assert differing == []


@pytest.mark.parametrize("case", contract_cases("sse"), ids=str)
def test_a_body_gives_its_events(case: Case) -> None:
    """The wire `sse` shows what was dispatched."""
    shown = replay("--wire", "sse", path(case))
    assert (list(shown), shown) == (["events", "last_event_id", "retry"], case.expected)


def test_an_empty_file_is_an_empty_body(tmp_path: Path) -> None:
    """And no answer."""
    empty = tmp_path / "empty"
    empty.touch()
    assert replay("--wire", "openai_chat", empty)["reason"] == "stream_truncated"
    assert replay("--wire", "openai_chat", "--ending", "cut", empty)["reason"] == "connection_lost"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            ["--wire", "telegraph", "x"],
            f"unknown wire 'telegraph'; known: {', '.join(sorted([*WIRES, 'sse']))}",
        ),
        (["--wire", "sse", "no/such/file"], "cannot read no/such/file: No such file or directory"),
        (["--wire", "sse", "."], "cannot read .: Is a directory"),
        (["x"], "the following arguments are required: --wire"),
        (["--wire", "sse"], "the following arguments are required: FILE"),
        (
            ["--wire", "sse", "--chunk", "0", "x"],
            "argument --chunk: expected a whole number of at least 1, got '0'",
        ),
        (
            ["--wire", "sse", "--cut", "-1", "x"],
            "argument --cut: expected a whole number of at least 0, got '-1'",
        ),
        (
            ["--wire", "sse", "--cut", "a", "x"],
            "argument --cut: expected a whole number of at least 0, got 'a'",
        ),
        (["--wire", "sse", "--ending", "bang", "x"], "argument --ending: invalid choice: 'bang'"),
        (["--wire", "sse", "--speed", "9", "x"], "unrecognized arguments: --speed"),
    ],
)
def test_a_mistake_is_told(arguments: list[str], text: str) -> None:
    """By name, with what was expected."""
    with pytest.raises(CommandError) as caught:
        call_command("replay", *arguments)
    assert text in str(caught.value)


def test_a_giant_bare_event_is_told(tmp_path: Path) -> None:
    """The wire `sse` has no verdict to hold it."""
    giant = tmp_path / "giant"
    giant.write_bytes(b"data: " + b"x" * (8 * 1024 * 1024) + b"\n\n")
    with pytest.raises(CommandError, match="expected an event of at most 8388608 bytes, got a larger one"):
        call_command("replay", "--wire", "sse", str(giant))
    assert replay("--wire", "openai_chat", giant)["reason"] == "event_too_large"


@pytest.mark.parametrize(
    "arguments",
    [["--wire", "sse", "--chunk", "0", "x"], ["--wire", "sse", "no/such/file"], ["--wire", "x", "x"]],
)
def test_a_mistake_is_one_line_in_the_shell(arguments: list[str]) -> None:
    """No usage, no traceback, and not zero."""
    done = subprocess.run(
        [sys.executable, "manage.py", "replay", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode != 0, done.stdout, done.stderr.count("\n")) == (True, "", 1)


def test_a_body_of_another_wire_is_told(tmp_path: Path) -> None:
    """Beside the reading, which says no more than that nothing came: the commonest mistake at this command."""
    body = tmp_path / "body"
    body.write_bytes(b'data: {"type":"message_start"}\n\n')
    out, err = io.StringIO(), io.StringIO()
    call_command("replay", "--wire", "openai_chat", str(body), stdout=out, stderr=err)
    assert json.loads(out.getvalue())["reason"] == "stream_truncated"
    assert err.getvalue() == (
        "nothing in these 32 bytes means anything on the wire openai_chat: another wire's body?\n"
    )
