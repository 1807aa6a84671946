"""A training plan for tests: a good one, and one with a word changed. Knows no database."""

import json
from typing import Any


def exercise(**changes: Any) -> dict[str, Any]:
    return {
        "name": "Squat",
        "sets": 3,
        "reps": 10,
        "weight_kg": 42.5,
        "rest_s": 90,
        "note": "Slowly down",
    } | changes


def plan(**changes: Any) -> dict[str, Any]:
    days = [
        {"name": "Day A", "exercises": [exercise(), exercise(name="Push-up", weight_kg=None, note="")]},
        {"name": "Day B", "exercises": [exercise(name="Row", rest_s=0)]},
    ]
    return {
        "title": "Strong in four weeks",
        "weeks": 4,
        "days": days,
        "advice": "Stop when it hurts, and ask a doctor.",
    } | changes


def plan_json(**changes: Any) -> str:
    return json.dumps(plan(**changes))


def with_exercise(**changes: Any) -> dict[str, Any]:
    """A plan whose first exercise has this changed."""
    return plan(days=[{"name": "Day A", "exercises": [exercise(**changes)]}])
