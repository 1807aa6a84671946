"""Training plans: what is asked for, what the object must be, and the plan as text. The one structured flow.

Takes what a person wrote, a prompt, or a model's text; gives whether a plan is wanted, the prompt with its form, and the
plan or the first fault that it has. Nothing is repaired: a fault is told by its place, never with the model's words. Knows
no database and no network; a schema that points elsewhere is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn

import jsonschema_rs
from msgspec.structs import replace

from chat.policy.words import fold
from chat.providers.base import Endpoint, Prompt
from chat.providers.profiles import profile
from chat.streaming.deltas import is_storable
from chat.streaming.visible import is_visible

SCHEMA_VERSION = 1


def _object(**properties: Any) -> dict[str, Any]:
    """Strict as every provider wants it: all that it has is required, and nothing else is allowed."""
    required = list(properties)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


_TEXT = {"type": "string"}
_COUNT = {"type": "integer"}
SCHEMA = _object(
    title=_TEXT,
    weeks=_COUNT,
    days={
        "type": "array",
        "items": _object(
            name=_TEXT,
            exercises={
                "type": "array",
                "items": _object(
                    name=_TEXT,
                    sets=_COUNT,
                    reps=_COUNT,
                    weight_kg={"type": ["number", "null"]},
                    rest_s=_COUNT,
                    note=_TEXT,
                ),
            },
        ),
    },
    advice=_TEXT,
)
"""The shape alone: some providers refuse bounds in a schema. Bounds are rules, below."""

WORDS = (
    "You are Gymnasia, a friendly and careful fitness coach. Make the training plan that the person asks for. Write its "
    "texts in the language of the question: Portuguese, Spanish or English. `weeks` is how long it runs; each of `days` "
    "is one training day with its exercises; `weight_kg` is null where no weight is used or none can be known; `note` "
    "may be empty. `advice` is one or two sentences; for pain, injuries, illness, pregnancy or medicines it says that a "
    "doctor or physiotherapist should be asked."
)
FORM = "Answer with one JSON object and nothing else, no code fence. It must follow this JSON schema:\n"

# Bounds of what a person can do, generous; `None` passes where the schema lets it.
BOUNDS: dict[str, tuple[float, float]] = {
    "weeks": (1, 52),
    "sets": (1, 10),
    "reps": (1, 100),
    "weight_kg": (0, 400),
    "rest_s": (0, 900),
}
MOST_DAYS, MOST_EXERCISES = 7, 15
NAME_CHARS, NOTE_CHARS, ADVICE_CHARS = 80, 300, 1000
MOST_CHARS = 100_000


class Faulty(ValueError):
    """The text is no plan; the message says where and what was expected, without the model's words."""


# --- asking ---------------------------------------------------------------------------------------------------------
_PLAN_EN = r"(?:training|workout|exercise|fitness|gym|running|strength)\s+(?:plan|program|programme|routine|schedule)"
_PLAN_PT = r"(?:plano|programa|planilha|rotina|ficha)\s+(?:de\s+)?(?:treinos?|treinamento|exercicios|corrida|musculacao)"
_PLAN_ES = (
    r"(?:plan|programa|rutina)\s+(?:de\s+)?(?:entrenamientos?|entreno|ejercicios|gimnasio|fuerza|carrera)"
)
_ASKS = re.compile(
    rf"(?<!\w)(?:(?:make|create|write|build|design|draw up|prepare|give me|i want|i need|i'd like|can i get)(?!\w)"
    rf"[^.?!\n]{{0,60}}?(?<!\w){_PLAN_EN}"
    rf"|(?:faca|faz|crie|cria|monte|monta|monta[-\s]me|elabore|prepare|gere|escreva|quero|preciso de|gostaria de"
    rf"|me de)(?!\w)"
    rf"[^.?!\n]{{0,60}}?(?<!\w){_PLAN_PT}"
    rf"|(?:haz|hazme|haga|crea|creame|cree|disena|disename|arma|armame|prepara|preparame|genera|escribe|quiero|necesito"
    rf"|dame|me gustaria)(?!\w)[^.?!\n]{{0,60}}?(?<!\w){_PLAN_ES})(?!\w)"
)
_ABOUT = re.compile(r"(?<!\w)(?:how (?:do|to|can)|should i|como|o que|what is|que es|por que|why)(?!\w)")


def wants_plan(text: str) -> bool:
    """Whether these words ask for a plan to be made: "make me a training plan", not "how do I make one?"."""
    folded = fold(text)
    found = _ASKS.search(folded)
    return found is not None and not _ABOUT.search(folded, max(0, found.start() - 24), found.start())


def takes_schema(endpoint: Endpoint) -> bool:
    """Whether the wire, or the dialect of it, holds a model to a schema by itself."""
    return endpoint.wire != "openai_chat" or profile(endpoint.profile).json_schema


def asked(prompt: Prompt, endpoint: Endpoint) -> Prompt:
    """The prompt as it is sent for a plan: the form in words for every model, and by the wire's own means where it has
    them."""
    system = f"{prompt.system}\n\n{FORM}{json.dumps(SCHEMA)}"
    if not takes_schema(endpoint):
        return replace(prompt, system=system)
    form = {
        "type": "json_schema",
        "json_schema": {"name": "training_plan", "schema": SCHEMA, "strict": True},
    }
    return replace(prompt, system=system, settings={**prompt.settings, "response_format": form})


