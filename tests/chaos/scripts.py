"""What the provider says in a run, and what is true of it: the bytes of each fault, on both wires that are played.

Takes a kind of fault and a random source; gives `Told`: a script, the text that it amounts to, and after how many bytes its
terminal signal has been wholly sent (None: never, so that nothing may be confirmed by it). Knows no sockets and no
product. `plan.py` says which kinds there are and how often.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from tests.fakes.responses import RESPONSE_ID, events
from tests.fakes.script import (
    DONE,
    ERROR,
    FIN,
    REASON,
    USAGE,
    Cut,
    End,
    Reset,
    Script,
    Stall,
    Step,
    T,
    Wait,
    chunk,
    page,
    play,
)

_POOL = (
    "descanso", "força", "coração", "séries", "señal", "力", "休息", "🏋️‍♀️", "rest", "then", "again",
    '"quoted"', "back\\slash", "\nline", "**bold**", "é", "[DONE]", "data:", "naïve", "\u2028", "Ω",
)  # fmt: skip
"""Words that hurt readers: many bytes to a character, line separators, and the wire's own marks as plain text."""


@dataclass(frozen=True, slots=True)
class Told:
    """One HTTP answer and the truth about it."""

    script: Script
    text: str = ""
    reasoning: str = ""
    whole_at: int | None = None
    painted: str = ""
    """What a draft may show instead, where the fault is such that a reader cannot paint the text."""


ENDS: dict[str, Step] = {"end": End(), "cut": Cut(), "reset": Reset()}


def speech(rng: Random, run: int, request: int, least: int = 4, most: int = 14) -> list[str]:
    """Words that no other request of any run says: what was confirmed can be traced to the bytes that said it."""
    words = [rng.choice(_POOL) + " " for _ in range(rng.randint(least, most))]
    return [f"Run {run}, request {request}: ", "ação 力 ", *words]


# --- the two wires as lists of events ---------------------------------------------------------------------------
def chat_events(words: list[str], *, reasoning: str = "") -> list[bytes]:
    """A whole chat stream, one event an item; the last is `[DONE]`."""
    thoughts = [REASON(reasoning)] if reasoning else []
    return [*thoughts, *map(T, words), FIN("stop"), USAGE(9, len(words)), DONE]


def response_events(words: list[str], response_id: str) -> list[bytes]:
    """A whole background response, one event an item; the last is `response.completed`."""
    out = []
    for event in events(words):
        head, _, data = event.decode().replace(RESPONSE_ID, response_id).partition("\ndata: ")
        # As providers send it: characters as bytes, so that there is something to cut through.
        out.append(f"{head}\ndata: {json.dumps(json.loads(data), ensure_ascii=False)}\n\n".encode())
    return out


def spread(rng: Random, pieces: list[bytes], ms: float) -> list[Step]:
    """Some milliseconds between the pieces; without, cut at places that mean nothing, as a network does."""
    if ms:
        return [step for piece in pieces for step in (piece, Wait(ms * rng.uniform(0.5, 1.5)))]
    body, steps = b"".join(pieces), list[Step]()
    while body:
        size = rng.choice((1, 3, 17, 200, 1500))
        steps.append(body[:size])
        body = body[size:]
    return steps


def size_of(steps: list[Step]) -> int:
    """The bytes that these steps send."""
    return sum(len(step) for step in steps if isinstance(step, bytes))


def whole(rng: Random, pieces: list[bytes], words: list[str], *, ms: float, reasoning: str = "") -> Told:
    """A stream that is played to its terminal signal."""
    steps = spread(rng, pieces, ms)
    return Told(play(*steps), "".join(words), reasoning, size_of(steps))


