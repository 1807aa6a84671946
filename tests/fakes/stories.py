"""Which script a user's words ask for: how browser walks and benches steer a provider in another process.

Takes the last user message and how often it was asked before, gives a `Script`. Only the last line of the
message counts, because unanswered user turns arrive joined and an old wish must not answer a new one. Knows
no sockets.
"""

import json
import re
from collections.abc import Callable

from tests.fakes.script import (
    DONE,
    ERROR,
    FIN,
    GAP,
    REASON,
    REFUSE,
    USAGE,
    Cut,
    End,
    Held,
    Paced,
    Reset,
    Script,
    Stall,
    Step,
    T,
    Wait,
    page,
    play,
    whole_answer,
    words,
)
from tests.fakes.treatise import FORMULAS, TREATISE
from tests.plans import plan_json

TOKEN_CHARS = 5
"""`tokens` sends fixed-width numbers, so a reader knows each token's ordinal by counting characters."""

COACH = """Rest **two to three minutes** between heavy sets, and about one minute between light ones.

| Goal | Sets | Rest |
| --- | --- | --- |
| Strength | 5 × 5 | 3 min |
| Size | 4 × 10 | 90 s |
| Stamina | 3 × 20 | 45 s |

```python
def rest_seconds(reps: int) -> int:
    return 180 if reps <= 6 else 90
```

If your last repetition slows down, rest a little longer. Nobody is counting but you.
"""

MEAL = """Within the hour, keep it plain: **a bowl of rice or oats, an egg or two, and fruit**. The grain refills \
what the session took, the egg repairs, and the fruit is there because you will look forward to it.

Drink water first, though. Thirst often dresses up as hunger, and a glass costs you nothing. If you train again \
tomorrow morning, eat a little more than feels right tonight; if not, your appetite knows best.
"""

SAFE = "Let it rest for two days. Then ask a physiotherapist which squats are fine for you."
PILLS = "Warm up well first. Take 400 mg of ibuprofen before you lift. Then lift."

ATTACK = """Look: <img src="x" onerror="window.hacked = 1"> and <script>window.hacked = 2</script>

[a link](javascript:window.hacked=3) and ![a picture](https://pictures.invalid/beacon.png)

<style>body { display: none }</style><iframe src="https://frames.invalid/"></iframe>
"""


def _start(count: int = 6) -> list[Step]:
    """The first words of a reply, far enough apart to be seen as they come."""
    steps: list[Step] = []
    for n in range(1, count + 1):
        steps += [T(f"w{n} "), GAP]
    return steps


def _numbers(rest: list[str], default_ms: float = 20) -> Script:
    """`slow MS [COUNT]`: numbered words that far apart, then a proper end."""
    ms = float(rest[0]) if rest else default_ms
    count = int(rest[1]) if len(rest) > 1 else 600
    pieces = tuple(T(f"w{n} ") for n in range(1, count + 1))
    return play(Paced(pieces, 1000 / ms), FIN("stop"), USAGE(9, count), DONE)


def _held(rest: list[str]) -> Script:
    """`held [MS]`: numbered words that far apart until the test says so, then a proper end."""
    return play(Held("content", float(rest[0] if rest else 20)), FIN("stop"), DONE)


def _mull(rest: list[str]) -> Script:
    """`mull [MS]`: reasoning that long, then a short answer."""
    held = Held("reasoning_content", float(rest[0] if rest else 20))
    return play(held, T("Here is"), GAP, T(" the reply."), FIN("stop"), DONE)


def _tokens(rest: list[str]) -> Script:
    """`tokens RATE COUNT`: the load of a bench."""
    rate, count = float(rest[0]), int(rest[1])
    pieces = tuple(T(f"{n:0{TOKEN_CHARS - 1}d} ") for n in range(count))
    return play(Wait(200), Paced(pieces, rate), FIN("stop"), USAGE(9, count), DONE)


def _treatise(rest: list[str]) -> Script:
    """`treatise MS`: a long answer with everything in it, seven letters at a time, so that marks arrive in halves."""
    pieces = tuple(T(TREATISE[at : at + 7]) for at in range(0, len(TREATISE), 7))
    return play(Paced(pieces, 1000 / float(rest[0] if rest else 8)), FIN("stop"), USAGE(9, len(pieces)), DONE)


def _lecture(_: list[str]) -> Script:
    """`lecture`: the treatise, and then numbered words until the test says so."""
    return play(Paced((T(TREATISE), T("\n\n")), 100), Held("content", 20), FIN("stop"), DONE)


