"""A person makes, changes and deletes their own presets, by plain forms; everybody's are only shown."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from chat.forms import PresetForm
from chat.models import Conversation, Preferences, Preset
from tests.rows import person


def test_one_is_made_changed_and_deleted(page: Client, ana: User) -> None:
    made = page.post("/presets/", {"name": "  Marathon   runner ", "text": "I run.\r\nA lot. "})
    assert (made.status_code, made.headers["Location"]) == (303, "/presets/")
    row = Preset.objects.get()
    assert (row.user_id, row.name, row.text) == (ana.pk, "Marathon runner", "I run.\nA lot.")
    html = page.get("/presets/").content.decode()
    assert ("Marathon runner" in html, f"/presets/{row.pk}/" in html, "Saved." in html) == (True, True, True)
    assert "Saved." not in page.get("/presets/").content.decode()
    assert page.post(f"/presets/{row.pk}/", {"name": "Runner", "text": "I run."}).status_code == 303
    row.refresh_from_db()
    assert (row.user_id, row.name, row.text) == (ana.pk, "Runner", "I run.")
    assert page.post(f"/presets/{row.pk}/delete/").status_code == 303
    assert Preset.objects.count() == 0


def test_the_second_of_two_clicks_is_answered_as_the_first(page: Client, ana: User) -> None:
    """Unless it says something else, or is another one's change."""
    said = {"name": " Brief", "text": "Be brief. "}
    assert [page.post("/presets/", said).status_code for _ in range(2)] == [303, 303]
    mine = Preset.objects.get()
    other = Preset.objects.create(user_id=ana.pk, name="Long", text="Be long.")
    assert page.post(f"/presets/{mine.pk}/", said).status_code == 303
    assert page.post(f"/presets/{other.pk}/", said).status_code == 400


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({"name": "Brief", "text": "a"}, "You have a preset of this name already."),
        ({"name": "", "text": "a"}, "This field is required."),
        ({"name": "New", "text": " "}, "This field is required."),
        ({"name": "New", "text": "a" * 32_001}, "This has 32,001 characters; 32,000 is the most."),
        ({"name": "New", "text": "a\x00"}, "Null characters are not allowed."),
    ],
)
def test_what_cannot_be_kept_is_told(page: Client, ana: User, data: dict[str, str], sentence: str) -> None:
    Preset.objects.create(user_id=ana.pk, name="Brief", text="Be brief.")
    response = page.post("/presets/", data)
    assert (response.status_code, sentence in response.content.decode()) == (400, True)
    assert Preset.objects.count() == 1


@pytest.mark.parametrize("way", ["new", "old"])
def test_two_tabs_that_take_one_name_at_the_same_moment(
    page: Client, ana: User, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """Both were told that it is free; the second one reads what the first one did, and its text stays in the form."""
    Preset.objects.create(user_id=ana.pk, name="Brief", text="Be brief.")
    mine = Preset.objects.create(user_id=ana.pk, name="Long", text="Be long.")
    monkeypatch.setattr(PresetForm, "clean_name", lambda form: form.cleaned_data["name"])
    url = "/presets/" if way == "new" else f"/presets/{mine.pk}/"
    response = page.post(url, {"name": "Brief", "text": "Be briefer."})
    html = response.content.decode()
    sentence = "You have a preset of this name already."
    assert (response.status_code, sentence in html, "Be briefer." in html) == (400, True, True)
    assert list(Preset.objects.values_list("name", "text")) == [("Brief", "Be brief."), ("Long", "Be long.")]


def test_of_others_nothing_is_seen_or_touched(page: Client, ana: User) -> None:
    hers = Preset.objects.create(user_id=person("eva").pk, name="Secret", text="a")
    ours = Preset.objects.create(name="Ours", text="b")
    html = page.get("/presets/").content.decode()
    assert ("Secret" in html, "Ours" in html, f"/presets/{ours.pk}/" in html) == (False, True, False)
    for row in (hers, ours):
        assert page.get(f"/presets/{row.pk}/").status_code == 404
        assert page.post(f"/presets/{row.pk}/delete/").status_code == 404


def test_the_composer_asks_in_the_chosen_way(page: Client, ana: User) -> None:
    """A choice that is not there is refused with a sentence, and nothing is kept."""
    mine = Preset.objects.create(user_id=ana.pk, name="Brief", text="Be brief.")
    told = {"text": "How?", "preset": str(mine.pk), "temperature": "", "max_tokens": "300"}
    assert page.post("/", told).status_code == 303
    owned = Conversation.objects.get()
    assert (owned.preset, owned.temperature, owned.max_tokens) == (mine, None, 300)
    row = page.get(f"/conversations/{owned.pk}/").content.decode().partition('class="tune"')[2]
    assert f'<bdi class="preset">{mine.name}</bdi>' in row.partition("</summary>")[0]
    hers = Preset.objects.create(user_id=person("eva").pk, name="Hers", text="a")
    for wrong in ({"preset": str(hers.pk)}, {"max_tokens": "7"}, {"temperature": "hot"}):
        assert page.post("/", {**told, **wrong}).status_code == 400
    assert Conversation.objects.count() == 1


def test_what_is_told_about_a_person(page: Client, ana: User) -> None:
    """Changed without touching what else they have chosen."""
    Preferences.objects.create(user_id=ana.pk, language="es")
    page.cookies["django_language"] = "en"
    assert page.post("/instructions/", {"instructions": " I am sixty.\r\nI run. "}).status_code == 303
    row = Preferences.objects.get()
    assert (row.language, row.instructions) == ("es", "I am sixty.\nI run.")
    assert "I am sixty." in page.get("/instructions/").content.decode()
    assert page.post("/instructions/", {"instructions": "a" * 32_001}).status_code == 400
    assert page.post("/instructions/", {"instructions": ""}).status_code == 303
    assert Preferences.objects.get().instructions == ""
