"""Which runs there are: kinds of fault with their weights, and a plan of waves that follows from the seed alone.

Takes a seed and how many runs; gives `Wave`s of `Run`s. Says too what the provider tells at each request of a run. Knows
no sockets, no clock and no product.
"""

from dataclasses import dataclass, field, replace
from random import Random

from tests.chaos import scripts
from tests.chaos.scripts import Told
from tests.fakes.script import Paced, Script, T, Wait, play

PEOPLE = 12
SLOTS = 40
"""How many runs are in flight at most; at least `LEAST_IN_FLIGHT` must have been."""
LEAST_IN_FLIGHT = 20

CUTS = tuple(
    f"cut_{place}/{end}"
    for place in ("in_character", "between_lines", "in_json", "after_tool_arguments", "before_terminal")
    for end in scripts.ENDS
)
CANCELS = ("cancel_late", "cancel_twice", "cancel_at_end")
RESPONSES = ("repeated_responses", "reordered_responses", "resumed_responses")
SIGNALS = ("sigkill", "sigterm", "frozen")
"""Faults of the whole server: their runs go in waves of their own."""

WEIGHTS: dict[str, int] = {
    "healthy": 34,
    **dict.fromkeys(CUTS, 1),
    **dict.fromkeys(scripts.CHAT, 1),
    **dict.fromkeys(RESPONSES, 1),
    **dict.fromkeys(CANCELS, 3),
}
KINDS = (*WEIGHTS, *SIGNALS)
SIGNAL_SHARE = {"sigkill": 0.12, "sigterm": 0.08, "frozen": 0.04}
WAVE_MOST = 30


@dataclass(frozen=True, slots=True)
class Run:
    """One generation under one fault."""

    seed: int
    number: int
    kind: str
    wire: str
    person: int
    session: int
    plain: bool
    faulty: int
    """How many requests of this run meet the fault; later ones are healthy."""

    @property
    def text(self) -> str:
        """What the person writes; the provider knows the run by it."""
        return f"chaos run {self.number}: how long should I rest? Força!"

    @property
    def model(self) -> str:
        return "openai-responses:gpt-5-mini" if self.wire == "responses" else "compatible:scripted-1"

    def random(self, *what: object) -> Random:
        """A source of its own for each thing, so that no order of events changes another."""
        return Random(":".join(map(str, (self.seed, self.number, *what))))

    def stops(self) -> list[float]:
        """When somebody presses Stop, in seconds after the message was accepted."""
        if self.kind not in CANCELS:
            return []
        rng, length_s = self.random("stops"), _length_s(self)
        if self.kind == "cancel_at_end":
            return [length_s * rng.uniform(1, 1.4) + rng.uniform(0, 0.2)]  # a loaded machine plays it slower
        first = rng.uniform(0, 1.1 * length_s)
        return [first] if self.kind == "cancel_late" else [first, first + rng.choice((0.0, 0.0, 0.02, 0.3))]


@dataclass(frozen=True, slots=True)
class Wave:
    """Runs that are started together, and what happens to the server meanwhile; `moment_s` after the start."""

    runs: list[Run] = field(default_factory=list)
    signal: str = ""
    moment_s: float = 0.0


