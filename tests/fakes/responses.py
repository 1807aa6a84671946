"""A Responses API that keeps its replies: background streams can be read again after any number, and cancelled.

Takes the words of a reply and where each connection breaks; gives bytes by the wire's own rules. For tests of going on.
"""

import json
import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.fakes.provider import Record, ScriptedProvider
from tests.fakes.script import Cut, Script, Step, Wait, page, play

RESPONSE_ID = "resp_scripted"


def events(words: list[str], *, status: str = "completed") -> list[bytes]:
    """Every event of one background reply, numbered from 0."""
    text = "".join(words)
    response = {
        "id": RESPONSE_ID,
        "object": "response",
        "background": True,
        "status": "in_progress",
        "output": [],
    }
    item = {"id": "msg_1", "type": "message", "role": "assistant", "status": "in_progress", "content": []}
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    part = {"type": "output_text", "text": text, "annotations": []}
    whole = item | {"status": "completed", "content": [part]}
    usage = {"input_tokens": 9, "output_tokens": len(words), "output_tokens_details": {"reasoning_tokens": 0}}
    bodies: list[dict[str, Any]] = [
        {"type": "response.created", "response": response},
        {"type": "response.in_progress", "response": response},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.content_part.added", **place, "part": part | {"text": ""}},
        *({"type": "response.output_text.delta", **place, "delta": word} for word in words),
        {"type": "response.output_text.done", **place, "text": text},
        {"type": "response.content_part.done", **place, "part": part},
        {"type": "response.output_item.done", "output_index": 0, "item": whole},
        {
            "type": f"response.{status}",
            "response": response | {"status": status, "output": [whole], "usage": usage},
        },
    ]
    return [
        f"event: {body['type']}\ndata: {json.dumps(body | {'sequence_number': number})}\n\n".encode()
        for number, body in enumerate(bodies)
    ]


class ResponsesProvider(ScriptedProvider):
    """`breaks` says after which event each connection in turn breaks (None: it does not); `ends` how."""

    def __init__(self, words: list[str], breaks: list[int | None], *, ends: Step | None = None) -> None:
        super().__init__()
        self.events = events(words)
        self.breaks = list(breaks)
        self.ends = ends or Cut()
        self.known = True
        self.cancel_statuses = [200]

    def take(self, record: Record) -> Script:
        """Play the events after the cursor that was asked for, up to where this connection breaks."""
        parts = urlsplit(record.path)
        self.requests.append(record)
        if parts.path.endswith("/cancel"):
            status = self.cancel_statuses.pop(0) if len(self.cancel_statuses) > 1 else self.cancel_statuses[0]
            return page(json.dumps({"id": RESPONSE_ID, "status": "cancelled"}).encode(), status=status)
        if record.method == "GET":
            if not self.known or not re.search(rf"/responses/{RESPONSE_ID}$", parts.path):
                return page(
                    b'{"error":{"message":"No response found.","type":"invalid_request_error"}}', status=404
                )
            after = parse_qs(parts.query).get("starting_after", ["-1"])[0]
            return self._from(int(after) + 1)
        return self._from(0)

    def _from(self, first: int) -> Script:
        last = self.breaks.pop(0) if self.breaks else None
        steps: list[Step] = []
        for body in self.events[first : None if last is None else last + 1]:
            steps += [body, Wait(5)]
        if last is None:
            return play(*steps)
        # The event that the break cuts in two must not be lost, and must not be doubled.
        return play(*steps, self.events[last + 1][:25], self.ends)