# --- cuts -------------------------------------------------------------------------------------------------------
def cut_place(rng: Random, kind: str, pieces: list[bytes]) -> tuple[int, int]:
    """Which event the cut goes through, and after how many of its bytes."""
    if kind == "before_terminal":
        return len(pieces) - 1, rng.randrange(len(pieces[-1]) - 1)
    texts = [n for n, piece in enumerate(pieces) if "力".encode() in piece]
    at = rng.choice(texts)
    piece = pieces[at]
    if kind == "in_character":
        return at, piece.index("力".encode()) + rng.choice((1, 2))
    if kind == "between_lines":
        return at, rng.choice([n + 1 for n, byte in enumerate(piece) if byte == 0x0A][:-1] or [0])
    start = piece.index(b"{") + 1
    return at, rng.randint(start, len(piece) - 4)  # in JSON


def cut(rng: Random, kind: str, pieces: list[bytes], words: list[str], *, ms: float) -> Told:
    """A stream that ends early: the end is named behind the slash, the place before it."""
    place, _, end = kind.removeprefix("cut_").partition("/")
    at, size = cut_place(rng, place, pieces)
    steps = [*spread(rng, [*pieces[:at], pieces[at][:size]], ms), Wait(rng.choice((0, 10))), ENDS[end]]
    return Told(play(*steps), "".join(words))


def tool_events(rng: Random) -> list[bytes]:
    """A call whose arguments are whole JSON, in pieces, before any finish."""
    arguments = json.dumps({"exercise": "agachamento", "sets": rng.randint(1, 5)})
    half = len(arguments) // 2
    first = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "log_set", "arguments": ""}}
    rest = [{"index": 0, "function": {"arguments": part}} for part in (arguments[:half], arguments[half:])]
    return [chunk({"tool_calls": [call]}) for call in (first, *rest)]


# --- chat: everything else --------------------------------------------------------------------------------------
Builder = Callable[[Random, list[str]], Told]


def _refused(status: int, kind: str, **headers: str) -> Builder:
    body = json.dumps({"error": {"message": "scripted", "type": kind, "code": None}}).encode()
    return lambda _rng, _words: Told(page(body, status=status, **headers))


def _busy(rng: Random, _words: list[str]) -> Told:
    """Now, in a moment, or longer than anybody waits."""
    wait = rng.choice(("0", "0.3", "1", "1", "30"))
    body = b'{"error":{"message":"slow down","type":"rate_limit_error","code":"rate_limit_exceeded"}}'
    return Told(page(body, status=429, Retry_After=wait))


def _ends_so(*tail: bytes) -> Builder:
    """All of the text, then these events instead of a good end: nothing may be confirmed."""

    def build(rng: Random, words: list[str]) -> Told:
        return Told(play(*spread(rng, [*map(T, words), *tail], 3), End()), "".join(words))

    return build


def _error_event(rng: Random, words: list[str]) -> Told:
    kind = rng.choice(("server_error", "overloaded_error", "invalid_request_error"))
    pieces = [*map(T, words[: rng.randint(0, len(words))]), ERROR("scripted", kind)]
    return Told(play(*spread(rng, pieces, 3), rng.choice((End(), Cut(), Reset()))), "".join(words))


def _error_after_done(rng: Random, words: list[str]) -> Told:
    """`[DONE]` ends the transport: nothing after it is read."""
    pieces = chat_events(words)
    late = [ERROR("too late"), T("never said"), FIN("length")]
    steps = spread(rng, pieces, 2)
    return Told(play(*steps, *late, End()), "".join(words), whole_at=size_of(steps))


def _repeated(rng: Random, words: list[str]) -> Told:
    """What may come twice on this wire without meaning anything new: the finish, the usage, `[DONE]`."""
    pieces = [*map(T, words), FIN("stop"), FIN("stop"), USAGE(9, 1), USAGE(9, 2), FIN("stop"), DONE]
    steps = spread(rng, pieces, 2)
    return Told(play(*steps, DONE, DONE), "".join(words), whole_at=size_of(steps))


