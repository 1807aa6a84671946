"""A plan is what the schema and the rules say, to the letter, or it is none."""

import json
from typing import Any

import pytest

from chat.planning import SCHEMA, as_text, asked, judge, takes_schema, wants_plan
from chat.providers import WIRES
from chat.providers.base import Endpoint, Model, Prompt, Turn
from chat.providers.endpoints import ENDPOINTS
from tests.plans import exercise, plan, with_exercise

ASKS = [
    "make me a training plan",
    "Please create a 3-day workout routine for me",
    "I need a running plan for 10 km",
    "Monte um plano de treino para mim",
    "Quero uma ficha de musculação",
    "Crie um programa de exercícios em casa",
    "Hazme un plan de entrenamiento",
    "Necesito una rutina de ejercicios",
    "¿Me das algo? Diseña un programa de fuerza",
]
ASKS_NOT = [
    "How do I make a training plan?",
    "Como faço um plano de treino?",
    "¿Cómo creo un plan de entrenamiento?",
    "What is a good training plan?",
    "My training plan is too hard",
    "Plan three short workouts for a beginner without equipment",
    "Make me laugh",
    "I want to pay for the premium plan",
    "",
]


@pytest.mark.parametrize("text", ASKS)
def test_words_that_ask_for_a_plan(text: str) -> None:
    assert wants_plan(text)


@pytest.mark.parametrize("text", ASKS_NOT)
def test_words_that_do_not(text: str) -> None:
    """Who asks about plans wants to be told, not to be made one."""
    assert not wants_plan(text)


# --- how it is asked for --------------------------------------------------------------------------------------------
PROMPT = Prompt("Be brief.", [Turn("user", "A plan")], {"max_tokens": 900})


def endpoint(wire: str, profile: str) -> Endpoint:
    return Endpoint("x", "X", wire, "http://127.0.0.1:1/v1", None, profile, (Model("m", "M"),))


def body(wire: str, profile: str) -> dict[str, Any]:
    where = endpoint(wire, profile)
    sent: dict[str, Any] = json.loads(
        WIRES[wire].request(asked(PROMPT, where), endpoint=where, model="m").body
    )
    return sent


@pytest.mark.parametrize(
    ("wire", "profile", "path"),
    [
        ("openai_chat", "openai", ["response_format", "json_schema", "schema"]),
        ("openai_chat", "llama.cpp", ["response_format", "json_schema", "schema"]),
        ("openai_responses", "openai", ["text", "format", "schema"]),
        ("anthropic", "anthropic", ["output_config", "format", "schema"]),
        ("google", "google", ["generationConfig", "responseJsonSchema"]),
        ("google_interactions", "google", ["response_format", "schema"]),
    ],
)
def test_each_wire_is_told_the_schema_in_its_own_place(wire: str, profile: str, path: list[str]) -> None:
    at: Any = body(wire, profile)
    for name in path:
        at = at[name]
    assert at == SCHEMA


def test_who_may_not_know_schemas_is_told_in_words() -> None:
    """An unknown server may answer 400 to a setting that it does not have."""
    sent = body("openai_chat", "strict")
    assert "response_format" not in sent
    assert sent["messages"][0]["content"].startswith("Be brief.\n\nAnswer with one JSON object")
    assert json.dumps(SCHEMA) in sent["messages"][0]["content"]
    assert (sent["max_tokens"], PROMPT.settings) == (900, {"max_tokens": 900})


def test_every_endpoint_of_the_table_has_a_way() -> None:
    found = {each.name: takes_schema(each) for each in ENDPOINTS}
    assert [name for name, takes in found.items() if not takes] == ["compatible", "tai"]


def test_the_schema_is_strict_everywhere() -> None:
    """OpenAI's strict mode wants it so; and an extra field is never kept."""

    def objects(schema: Any) -> list[Any]:
        if isinstance(schema, dict):
            own = [schema] if schema.get("type") == "object" else []
            return own + [found for each in schema.values() for found in objects(each)]
        return []

    for each in objects(SCHEMA):
        assert (each["additionalProperties"], each["required"]) == (False, list(each["properties"]))
    assert len(objects(SCHEMA)) == 3


