"""What travels to the browser: typed frames, one shape for WebSocket, SSE and polling.

Takes values; gives their JSON text, and reads the one thing that a page sends up. A paint is an array,
because it is nearly all of the traffic (17 bytes a token); the other frames are objects with a `type`. Does
not know transports.
"""

from __future__ import annotations

from uuid import UUID

import msgspec

Identifier = UUID | str

_LETTERS = {"answer": "a", "reasoning": "r", "refusal": "f"}


class Paint(msgspec.Struct, frozen=True, gc=False):
    """Text appended to one lane of a draft: frame `seq` of the generation with this handle.

    `after` is the sequence number that the text follows on; None means the one just before.

        [handle, seq, text]                answer
        [handle, seq, text, "r"]           reasoning; "f": refusal
        [handle, seq, text, "a", after]    several paints in one
    """

    handle: int
    seq: int
    text: str
    lane: str = "answer"
    after: int | None = None


class Snapshot(msgspec.Struct, frozen=True, gc=False, tag="draft"):
    """The whole draft up to `seq`; it replaces what the page shows of it."""

    handle: int
    seq: int
    answer: str
    reasoning: str
    refusal: str


class Turn(msgspec.Struct, frozen=True, gc=False, tag="turn"):
    """A notice about a generation: unnumbered, and the same however often it comes."""

    generation: Identifier
    handle: int
    parent: Identifier | None
    state: str
    reason: str | None
    attempt: int
    retry_of: Identifier | None


class Final(msgspec.Struct, frozen=True, gc=False, tag="final"):
    """The last frame of a generation: its end, the server's HTML of the reply, and its successor, if any."""

    generation: Identifier
    handle: int
    seq: int
    state: str
    reason: str | None
    html: str
    successor: Identifier | None


Frame = Paint | Snapshot | Turn | Final


class _Ack(msgspec.Struct):
    ack: tuple[int, int]


_encoder = msgspec.json.Encoder()
_ack_decoder = msgspec.json.Decoder(_Ack)


def encode(frame: Frame) -> str:
    """Return the frame as it goes to the browser: one line of JSON."""
    if type(frame) is not Paint:
        return _encoder.encode(frame).decode()
    if frame.after is not None and frame.after != frame.seq - 1:
        values = [frame.handle, frame.seq, frame.text, _LETTERS[frame.lane], frame.after]
    elif frame.lane == "answer":
        values = [frame.handle, frame.seq, frame.text]
    else:
        values = [frame.handle, frame.seq, frame.text, _LETTERS[frame.lane]]
    return _encoder.encode(values).decode()


def decode_ack(text: str | bytes) -> tuple[int, int] | None:
    """Return the handle and the sequence number that a page says it has shown; None if it says anything else."""
    try:
        return _ack_decoder.decode(text).ack
    except (msgspec.MsgspecError, UnicodeError):
        return None
