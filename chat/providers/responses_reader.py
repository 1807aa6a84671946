"""The reader of the OpenAI Responses wire: events -> deltas and one verdict.

Takes events and how the body ended; gives deltas in order of arrival and the verdict. The terminal event's own
status decides; what it, or a `.done`, says of a text must be what the deltas said. Does not know bytes, gates,
requests or the network. Source: the OpenAPI description of OpenAI, "Responses streaming events"; the quirks are
those of recorded streams.
"""

from __future__ import annotations

import json
from typing import Any

from chat.providers.chat_chunk import as_dict, as_list, as_text
from chat.providers.faults import WORD_CHARS, stream_fault
from chat.providers.responses_event import ResponsesEvent, lenient_event, opened, opened_value, read_event
from chat.providers.responses_items import CALL_TYPES, Call, Item, Items, Piece
from chat.providers.responses_whole import (
    ANSWER,
    KINDS,
    LETTERS,
    RAW,
    REFUSAL,
    SUMMARY,
    call_arguments,
    part_text,
    read_usage,
    same_arguments,
    same_text,
    told_texts,
)
from chat.streaming.deltas import Delta, TextDelta, ToolDelta, Usage, storable
from chat.streaming.outcome import ENDING_REASONS, Ending, Outcome, Reason, Verdict
from chat.streaming.sse import Event

INCOMPLETE_REASONS: dict[str, Reason] = {
    "max_output_tokens": Reason.max_tokens,
    "content_filter": Reason.content_filter,
}
"""`incomplete_details.reason` -> our word; any other (`max_messages`, `steered`, none) is `unknown`."""

_TERMINAL = {
    "response.completed": "completed",
    "response.incomplete": "incomplete",
    "response.failed": "failed",
}
_LIFECYCLE = frozenset({"response.created", "response.queued", "response.in_progress"})

_DELTAS = {
    "response.output_text.delta": ANSWER,
    "response.refusal.delta": REFUSAL,
    "response.reasoning_summary_text.delta": SUMMARY,
    "response.reasoning_text.delta": RAW,
}
_DONES = {name.removesuffix("delta") + "done": letter for name, letter in _DELTAS.items()}
_ARGUMENT_DELTAS = frozenset(
    {"response.function_call_arguments.delta", "response.custom_tool_call_input.delta"}
)
_ARGUMENT_DONES = frozenset({"response.function_call_arguments.done", "response.custom_tool_call_input.done"})
_PART_DONES = frozenset(
    {"response.content_part.done", "response.reasoning_summary_part.done", "response.reasoning_part.done"}
)
_PINGS = frozenset({"keepalive", "response.keepalive", "ping"})
_NAMES = {ANSWER: "answer", REFUSAL: "refusal", SUMMARY: "reasoning summary", RAW: "reasoning"}

_NOTHING: list[Delta] = []


