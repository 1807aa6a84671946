"""A browser that follows a form is never taken for our script, nor the other way round."""

import pytest
from django.test import RequestFactory

from chat.views.answers import SeeOther, refusal, wants_json


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        ("application/json", True),
        ("application/json, text/plain;q=0.5", True),
        ("text/html,application/xhtml+xml,application/json;q=0.1", False),
        ("*/*", False),
        ("", False),
    ],
)
def test_who_asks(accept: str, expected: bool) -> None:  # noqa: FBT001
    """Only the first word counts."""
    assert wants_json(RequestFactory().get("/", headers={"Accept": accept})) is expected


def test_see_other() -> None:
    """303 makes every browser fetch the page by GET, so that a reload sends nothing twice."""
    assert (SeeOther("/x/").status_code, SeeOther("/x/").headers["Location"]) == (303, "/x/")


def test_refusal() -> None:
    """A word for the machine, a sentence for the person, and what else belongs to it."""
    response = refusal(409, "busy", "Wait.", handle=3)
    assert (response.status_code, response.content) == (
        409,
        b'{"error": "busy", "message": "Wait.", "handle": 3}',
    )
