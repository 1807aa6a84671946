"""What the audit's pages are made of: nothing that a row says is markup, and nothing can be changed through them."""

from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib import admin

from chat.audit import AskedBy, Called, ReadOnly, link, table, timeline
from chat.models import Generation, ToolCall
from chat.states.generation import State
from tests.rows import WHOLE_CALL, asking, brought_to, ended, person, sent


def test_cells_are_words_and_an_empty_one_says_so() -> None:
    html = str(table(("a", "<b>"), [("<i>", ""), (0, None)]))
    assert "<th>&lt;b&gt;</th>" in html
    assert "<tr><td>&lt;i&gt;</td><td>-</td></tr><tr><td>0</td><td>-</td></tr>" in html
    assert (table(("a",), []), link(None)) == ("-", "-")


@pytest.mark.django_db
def test_a_timeline_has_every_move_of_its_subject_and_of_no_other() -> None:
    row = brought_to(State.failed, person())
    call = ended(sent(person("kim")), asking()).tool_calls.get()
    assert str(timeline(row)).count("<tr>") == 2
    assert str(timeline(call)).count("<td>denied</td>") == 1
    assert timeline(sent(person("eva"))) == "-"


@pytest.mark.django_db
def test_nobody_may_write() -> None:
    page, request = ReadOnly(Generation, admin.site), SimpleNamespace(user=person("root", is_superuser=True))
    told: Any = request
    answers = (
        page.has_add_permission(told),
        page.has_change_permission(told),
        page.has_delete_permission(told),
    )
    assert answers == (False, False, False)


@pytest.mark.django_db
def test_filters_offer_the_last_ones_and_whichever_is_looked_at() -> None:
    """A model may call anything, and anybody may ask: a list of all would have no end."""
    for number in range(17):
        call = WHOLE_CALL.__class__("c", f"tool_{number:02}", "{}", {}, complete=True)
        ended(sent(person(f"p{number:02}")), asking(call))

    def offered(kind: Any, parameter: str, value: str, model: Any) -> list[str]:
        made = kind(None, {parameter: [value]} if value else {}, model, ReadOnly(model, admin.site))
        return [label for _, label in made.lookup_choices]

    last = [f"tool_{number:02}" for number in range(2, 17)]
    assert offered(Called, "name", "", ToolCall) == last
    assert offered(Called, "name", "tool_00", ToolCall) == ["tool_00", *last]
    assert len(offered(AskedBy, "user", "", Generation)) == 15