# --- reading --------------------------------------------------------------------------------------------------------
_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*)\n```", re.DOTALL)


def _no_reference(uri: str) -> NoReturn:
    raise ValueError(f"expected a schema that stands alone, got a reference to {uri}")


_VALIDATOR = jsonschema_rs.validator_for(SCHEMA, retriever=_no_reference)


class Verdicts(NamedTuple):
    """What became of a text: the plan, if it is one, and the fault of each of the two checks that it has."""

    plan: dict[str, Any] | None
    schema_fault: str = ""
    rules_fault: str = ""


def judge(text: str) -> Verdicts:
    """Hold a whole text against the schema, then against the rules."""
    try:
        value = _parsed(text)
    except Faulty as fault:
        return Verdicts(None, schema_fault=str(fault))
    broken = next(_broken_rules(value), "")
    return Verdicts(None if broken else value, rules_fault=broken)


def _parsed(text: str) -> dict[str, Any]:
    text = text.strip()
    if len(text) > MOST_CHARS:
        raise Faulty(f"expected at most {MOST_CHARS} characters, got {len(text)}")
    # Models that are only asked by words put a fence around it.
    fenced = _FENCED.fullmatch(text)
    try:
        value = json.loads(fenced.group(1) if fenced else text, parse_constant=_refuse_constant)
        error = next(_VALIDATOR.iter_errors(value), None)
    except (ValueError, RecursionError, OverflowError):
        raise Faulty("expected one JSON object, got something else") from None
    if error is not None:
        place = "/".join(str(part) for part in error.instance_path) or "the object"
        rule = [str(part) for part in error.schema_path][-1:]
        raise Faulty(f"expected what the schema says at {place}, got something else ({''.join(rule)})")
    found: dict[str, Any] = value
    return found


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"expected JSON, got {word}")


def _broken_rules(plan: dict[str, Any]) -> Iterator[str]:
    """Every rule that the plan breaks, by its place."""
    yield from _text("title", plan["title"], NAME_CHARS)
    yield from _text("advice", plan["advice"], ADVICE_CHARS, may_be_empty=True)
    yield from _number("weeks", plan["weeks"], "weeks")
    days = plan["days"]
    if not 1 <= len(days) <= MOST_DAYS:
        yield f"expected 1 to {MOST_DAYS} days, got {len(days)}"
    for at, day in enumerate(days, 1):
        where = f"day {at}"
        yield from _text(f"{where}: name", day["name"], NAME_CHARS)
        exercises = day["exercises"]
        if not 1 <= len(exercises) <= MOST_EXERCISES:
            yield f"{where}: expected 1 to {MOST_EXERCISES} exercises, got {len(exercises)}"
        for number, exercise in enumerate(exercises, 1):
            place = f"{where}, exercise {number}"
            yield from _text(f"{place}: name", exercise["name"], NAME_CHARS)
            yield from _text(f"{place}: note", exercise["note"], NOTE_CHARS, may_be_empty=True)
            for field in ("sets", "reps", "weight_kg", "rest_s"):
                yield from _number(f"{place}: {field}", exercise[field], field)


def _text(place: str, text: str, most: int, *, may_be_empty: bool = False) -> Iterator[str]:
    if not is_storable(text) or any(sign < " " and sign not in "\n\t" for sign in text):
        yield f"{place}: expected text, got characters that cannot be kept"
    elif not may_be_empty and not is_visible(text):
        yield f"{place}: expected a text, got an empty one"
    elif len(text) > most:
        yield f"{place}: expected at most {most} characters, got {len(text)}"


def _number(place: str, value: float | None, field: str) -> Iterator[str]:
    least, most = BOUNDS[field]
    if value is not None and not least <= value <= most:
        yield f"{place}: expected {least:g} to {most:g}, got another number"


# --- telling --------------------------------------------------------------------------------------------------------
_MARKS = re.compile(r"([\\`*_\[\]<>|#~])")


def as_text(plan: dict[str, Any]) -> str:
    """The plan as Markdown: what is copied, searched and sent with the next turn. Headings and numbers only, so that it
    is of no language; the names are the model's."""
    lines = [f"## {_plain(plan['title'])}"]
    for day in plan["days"]:
        lines += ["", f"### {_plain(day['name'])}", ""]
        for exercise in day["exercises"]:
            weight = exercise["weight_kg"]
            lines.append(
                f"- **{_plain(exercise['name'])}**: {exercise['sets']:g} × {exercise['reps']:g}"
                + (f", {weight:g} kg" if weight is not None else "")
                + (f", {exercise['rest_s']:g} s" if exercise["rest_s"] else "")
                + (f". {_plain(exercise['note'])}" if exercise["note"].strip() else "")
            )
    if plan["advice"].strip():
        lines += ["", _plain(plan["advice"])]
    return "\n".join(lines)


def _plain(text: str) -> str:
    return _MARKS.sub(r"\\\1", " ".join(text.split()))
