"""Every way a reply can look, as a table: what stands in the rows, and one line that says what a person sees.

Takes nothing, gives `SCENES`. Knows no browser and no database: `staged.py` makes the rows, `screens.py` the pictures, and
`test_access.py` asks axe about each.
"""

from typing import NamedTuple

QUESTION = "How long should I rest between sets?"
SHORT = "Two to three minutes between heavy sets, about one minute between light ones."

ANSWER = """Rest **two to three minutes** between heavy sets, and about one minute between light ones.

| Goal | Sets | Rest |
| --- | --- | ---: |
| Strength | 5 × 5 | 3 min |
| Size | 4 × 10 | 90 s |
| Stamina | 3 × 20 | 45 s |

If your last repetition slows down, rest a little longer. Nobody is counting but you.
"""

HALF = """Rest **two to three minutes** between heavy sets, and about one minute between light ones.

If your last repetition slows down, rest a"""

THOUGHTS = "They ask about rest, not about weight. Give the two ranges first, then the rule of thumb."

PROSE = """# A first month

Three short sessions a week are enough. *Leave a day between them*, and write down what you did ~~perfectly~~ honestly.[^1]

## What to pack

- A mat, or a folded blanket
- Water
    1. before you begin
    2. whenever you want to
- [x] shoes that do not slip
- [ ] a timer, such as `timer --rounds 8`

> The best plan is the one that you will still follow in June.

| Week | Monday | Wednesday | Friday | Load |
| --- | :---: | :---: | :---: | ---: |
| 1 | squats | rows | walk | 40 % |
| 2 | squats | rows | presses | 50 % |
| 3 | lunges | rows | presses | 55 % |

```python
from dataclasses import dataclass

@dataclass
class Set:
    reps: int          # how often
    load: float = 0.0  # in kilograms

    def rest_s(self) -> int:
        return 180 if self.reps <= 6 else 90  # a rule of thumb

print(Set(reps=5, load=42.5).rest_s(), "seconds, which is a line long enough to be wrapped on a telephone")
```

```diff
- rest = 30
+ rest = 90
```

Your one-repetition maximum is about \\(w \\cdot (1 + \\tfrac{r}{30})\\), so that

$$ \\mathrm{1RM} \\approx w \\left( 1 + \\frac{r}{30} \\right) $$

Read on at https://training.example.org/guides/the-first-month/with/a/very/long/address?week=1&day=monday#what-to-pack.

### A sentence from right to left

ابدأ ببطء، وزد قليلاً كل أسبوع.

[^1]: A line a day is plenty.
"""


class Scene(NamedTuple):
    """One reply. `page` is for endings that a page gives by itself, when it will hear no more."""

    name: str
    says: str
    state: str
    reason: str = ""
    answer: str = ""
    reasoning: str = ""
    refusal: str = ""
    question: str = QUESTION
    waited_s: int = 0  # less than none: it is still in its first seconds when its picture is made
    page: str = ""
    paper_form: bool = False
    plan: bool = False

    @property
    def unfinished(self) -> bool:
        return self.state in {"queued", "received", "buffered", "assembled"}


SCENES = [
    Scene("waiting", "Sent; the model has not begun.", "queued", waited_s=-1200),
    Scene("waiting-long", "After three seconds the page counts aloud.", "received", waited_s=12),
    Scene("thinking", "Reasoning comes before the first word.", "buffered", reasoning=THOUGHTS),
    Scene(
        "draft", "A draft, in pencil: dotted rule, writing cursor, nothing to copy.", "buffered", answer=HALF
    ),
    Scene("checking", "The whole text has come and is being checked.", "assembled", answer=ANSWER),
    Scene(
        "held",
        "Text has come, and none of it is shown before it was checked.",
        "buffered",
        question="My knee hurts when I squat. What should I do?",
    ),
    Scene(
        "ready", "An answer, in ink: solid rule, time, copy.", "confirmed", answer=ANSWER, reasoning=THOUGHTS
    ),
    Scene(
        "waiting-for-you",
        "An action that only a person may release: what, on what, how much, and can it be undone.",
        "confirmed",
        answer="I can put that into your plan. Please look at it first.",
        question="Put three sessions a week into my plan",
        paper_form=True,
    ),
    Scene(
        "reading", "Everything that Markdown can become.", "confirmed", answer=PROSE, question="Plan my month"
    ),
    Scene("stopped", "The person pressed Stop.", "cancelled", "cancelled", HALF),
    Scene("stopped-empty", "Stopped before the first word.", "cancelled", "cancelled"),
    Scene("cut", "The stream ended before its end.", "incomplete", "stream_truncated", HALF),
    Scene("too-long", "The model came to its length limit.", "incomplete", "max_tokens", HALF),
    Scene("filtered", "A content filter ended it half-way.", "incomplete", "content_filter", HALF),
    Scene(
        "refused", "The model declined.", "failed", "model_refusal", refusal="I can't help with that request."
    ),
    Scene("failed", "The provider broke before a word had come.", "failed", "provider_error"),
    Scene(
        "failed-half-way", "What had come did not agree with the provider's end.", "failed", "divergent", HALF
    ),
    Scene("withdrawn", "A check said no to what was shown already.", "failed", "policy", HALF),
    Scene(
        "plan", "A training plan that was checked.", "confirmed", answer="{}", question="A plan", plan=True
    ),
    Scene("expired", "It took longer than this server allows.", "expired", "deadline", HALF),
    Scene("deleted", "Deleted in another window while it was written.", "buffered", answer=HALF, page="gone"),
    Scene("signed-out", "Signed out in another window.", "buffered", answer=HALF, page="signedOut"),
]
