"""A person's plans: their own, the latest first, each with the way to its conversation."""

import pytest
from django.test import Client
from msgspec.structs import replace

from chat import catalogue
from chat.models import Generation
from chat.providers.base import Model
from tests.plans import plan_json
from tests.rows import ended, person, reading, sent
from tests.visitors import SCRIPTED

pytestmark = pytest.mark.django_db


def client_of(user: object) -> Client:
    client = Client()
    client.force_login(user)  # type: ignore[arg-type]
    return client


def test_every_version_is_listed_with_its_table_and_its_conversation() -> None:
    ana = person()
    one = ended(sent(ana, "a", plan=True), reading(plan_json(title="First <b>")))
    ended(sent(ana, "b", plan=True), reading(plan_json(title="Second")))
    html = client_of(ana).get("/plans/").content.decode()
    assert html.index("Second") < html.index("First &lt;b&gt;")
    assert (html.count("Push-up"), html.count("3 × 10"), html.count("42.5 kg")) == (2, 6, 4)
    assert f"/conversations/{one.conversation_id}/" in html


def test_another_persons_plans_are_not_there() -> None:
    ended(sent(person(), "a", plan=True), reading(plan_json()))
    html = client_of(person("bob")).get("/plans/").content.decode()
    assert ("Strong in four weeks" in html, "There is none yet" in html) == (False, True)
    assert Client().get("/plans/").status_code == 302


def test_the_button_asks_for_a_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a plain form."""
    monkeypatch.setenv("OPENAI_COMPATIBLE_URL", "http://127.0.0.1:9/v1")
    client = client_of(person())
    assert 'name="flow" value="plan"' in client.get("/").content.decode()
    assert client.post("/", {"text": "I like rowing", "flow": "plan"}).status_code in {302, 303}
    assert Generation.objects.get().flow == "plan"


def test_a_model_too_small_for_plans_says_so_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside a larger one, which keeps the button; by the button and in words. What it is asked else goes its way."""
    small = Model("small", "Small", plans=False)
    both = replace(SCRIPTED, models=(small, Model("large", "Large")))
    monkeypatch.setattr(catalogue, "endpoints", lambda: {"scripted": both})
    client = client_of(person())
    told = {"model": "scripted:small", "text": "I like rowing"}
    for asked in (told | {"flow": "plan"}, told | {"text": "Make me a training plan for rowing"}):
        response = client.post("/", asked)
        html = response.content.decode()
        assert (response.status_code, "This model is too small to make a training plan." in html) == (
            400,
            True,
        )
        assert ('value="scripted:small" data-no-plans' in html, 'value="plan"' in html) == (True, True)
    assert not Generation.objects.exists()
    assert client.post("/", told).status_code == 303
    assert Generation.objects.get().flow == "coach"
    monkeypatch.setattr(catalogue, "endpoints", lambda: {"scripted": replace(both, models=(small,))})
    assert 'value="plan"' not in client.get("/").content.decode()


def test_no_button_where_no_plans_are_made(settings: object) -> None:
    settings.SYSTEM_PROMPT = "You are a pirate."  # type: ignore[attr-defined]
    assert 'value="plan"' not in client_of(person()).get("/").content.decode()


def test_settings_lead_to_plans_where_there_can_be_any(settings: object) -> None:
    """The coach makes them; under another prompt there are those that it made before."""
    ana, bob = person(), person("bob")
    ended(sent(ana, "a", plan=True), reading(plan_json()))
    settings.SYSTEM_PROMPT = "You are a pirate."  # type: ignore[attr-defined]
    assert ["/plans/" in client_of(who).get("/settings/").content.decode() for who in (ana, bob)] == [
        True,
        False,
    ]
    settings.SYSTEM_PROMPT = ""  # type: ignore[attr-defined]
    assert "/plans/" in client_of(bob).get("/settings/").content.decode()


def test_a_confirmed_plan_is_shown_as_a_table_and_never_as_json() -> None:
    ana = person()
    row = ended(sent(ana, "a", plan=True), reading(plan_json()))
    html = client_of(ana).get(f"/conversations/{row.conversation_id}/").content.decode()
    assert ("<caption" in html, "Version 1" in html, "weight_kg" in html) == (True, True, False)