class OpenAIResponsesReader:
    """Reads one stream. Deltas count until a terminal event, or an error: what comes later is late.

    `abridged`: the recording leaves events out, so that neither their numbers nor the whole texts can agree
    with what is left. No stream of a provider is read so.
    """

    def __init__(self, *, abridged: bool = False) -> None:
        self.response_id: str | None = None
        self.usage: Usage | None = None
        self.finished = False
        self.late_events = 0
        self.divergence: str | None = None
        self._abridged = abridged
        self.accepted = 0
        self._number: int | None = None
        self._goes_on = False
        self._items = Items()
        self._spoken: list[Piece] = []
        self._refusing = False
        self._verdict: Verdict | None = None
        self._last: tuple[str | None, str | None, int | None, int | None, int | None] | None = None
        self._last_piece: Piece | None = None

    @property
    def last_event(self) -> str | None:
        """The last sequence number, from which a background response can be resumed; else the count of events."""
        if self._number is not None:
            return str(self._number)
        return str(self.accepted) if self.accepted else None

    @property
    def carry(self) -> list[Any]:
        """The reasoning items that only the provider can read, and the calls, by their place in the output."""
        return [item.carry for item in self._items.in_order() if item.carry is not None]

    def feed(self, event: Event) -> list[Delta]:
        """Return what this event adds."""
        if self.finished:
            self.late_events += 1
            return _NOTHING
        data = event.data
        if event.type == "error":
            return self._fail(data)
        if not data.startswith("{"):
            word = data.strip()
            # Relays add the `[DONE]` of the other wire (which is no evidence here), or keep-alives as data.
            if not word or word[0] == ":" or word == "[DONE]":
                return _NOTHING
        found = read_event(data)
        if found is None:
            return _NOTHING
        type_ = found.type or event.type
        letter = _DELTAS.get(type_)
        foreign = letter is None and not type_.startswith("response.")
        # An error counts whatever its number: some start again from 0.
        if foreign and (type_ == "error" or opened_value(found.error)):
            return self._fail(data)
        number = found.sequence_number
        if number is not None and number - 1 == self._number:
            self._number = number
            self.accepted += 1
        elif not self._accept(found.number):
            return _NOTHING
        if letter is not None:
            return self._say(self._piece(found, letter), found.delta) if found.delta else _NOTHING
        return self._read(type_, found)

    def close(self, ending: Ending) -> Verdict:
        """Judge the stream. Without a terminal event, only what the provider says to go on is still open."""
        if self._verdict is not None:
            return self._verdict
        outcome = Outcome.open if self._goes_on else Outcome.incomplete
        return Verdict(outcome, ENDING_REASONS[ending])

    def _accept(self, number: int | None) -> bool:
        """Count the event, unless it is a repeated one; see gaps. The first number is free."""
        if number is not None:
            last = self._number
            if last is not None:
                if number <= last:
                    return False
                if number > last + 1 and not self._abridged:
                    self._diverge(f"expected event {last + 1}, got {number}")
            self._number = number
        self.accepted += 1
        return True

    def _read(self, type_: str, event: ResponsesEvent) -> list[Delta]:
        if type_ in _ARGUMENT_DELTAS:
            return self._read_arguments(self._item(event), event.delta or "")
        letter = _DONES.get(type_)
        if letter is not None:
            return self._settle(self._piece(event, letter), event.refusal or event.text)
        if type_ in _ARGUMENT_DONES:
            return self._settle_call(self._item(event), event.arguments or event.input)
        if type_ in _PART_DONES:
            return self._read_part(event)
        if type_ in ("response.output_item.added", "response.output_item.done"):
            return self._read_item(event, done=type_.endswith("done"))
        if type_ in _TERMINAL or type_ in _LIFECYCLE:
            self._read_response(opened(event.response) or {}, _TERMINAL.get(type_))
        elif type_ in _PINGS:
            self.accepted -= 1  # its number moves the cursor, but it is no progress
        return _NOTHING

    # --- texts --------------------------------------------------------------------------------

    def _item(self, event: ResponsesEvent) -> Item:
        return self._items.get(event.output_index, event.item_id)

    def _piece(self, event: ResponsesEvent, letter: str) -> Piece:
        # Nearly every delta continues the last part.
        names = (letter, event.item_id, event.output_index, event.content_index, event.summary_index)
        if names == self._last and self._last_piece is not None:
            return self._last_piece
        index = event.summary_index if letter == SUMMARY else event.content_index
        piece = self._item(event).piece(KINDS[letter], letter, index or 0)
        self._last, self._last_piece = names, piece
        return piece

    def _say(self, piece: Piece, text: str) -> list[Delta]:
        if not piece.texts:
            self._spoken.append(piece)
            self._refusing = self._refusing or piece.letter == REFUSAL
        piece.texts.append(text)
        return [TextDelta(piece.kind, piece.key, text)]

    def _settle(self, piece: Piece, text: str | None) -> list[Delta]:
        """Compare a part with its whole text; one of which no delta came is said by that alone."""
        if text is None:
            return _NOTHING
        if not piece.texts:
            return self._say(piece, text) if text else _NOTHING
        self._compare(f"the {_NAMES[piece.letter]} of an item", piece.text, text)
        return _NOTHING

    def _read_part(self, event: ResponsesEvent) -> list[Delta]:
        part = opened(event.part) or {}
        letter = LETTERS.get(as_text(part.get("type")) or "")
        if letter is None:
            return _NOTHING
        return self._settle(self._piece(event, letter), part_text(part))

    def _read_item(self, event: ResponsesEvent, *, done: bool) -> list[Delta]:
        raw = opened(event.item)
        if raw is None:
            return _NOTHING
        item_id = as_text(raw.get("id")) or event.item_id
        self._last = None
        find = self._items.get if done else self._items.announce
        item = find(event.output_index, item_id)
        type_ = as_text(raw.get("type"))
        deltas: list[Delta] = []
        if type_ in CALL_TYPES:
            deltas += self._read_call(item, raw)
        if done:
            if type_ in CALL_TYPES:
                item.carry = raw
                deltas += self._settle_call(item, call_arguments(raw))
            else:
                deltas += self._settle_item(item, raw)
                if type_ == "reasoning" and raw.get("encrypted_content"):
                    item.carry = raw
        return deltas

    def _settle_item(self, item: Item, raw: dict[str, Any]) -> list[Delta]:
        """Compare an item with its whole texts, by kind: relays number the parts of a finished item anew."""
        deltas: list[Delta] = []
        told = told_texts([raw])
        for letter, texts in told.items():
            ours = item.text(letter)
            if ours:
                self._compare(f"the {_NAMES[letter]} of an item", ours, "".join(texts))
                continue
            for index, text in enumerate(texts):
                if text:
                    deltas += self._say(item.piece(KINDS[letter], letter, index), text)
        return deltas

    # --- calls --------------------------------------------------------------------------------

    def _call(self, item: Item) -> Call:
        if item.call is None:
            item.call = Call()
        return item.call

    def _read_call(self, item: Item, raw: dict[str, Any]) -> list[Delta]:
        call = self._call(item)
        call.call_id = call.call_id or as_text(raw.get("call_id")) or ""
        call.name = call.name or as_text(raw.get("name")) or ""
        return [ToolDelta(item.number, call.call_id, call.name, "", item.position)]

    def _read_arguments(self, item: Item, text: str) -> list[Delta]:
        self._call(item).texts.append(text)
        return [ToolDelta(item.number, "", "", text, item.position)]

    def _settle_call(self, item: Item, text: str | None) -> list[Delta]:
        """The whole argument text wins; a difference in more than layout is a divergence all the same."""
        call = self._call(item)
        ours = call.arguments
        if not text or text == ours:
            if ours and text == "":
                self._compare("the arguments of a call", ours, text)
            return _NOTHING
        if ours and not same_arguments(ours, text):
            self._compare("the arguments of a call", ours, text)
        call.texts = [text]
        return [ToolDelta(item.number, "", "", text, item.position, replaces=bool(ours))]

    # --- the response -------------------------------------------------------------------------

    def _read_response(self, response: dict[str, Any], named: str | None) -> None:
        if self.response_id is None:
            response_id = as_text(response.get("id"))
            self.response_id = storable(response_id) if response_id else None
        if response.get("background") is True:
            self._goes_on = True
        self.usage = read_usage(response.get("usage")) or self.usage
        if named is None:
            return
        status = response.get("status")
        error = response.get("error")
        # The status inside beats the event's name, but a friendly one does not heal a name that says otherwise.
        if status is None or status == "completed":
            status = named
        if not error and status in ("queued", "in_progress"):
            self._goes_on = True
            return
        self._compare_output(as_list(response.get("output")))
        self._end(self._judge(status, error, response))

    def _judge(self, status: Any, error: Any, response: dict[str, Any]) -> Verdict:
        """Error before refusal before incomplete before tools before complete."""
        word = storable(status[:WORD_CHARS]) if isinstance(status, str) else None
        if error:
            return stream_fault(error)
        if status == "failed":
            return Verdict(Outcome.failed, Reason.provider_error, word, retryable=False)
        details = as_dict(response.get("incomplete_details")) or {}
        stopped = as_text(details.get("reason"))
        if stopped:
            word = storable(stopped[:WORD_CHARS])
        if self._refusing:
            return Verdict(Outcome.refused, Reason.model_refusal, word)
        if status == "cancelled":
            return Verdict(Outcome.incomplete, Reason.cancelled, "cancelled")
        if stopped or status != "completed":
            return Verdict(Outcome.incomplete, INCOMPLETE_REASONS.get(stopped or "", Reason.unknown), word)
        if any(item.call is not None for item in self._items.all):
            return Verdict(Outcome.tool_requested, None, word)
        return Verdict(Outcome.complete, None, word)

    def _compare_output(self, output: list[Any]) -> None:
        """Compare the whole with the output, unless that is empty: then it says nothing."""
        items = [item for item in output if isinstance(item, dict)]
        if not items:
            return
        told = told_texts(items)
        for letter in KINDS:
            theirs = "".join(told.get(letter, ()))
            self._refusing = self._refusing or (letter == REFUSAL and bool(theirs))
            # Reasoning may be left out of the output; answers and refusals may not.
            if theirs or letter in (ANSWER, REFUSAL):
                ours = "".join(piece.text for piece in self._spoken if piece.letter == letter)
                self._compare(f"the {_NAMES[letter]} of the response", ours, theirs)
        asked = [item for item in items if as_text(item.get("type")) in CALL_TYPES]
        calls = [item.call for item in self._items.in_order() if item.call is not None]
        if len(asked) != len(calls):
            self._diverge(f"expected the {len(calls)} calls that came, got {len(asked)} in the output")
            return
        for call, raw in zip(calls, asked, strict=True):
            names = (as_text(raw.get("call_id")) or "", as_text(raw.get("name")) or "")
            if names != (call.call_id, call.name) or not same_arguments(
                call.arguments, call_arguments(raw) or ""
            ):
                self._diverge("expected each call as it came, got another in the output")

    def _compare(self, what: str, ours: str, theirs: str) -> None:
        if not same_text(ours, theirs):
            self._diverge(
                f"expected {what} as its deltas said it ({len(ours)} characters), "
                f"got another text ({len(theirs)})"
            )

    def _diverge(self, text: str) -> None:
        if not self._abridged:
            self.divergence = self.divergence or text

    # --- ends ---------------------------------------------------------------------------------

    def _end(self, verdict: Verdict) -> None:
        self._verdict = verdict
        self.finished = True

    def _fail(self, data: str) -> list[Delta]:
        """End with an error, whatever its data look like."""
        self.accepted += 1
        try:
            error: Any = json.loads(data)
        except (ValueError, RecursionError):
            error = data
        if isinstance(error, dict):
            number = lenient_event(error).number
            if number is not None and (self._number is None or number > self._number):
                self._number = number
            # The flat error's own `type` is the event's: it says nothing.
            error = error.get("error") or {name: error.get(name) for name in ("code", "message")}
        self._end(stream_fault(error))
        return _NOTHING