def _reordered(rng: Random, words: list[str]) -> Told:
    """`[DONE]` before the finish proves nothing; text after the finish still counts until `[DONE]`."""
    if rng.random() < 0.5:
        return Told(play(*spread(rng, [*map(T, words), DONE, FIN("stop"), USAGE(9, 2)], 2)), "".join(words))
    at = rng.randint(1, len(words) - 1)
    pieces = [*map(T, words[:at]), FIN("stop"), USAGE(9, 2), *map(T, words[at:]), DONE]
    return whole(rng, pieces, words, ms=2)


def _stall(rng: Random, words: list[str]) -> Told:
    steps = spread(rng, [*map(T, words[: rng.randint(1, len(words))])], 5)
    return Told(play(*steps, Stall()), "".join(words))


def _stall_before_terminal(rng: Random, words: list[str]) -> Told:
    at = rng.randrange(len(DONE) - 1)
    steps = spread(rng, [*map(T, words), FIN("stop"), USAGE(9, 2), DONE[:at]], 5)
    return Told(play(*steps, Stall()), "".join(words))


def _stall_pings(rng: Random, words: list[str]) -> Told:
    """The line lives, and says nothing: comments only."""
    steps = spread(rng, [*map(T, words)], 5)
    pings: list[Step] = [b": ping\n\n", Wait(200)] * 100
    return Told(play(*steps, *pings, Stall()), "".join(words))


CHAT: dict[str, Builder] = {
    "http_400": _refused(400, "invalid_request_error"),
    "http_401": _refused(401, "authentication_error"),
    "http_500": _refused(500, "server_error"),
    "http_503": _refused(503, "overloaded_error"),
    "http_429_retry_after": _busy,
    "html_200": lambda _rng, _words: Told(
        page(b"<html><body>Welcome</body></html>", content_type="text/html")
    ),
    "json_200": lambda _rng, _words: Told(page(b'{"choices":[{"message":{"content":"whole"}}]}')),
    "error_event": _error_event,
    "error_before_done": _ends_so(FIN("stop"), ERROR("at the last moment"), DONE),
    "error_after_done": _error_after_done,
    "token_limit": _ends_so(FIN("length"), USAGE(9, 2), DONE),
    "content_filter": _ends_so(FIN("stop"), FIN("content_filter"), DONE),
    "unknown_finish": _ends_so(FIN("because"), DONE),
    "tool_unasked": lambda rng, words: Told(
        play(*map(T, words), *tool_events(rng), FIN("tool_calls"), DONE), "".join(words)
    ),
    "empty": lambda _rng, _words: Told(play(FIN("stop"), USAGE(9, 0), DONE)),
    "repeated_chat": _repeated,
    "reordered_chat": _reordered,
    "stall_no_head": lambda _rng, _words: Told(play(hold_ms=float("inf"))),
    "stall_in_text": _stall,
    "stall_before_terminal": _stall_before_terminal,
    "stall_pings": _stall_pings,
}
"""Faults that only the chat wire plays."""


# --- Responses: repeated and reordered events ---------------------------------------------------------------------
def repeat(rng: Random, pieces: list[bytes]) -> list[bytes]:
    """Some events twice, at once or later: their numbers say that they are known."""
    out: list[bytes] = []
    for at, piece in enumerate(pieces):
        out.append(piece)
        if rng.random() < 0.4 and at < len(pieces) - 1:
            out.append(rng.choice(pieces[: at + 1]))
    return out


def reorder(rng: Random, pieces: list[bytes], words: list[str]) -> tuple[list[bytes], str]:
    """Two neighbours in the text change places: what a reader makes of it is no answer. Gives the events, and the text
    without the word that comes too late."""
    deltas = [n for n, piece in enumerate(pieces) if b"output_text.delta" in piece]
    word = rng.randrange(len(words) - 1)
    at, out = deltas[word], list(pieces)
    out[at], out[at + 1] = out[at + 1], out[at]
    return out, "".join([*words[:word], *words[word + 1 :]])