def plan(seed: int, runs: int) -> list[Wave]:
    """Every kind once as far as the runs reach, the rest by weight; the same for the same two numbers."""
    rng = Random(seed)
    per_signal = {kind: max(1, round(runs * share)) for kind, share in SIGNAL_SHARE.items()}
    if runs >= 5 * LEAST_IN_FLIGHT:
        per_signal["sigkill"] = max(LEAST_IN_FLIGHT, per_signal["sigkill"])
    left = max(0, runs - sum(per_signal.values()))
    kinds = list(WEIGHTS)[:left]
    kinds += rng.choices(list(WEIGHTS), weights=list(WEIGHTS.values()), k=left - len(kinds))
    rng.shuffle(kinds)
    waves: list[list[str]] = []
    for kind, count in per_signal.items():
        waves += [[kind] * len(part) for part in _parts(range(count), WAVE_MOST)]
    rng.shuffle(waves)
    ordinary = _parts(kinds, -(-max(1, len(kinds)) // len(waves)))
    out: list[Wave] = []
    number = 0
    for at in range(max(len(ordinary), len(waves))):
        for group in (ordinary[at : at + 1], waves[at : at + 1]):
            for names in group:
                made = [_run(rng, seed, number + n, kind) for n, kind in enumerate(names)]
                number += len(made)
                signal = names[0] if names[0] in SIGNALS else ""
                out.append(Wave(made, signal, rng.uniform(0.5, 1.3) if signal else 0.0))
    return out


def _parts(items: "list[str] | range", size: int) -> list[list[str]]:
    return [list(map(str, items[at : at + size])) for at in range(0, len(items), max(1, size))]


def _run(rng: Random, seed: int, number: int, kind: str) -> Run:
    both = kind in ("healthy", *CANCELS, *SIGNALS) or (kind in CUTS and "tool" not in kind)
    wire = "responses" if kind in RESPONSES or (both and rng.random() < 0.3) else "chat"
    return Run(
        seed=seed,
        number=number,
        kind=kind,
        wire=wire,
        person=rng.randrange(PEOPLE),
        session=rng.randrange(2),
        plain=kind not in CANCELS and rng.random() < 0.25,
        faulty=rng.choice((1, 1, 2, 9)),
    )


# --- what the provider says ---------------------------------------------------------------------------------------
def told(run: Run, request: int) -> Told:
    """The answer to a run's request number `request` (from 0) on the chat wire."""
    rng = run.random("request", request)
    words = scripts.speech(rng, run.number, request)
    if request >= run.faulty or run.kind == "healthy":
        thought = f"Thinking about run {run.number}." if rng.random() < 0.3 else ""
        pieces = scripts.chat_events(words, reasoning=thought)
        return scripts.whole(rng, pieces, words, ms=rng.choice((0, 2, 10, 40)), reasoning=thought)
    if run.kind.startswith("cut_after_tool_arguments/"):
        pieces = [*map(T, words), *scripts.tool_events(rng)]
        steps = [*scripts.spread(rng, pieces, 2), Wait(5), scripts.ENDS[run.kind.partition("/")[2]]]
        return Told(play(*steps), "".join(words))
    if run.kind in CUTS:
        return scripts.cut(rng, run.kind, scripts.chat_events(words), words, ms=rng.choice((0, 3)))
    if run.kind in CANCELS or run.kind in SIGNALS:
        return _long(run, rng, request)
    return scripts.CHAT[run.kind](rng, words)


def _long(run: Run, rng: Random, request: int) -> Told:
    """A stream that is still running when something happens; now and then its head comes late."""
    words = scripts.speech(rng, run.number, request, 30, 60)
    made = scripts.whole(rng, scripts.chat_events(words), words, ms=rng.choice((20, 40, 80)))
    if rng.random() < 0.25:
        held = play(*made.script.steps, hold_ms=rng.choice((100, 600, 1000)))
        return Told(held, made.text, made.reasoning, made.whole_at)
    return made


@dataclass(frozen=True, slots=True)
class Response:
    """A reply that is kept at the provider: its events in the order in which they are sent."""

    events: list[bytes]
    text: str
    ms: float
    painted: str
    forgotten: bool
    """Whether the provider knows nothing of it when it is asked for again."""


def response(run: Run, request: int, response_id: str) -> Response:
    """The reply to a run's request number `request` on the Responses wire."""
    rng = run.random("request", request)
    long = run.kind in CANCELS or run.kind in SIGNALS
    words = scripts.speech(rng, run.number, request, *((30, 60) if long else (4, 14)))
    pieces = scripts.response_events(words, response_id)
    if run.kind == "repeated_responses":
        pieces = scripts.repeat(rng, pieces)
    painted = ""
    if run.kind == "reordered_responses":
        pieces, painted = scripts.reorder(rng, pieces, words)
    forgotten = run.kind in SIGNALS and rng.random() < 0.2
    ms = rng.choice((20, 40, 80)) if long else rng.choice((0, 3))
    return Response(pieces, "".join(words), ms, painted, forgotten)


def response_told(run: Run, kept: Response, *, first: int, connection: int) -> Told:
    """What one connection says of a kept reply, from event `first` on; early connections may break."""
    rng = run.random("connection", connection)
    rest, words = kept.events[first:], [kept.text]
    breaks = run.kind in CUTS or run.kind == "resumed_responses"
    if breaks and connection < run.faulty and len(rest) > 1:
        if run.kind in CUTS and any("力".encode() in piece for piece in rest):
            return scripts.cut(rng, run.kind, rest, words, ms=kept.ms)
        at = rng.randrange(1, len(rest))
        steps = [*scripts.spread(rng, [*rest[:at], rest[at][:20]], kept.ms), scripts.ENDS["cut"]]
        return Told(play(*steps), kept.text)
    return replace(scripts.whole(rng, rest, words, ms=kept.ms), painted=kept.painted)


def _length_s(run: Run) -> float:
    """About how long the first answer to a run takes."""
    if run.wire == "responses":
        kept = response(run, 0, "")
        return len(kept.events) * kept.ms / 1000
    return busy_s(told(run, 0).script)


def busy_s(script: Script) -> float:
    """How long a script has something to say: until its end, or until it says nothing more for ever."""
    ms = script.hold_ms if script.hold_ms != float("inf") else 0.0
    for step in script.steps:
        if isinstance(step, Wait):
            ms += step.ms
        elif isinstance(step, Paced):
            ms += 1000 * len(step.pieces) / step.per_second
        elif step == b": ping\n\n":
            break
    return ms / 1000
