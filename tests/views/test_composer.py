"""The composer keeps what was typed and shows the model that will be asked."""

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.http import HttpRequest
from django.test import RequestFactory

from chat import tuning
from chat.models import Conversation, Preset
from chat.views.composer import compose, sent_again
from tests.rows import person, sent


def asked_by(user: User | AnonymousUser, **data: str) -> HttpRequest:
    request = RequestFactory().post("/", data)
    request.user = user
    return request


@pytest.fixture
def owned(ana: User) -> Conversation:
    conversation = sent(ana).conversation
    assert conversation is not None
    return conversation


@pytest.mark.parametrize(
    ("last", "model", "chosen"),
    [
        ("scripted-1", "", "scripted:scripted-1"),
        ("scripted:2", "", "scripted:scripted:2"),
        ("scripted:2", "scripted:scripted-1", "scripted:scripted-1"),
        ("gone", "", "scripted:scripted-1"),
        ("gone", "nowhere:x", "scripted:scripted-1"),
    ],
)
def test_chosen_model(owned: Conversation, last: str, model: str, chosen: str) -> None:
    """What the person just chose, else what the conversation asked last, else the default; never what is not there."""
    owned.model = last
    composer = compose(asked_by(owned.user), owned, model=model)
    assert (composer.action, composer.chosen) == (f"/conversations/{owned.pk}/", chosen)


def test_new_conversation() -> None:
    """It is sent to the first page, which makes it."""
    composer = compose(asked_by(AnonymousUser()), None)
    assert (composer.action, composer.chosen, composer.text) == ("/", "scripted:scripted-1", "")


def test_text_is_kept() -> None:
    """All of it, but for the NUL characters, which no page can show."""
    request = asked_by(AnonymousUser(), text=" a\x00\r\nb ", model="scripted:scripted:2")
    composer = sent_again(request, None, "Too long.")
    assert (composer.text, composer.chosen, composer.error) == (
        " a\r\nb ",
        "scripted:scripted:2",
        "Too long.",
    )


def test_what_was_chosen_is_shown(owned: Conversation) -> None:
    """A preset that is no longer there, and a number that stands for no choice, are the model's own way."""
    ana = owned.user
    mine = Preset.objects.create(user_id=ana.pk, name="Mine", text="Be brief.")
    Preset.objects.create(user_id=person("eva").pk, name="Hers", text="Be long.")
    Preset.objects.create(name="Ours", text="Be kind.")
    tuning.tune(owned, tuning.Tuning(mine, 0.8, 1000))
    composer = compose(asked_by(ana), owned)
    assert [each.name for each in composer.presets] == ["Mine", "Ours"]
    assert [value for value, _label, chosen in composer.temperatures if chosen] == ["0.8"]
    assert [value for value, _label, chosen in composer.lengths if chosen] == ["1000"]
    assert (composer.tuned.preset, composer.is_tuned) == (mine, True)
    fresh = compose(asked_by(ana), None)
    assert [value for value, _label, chosen in (*fresh.temperatures, *fresh.lengths) if chosen] == ["", ""]
    assert fresh.is_tuned is False
