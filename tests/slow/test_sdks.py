"""The official clients read the same bytes as we do; where they differ stands in a committed table, and nowhere else.

Each recorded stream is sent by a loopback server. `sdk_differences.json` says of each stream that is read otherwise
what differs; a difference that is not in it fails, and so does one that is gone. With `GYMNASIA_WRITE_SDK_TABLE=1` the
table is written anew, to be read by a person before it is committed. Needs `requirements/outside.txt`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chat.providers import read
from chat.streaming.outcome import Outcome, Reason
from chat.streaming.reading import Reading
from tests.fakes.anywhere import AnywhereProvider
from tests.fakes.script import Cut, play
from tests.recordings.corpus import STREAMS, Case, contract_cases, own_cases, streams, streams_are_here
from tests.recordings.test_arrays import CASES as ARRAYS
from tests.recordings.test_arrays import as_array
from tests.recordings.test_readings import reading
from tests.slow.official_clients import CLIENTS, Heard, hear

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]

TABLE = Path(__file__).with_name("sdk_differences.json")
LIBRARIES = {
    "openai_chat": "openai",
    "openai_responses": "openai",
    "anthropic": "anthropic",
    "google": "google.genai",
    "google_interactions": "google.genai",
}
KINDS = {
    "openai_chat": (("openai_chat", "openai_compat"), "openai-chat"),
    "openai_responses": (("openai_responses",), "openai-responses"),
    "anthropic": (("anthropic",), "anthropic-messages"),
    "google": (("gemini",), "google-generate"),
    "google_interactions": (("gemini_interactions",), ""),  # nobody has recorded any
}
CUT_SHORT = {Reason.stream_truncated, Reason.connection_lost}


def cases(wire: str) -> list[Case]:
    """Every recorded event stream of a wire; for Google's arrays, which its client never asks for, see the last test."""
    kinds, manifest = KINDS[wire]
    found = [*contract_cases(*kinds), *own_cases(wire), *(streams(manifest) if manifest else ())]
    return [case for case in found if not case.body.startswith((b"[", b"{"))]


def call_differs(ours: Reading, heard: Heard) -> bool:
    """Whether the calls differ in number, name or meaning."""
    mine = [(call.name, call.arguments_text or argued(call.arguments)) for call in ours.tool_calls]
    return [(name, plain(text)) for name, text in mine] != [(name, plain(text)) for name, text in heard.calls]


def argued(arguments: Any) -> str:
    return "" if arguments is None else json.dumps(arguments)


def plain(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def differences(ours: Reading, heard: Heard) -> dict[str, str]:
    """What the client told otherwise, in words that hold no recorded text."""
    found = {}
    if heard.raised and ours.outcome is not Outcome.failed:
        found["raised"] = f"{heard.raised}; ours is {ours.outcome} {ours.reason or ''}".strip()
    elif ours.outcome is Outcome.failed and not heard.raised:
        found["silent"] = f"nothing was raised; ours is failed {ours.reason}"
    elif ours.reason in CUT_SHORT and not heard.raised:
        found["silent"] = f"nothing was raised; ours is {ours.outcome} {ours.reason}"
    texts = {
        "answer": (heard.answer, ours.answer),
        "reasoning": (heard.reasoning, "".join(ours.reasoning_parts)),
        "refusal": (heard.refusal, ours.refusal),
    }
    for name, (theirs, mine) in texts.items():
        if theirs != mine:
            found[name] = f"{len(theirs)} characters; ours {len(mine)}"
    if call_differs(ours, heard):
        found["calls"] = f"{len(heard.calls)}; ours {len(ours.tool_calls)}"
    mine_usage = (ours.usage.input, ours.usage.output) if ours.usage else None
    if (heard.usage or (None, None)) != (mine_usage or (None, None)):
        found["usage"] = f"{heard.usage}; ours {mine_usage}"
    return found


@pytest.mark.parametrize("wire", CLIENTS)
def test_the_official_client_reads_the_same_but_for_the_table(wire: str) -> None:
    """A difference is a fault of ours, of theirs, or of the stream: each was looked at once."""
    pytest.importorskip(LIBRARIES[wire])
    if not streams_are_here():
        pytest.skip(
            f"no recorded streams at {STREAMS}: NOT PROVEN that the official clients read them as we do"
        )
    found = {}
    for case, heard in listen(wire, cases(wire)):
        if differs := differences(reading(case, [case.body]), heard):
            found[str(case)] = differs
    table = json.loads(TABLE.read_text(encoding="utf-8")) if TABLE.exists() else {}
    if os.environ.get("GYMNASIA_WRITE_SDK_TABLE"):
        whole = json.dumps({**table, wire: found}, indent=1, sort_keys=True, ensure_ascii=False)
        TABLE.write_text(whole + "\n", encoding="utf-8")
    else:
        assert found == table[wire]


def test_googles_array_differs_from_its_client_where_its_events_do() -> None:
    """The client asks for events alone. The same chunks as one array, read by us, against what it heard of the events."""
    pytest.importorskip(LIBRARIES["google"])
    found = {}
    for case, heard in listen("google", ARRAYS):
        if differs := differences(read("google", [as_array(case, 2)]), heard):
            found[str(case)] = differs
    table = json.loads(TABLE.read_text(encoding="utf-8"))["google"]
    assert found == {name: row for name, row in table.items() if name in set(map(str, ARRAYS))}


def listen(wire: str, bodies: list[Case]) -> Iterator[tuple[Case, Heard]]:
    """What the client hears of each body."""
    with AnywhereProvider() as provider:
        for case in bodies:
            provider.script = play(case.body, *([Cut()] if case.ending == "cut" else []))
            yield case, hear(wire, f"http://127.0.0.1:{provider.port}")