# --- what is a plan -------------------------------------------------------------------------------------------------
def test_a_good_plan_is_taken_as_it_is() -> None:
    assert judge(json.dumps(plan())) == (plan(), "", "")
    assert judge(f"\n```json\n{json.dumps(plan(), indent=1)}\n```\n").plan == plan()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Here is your plan:",
        "Here you are: " + json.dumps(plan()),
        json.dumps(plan())[:-1],
        json.dumps(plan()) * 2,
        '{"a":' * 5000,
        "NaN",
        json.dumps(plan(weeks=float("inf"))),
        "x" * 100_001,
    ],
)
def test_what_is_no_json_is_no_plan(text: str) -> None:
    """Nothing is cut out of a text, and nothing is closed that was left open."""
    found = judge(text)
    assert (found.plan, bool(found.schema_fault), found.rules_fault) == (None, True, "")


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ([], "the object"),
        ({**plan(), "more": 1}, "the object"),
        ({name: value for name, value in plan().items() if name != "advice"}, "the object"),
        (plan(weeks="4"), "weeks"),
        (plan(weeks=4.5), "weeks"),
        (plan(days={}), "days"),
        (with_exercise(sets=None), "days/0/exercises/0/sets"),
        (with_exercise(weight_kg="heavy"), "days/0/exercises/0/weight_kg"),
        (with_exercise(tempo="3-1-1"), "days/0/exercises/0"),
        (with_exercise(**{"$ref": "http://127.0.0.1:1/schema"}), "days/0/exercises/0"),
    ],
)
def test_what_breaks_the_schema_is_told_by_its_place(value: Any, place: str) -> None:
    found = judge(json.dumps(value))
    assert found.plan is None
    assert found.schema_fault.startswith(f"expected what the schema says at {place}, got")


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        (plan(title=" "), "title: expected a text, got an empty one"),
        (plan(title="x" * 81), "title: expected at most 80 characters, got 81"),
        (plan(title="a\x00"), "title: expected text, got characters that cannot be kept"),
        (plan(weeks=53), "weeks: expected 1 to 52, got another number"),
        (plan(weeks=10**400), "weeks: expected 1 to 52, got another number"),
        (plan(days=[]), "expected 1 to 7 days, got 0"),
        (plan(days=plan()["days"] * 4), "expected 1 to 7 days, got 8"),
        (
            plan(days=[{"name": "", "exercises": [exercise()]}]),
            "day 1: name: expected a text, got an empty one",
        ),
        (plan(days=[{"name": "A", "exercises": []}]), "day 1: expected 1 to 15 exercises, got 0"),
        (with_exercise(name="\u200b"), "day 1, exercise 1: name: expected a text, got an empty one"),
        (with_exercise(sets=0), "day 1, exercise 1: sets: expected 1 to 10, got another number"),
        (with_exercise(reps=101), "day 1, exercise 1: reps: expected 1 to 100, got another number"),
        (with_exercise(weight_kg=-1), "day 1, exercise 1: weight_kg: expected 0 to 400, got another number"),
        (
            with_exercise(weight_kg=400.5),
            "day 1, exercise 1: weight_kg: expected 0 to 400, got another number",
        ),
        (with_exercise(rest_s=901), "day 1, exercise 1: rest_s: expected 0 to 900, got another number"),
        (with_exercise(note="x" * 301), "day 1, exercise 1: note: expected at most 300 characters, got 301"),
    ],
)
def test_what_nobody_could_train_is_told_by_its_place(value: Any, fault: str) -> None:
    assert judge(json.dumps(value)) == (None, "", fault)


@pytest.mark.parametrize(("sets", "reps", "weight_kg", "rest_s"), [(10, 100, 400, 900), (1, 1, 0, 0)])
def test_the_bounds_themselves_pass(sets: int, reps: int, weight_kg: int, rest_s: int) -> None:
    changes = {"sets": sets, "reps": reps, "weight_kg": weight_kg, "rest_s": rest_s}
    assert judge(json.dumps(with_exercise(**changes))).plan == with_exercise(**changes)


# --- as text --------------------------------------------------------------------------------------------------------
def test_a_plan_reads_as_a_text() -> None:
    """What is copied and searched; a name cannot become markup."""
    assert as_text(plan(title="<b>*Strong*</b>")) == (
        "## \\<b\\>\\*Strong\\*\\</b\\>\n\n### Day A\n\n"
        "- **Squat**: 3 × 10, 42.5 kg, 90 s. Slowly down\n- **Push-up**: 3 × 10, 90 s\n\n"
        "### Day B\n\n- **Row**: 3 × 10, 42.5 kg. Slowly down\n\nStop when it hurts, and ask a doctor."
    )
