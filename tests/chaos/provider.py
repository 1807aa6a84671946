"""The provider of a chaos run: it plays each run's own script on both wires, and keeps the script's log.

Takes the runs by number; gives bytes on loopback and, at the end, what it said: for each connection of each run what the
script amounts to, after how many bytes it is whole, and how many bytes went out. Knows nothing of the product.
"""

import json
import re
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.chaos.plan import Response, Run, busy_s, response, response_told, told
from tests.chaos.scripts import Told
from tests.fakes.provider import Record, ScriptedProvider
from tests.fakes.script import MODEL, Script, page

_MARK = re.compile(rb"chaos run (\d+)")
_GONE = b'{"error":{"message":"no such response","type":"invalid_request_error"}}'


@dataclass(slots=True)
class _Said:
    """One connection and the truth about it."""

    run: int
    record: Record
    told: Told


@dataclass(slots=True)
class _Kept:
    """A reply that this provider keeps, and how many connections have read it."""

    run: Run
    response: Response
    connections: int = 0


class ChaosProvider(ScriptedProvider):
    """Plays `runs`; all state is of its own thread, `log` is for when nothing is asked any more."""

    def __init__(self, runs: list[Run]) -> None:
        super().__init__()
        self._runs = {run.number: run for run in runs}
        self._requests: dict[int, int] = {}
        self._kept: dict[str, _Kept] = {}
        self._said: list[_Said] = []
        # Records tell monotonic time; the database tells the time of day.
        self._epoch = time.time() - time.monotonic()

    def take(self, record: Record) -> Script:
        """The script for this request."""
        path = urlsplit(record.path).path
        if path == "/v1/models":
            models = [{"id": MODEL, "object": "model", "created": 1, "owned_by": "tests"}]
            return page(json.dumps({"object": "list", "data": models}).encode())
        if path.startswith("/v1/responses/"):
            return self._again(record, path.removeprefix("/v1/responses/"))
        found = _MARK.findall(record.body)
        if record.method != "POST" or not found:
            return page(_GONE, status=404)
        run = self._runs[int(found[-1])]
        number = self._requests.get(run.number, 0)
        self._requests[run.number] = number + 1
        if path.endswith("/responses"):
            response_id = f"resp_{run.number}_{number}"
            self._kept[response_id] = _Kept(run, response(run, number, response_id))
            return self._read(record, self._kept[response_id], first=0)
        return self._say(run, record, told(run, number))

    def _again(self, record: Record, rest: str) -> Script:
        """A kept reply is read on, or cancelled; now and then a cancel fails at first."""
        response_id, _, verb = rest.partition("/")
        kept = self._kept.get(response_id)
        if verb == "cancel":
            kind = {"id": response_id, "status": "cancelled"}
            fails = kept is not None and kept.run.random("cancel", record.received_at).random() < 0.3
            return page(json.dumps(kind).encode(), status=503 if fails else 200)
        if kept is None or kept.response.forgotten:
            return page(_GONE, status=404)
        after = parse_qs(urlsplit(record.path).query).get("starting_after", ["-1"])[0]
        return self._read(record, kept, first=int(after) + 1)

    def _read(self, record: Record, kept: _Kept, *, first: int) -> Script:
        said = response_told(kept.run, kept.response, first=first, connection=kept.connections)
        kept.connections += 1
        return self._say(kept.run, record, said)

    def _say(self, run: Run, record: Record, said: Told) -> Script:
        self._said.append(_Said(run.number, record, said))
        return said.script

    def log(self) -> list[dict[str, Any]]:
        """One entry for each connection that asked for a reply, in order."""
        return [
            {
                "what": "said",
                "run": said.run,
                "text": said.told.text,
                "reasoning": said.told.reasoning,
                "painted": said.told.painted,
                "whole_at": said.told.whole_at,
                "sent": said.record.bytes_sent,
                "busy_from": said.record.received_at + self._epoch,
                "busy_until": said.record.received_at + self._epoch + busy_s(said.told.script),
            }
            for said in self._said
        ]