def _formulas(rest: list[str]) -> Script:
    """`formulas MS`: displayed formulas and footnotes between words, in the same pieces."""
    pieces = tuple(T(FORMULAS[at : at + 7]) for at in range(0, len(FORMULAS), 7))
    return play(Paced(pieces, 1000 / float(rest[0] if rest else 8)), FIN("stop"), USAGE(9, len(pieces)), DONE)


def _reason(_: list[str]) -> Script:
    steps: list[Step] = []
    for word in words("First I look at the question. Then I look for a short and true reply."):
        steps += [REASON(word), GAP]
    for word in words("Here is the reply, and it came after the thinking."):
        steps += [T(word), GAP]
    return play(*steps, FIN("stop"), USAGE(9, 26, reasoning=15), DONE)


def _refuse(_: list[str]) -> Script:
    steps: list[Step] = []
    for word in words("I cannot help with that."):
        steps += [REFUSE(word), GAP]
    return play(*steps, FIN("stop"), DONE)


def _error(_: list[str]) -> Script:
    return play(*_start(), ERROR("The engine is overloaded.", "overloaded_error"), End())


def _json(status: int, message: str, kind: str, code: str | None = None, **headers: str) -> Script:
    body = json.dumps({"error": {"message": message, "type": kind, "code": code}})
    return page(body.encode(), status=status, **headers)


STORIES: dict[str, Callable[[list[str]], Script]] = {
    "cut": lambda _: play(*_start(), Cut()),
    "reset": lambda _: play(*_start(), Reset()),
    "early": lambda _: play(*_start(), End()),
    "unfinished": lambda _: play(*_start(), DONE),
    "stall": lambda _: play(*_start(), Stall()),
    "hold": lambda _: play(hold_ms=float("inf")),
    "limit": lambda _: play(*_start(), FIN("length"), USAGE(9, 6), DONE),
    "filter": lambda _: play(*_start(), FIN("content_filter"), DONE),
    "empty": lambda _: play(FIN("stop"), USAGE(9, 0), DONE),
    "refuse": _refuse,
    "rtl": lambda _: whole_answer("ابدأ ببطء، وزد قليلاً كل أسبوع."),
    "error": _error,
    "busy": lambda _: _json(429, "Slow down.", "rate_limit_error", Retry_After="1"),
    "denied": lambda _: _json(401, "Incorrect API key provided.", "invalid_request_error"),
    "later": lambda _: _json(429, "Slow down.", "rate_limit_error", Retry_After="600"),
    "gone": lambda _: _json(404, "The model does not exist.", "invalid_request_error", "model_not_found"),
    "full": lambda _: _json(400, "Too many tokens.", "invalid_request_error", "context_length_exceeded"),
    "broken": lambda _: _json(500, "Something broke.", "server_error"),
    "html": lambda _: page(b"<html><body>Welcome to the proxy</body></html>", content_type="text/html"),
    "json": lambda _: page(b'{"error":{"message":"no such model","type":"invalid_request_error"}}'),
    "reason": _reason,
    "slow": _numbers,
    "held": _held,
    "mull": _mull,
    "tokens": _tokens,
    "treatise": _treatise,
    "lecture": _lecture,
    "formulas": _formulas,
    "rest": lambda _: whole_answer(COACH, ms=10),
    "eat": lambda _: whole_answer(MEAL, ms=60),
    "careful": lambda _: whole_answer(SAFE, ms=60),
    "harmful": lambda _: whole_answer(PILLS, ms=40),
    "regimen": lambda _: whole_answer(plan_json(), tokens=40, ms=25),
    "scribble": lambda _: whole_answer(plan_json(weeks=0), tokens=20, ms=10),
    "attack": lambda _: whole_answer(ATTACK, ms=20),
}
"""Every word that steers, and what is played for it. The words behind it are its arguments."""


def story(message: str, *, asked_before: int = 0, per_second: float = 100) -> Script:
    """The script for a user message; `mend WORD` is that story once, and a whole answer when asked again."""
    line = message.strip().rsplit("\n", 1)[-1]
    found = re.findall(r"[a-z]+|\d+(?:\.\d+)?", line.lower())
    for at, word in enumerate(found):
        if word == "mend" and asked_before:
            break
        if word in STORIES:
            numbers = []
            for rest in found[at + 1 :]:
                if not rest[0].isdigit():
                    break
                numbers.append(rest)
            return STORIES[word](numbers)
    return _numbers([str(1000 / per_second), "40"])
