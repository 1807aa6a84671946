"""What a person adds to how models are asked: it is heard, it is written down, and the flow's own words come first."""

import pytest
from django.contrib.auth.base_user import AbstractBaseUser

from chat import catalogue, generations, tuning
from chat.models import Conversation, Generation, Preferences, Preset
from chat.tuning import Tuning
from tests.rows import claimed, cut, ended, person, reading, sent

pytestmark = pytest.mark.django_db


@pytest.fixture
def ana() -> AbstractBaseUser:
    return person()


@pytest.fixture
def brief(ana: AbstractBaseUser) -> Preset:
    return Preset.objects.create(user_id=ana.pk, name="Brief", text=" Be brief. ")


def test_a_preset_is_told_after_the_flows_own_words(ana: AbstractBaseUser, brief: Preset) -> None:
    """And the generation says by its version that it was asked so."""
    plain = sent(ana)
    tuned = sent(ana, tuned=Tuning(brief, None, 300))
    job = claimed(tuned)
    own, _, added = job.prompt.system.rpartition("\n\n")
    assert own == claimed(plain).prompt.system
    assert added.endswith(":\nBe brief.")
    assert tuned.prompt_version == job.flow.prompt_version != plain.prompt_version
    assert job.prompt.settings == {"max_tokens": 300}


def test_it_stays_until_something_else_is_chosen(ana: AbstractBaseUser, brief: Preset) -> None:
    first = ended(sent(ana, tuned=Tuning(brief, None, 300)), reading())
    owned = Conversation.objects.get()
    second = ended(sent(ana, "And?", conversation=owned), reading())
    assert (second.prompt_version, second.settings) == (first.prompt_version, {"max_tokens": 300})
    third = sent(ana, "And?", conversation=owned, tuned=Tuning())
    assert (third.prompt_version == first.prompt_version, third.settings) == (False, {})
    assert tuning.of(Conversation.objects.get()) == Tuning(None, None, None)


def test_a_retry_is_asked_in_the_same_way(ana: AbstractBaseUser, brief: Preset) -> None:
    first = ended(sent(ana, tuned=Tuning(brief, None, 300)), cut())
    second = generations.retry(first, user=ana)
    assert (second.prompt_version, second.settings) == (first.prompt_version, {"max_tokens": 300})


def test_words_that_change_while_it_waits_are_the_ones_that_are_told(
    ana: AbstractBaseUser, brief: Preset
) -> None:
    """What the row says of its prompt is true of the request that was sent."""
    row = sent(ana, tuned=Tuning(brief))
    Preset.objects.filter(pk=brief.pk).update(text="Be long.")
    job = claimed(row)
    assert job.prompt.system.endswith("Be long.")
    assert Generation.objects.get().prompt_version == job.flow.prompt_version != row.prompt_version


def test_a_conversation_outlives_its_preset(ana: AbstractBaseUser, brief: Preset) -> None:
    row = sent(ana, tuned=Tuning(brief))
    brief.delete()
    assert "Be brief" not in claimed(row).prompt.system


def test_a_temperature_goes_only_to_models_that_take_one(
    ana: AbstractBaseUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogue, "tunable", lambda _endpoint, model: model == "takes")
    monkeypatch.setattr(catalogue, "defaults", lambda _endpoint: {"store": True})
    owned = Conversation(user_id=ana.pk, temperature=0.4)
    assert tuning.settings_of(owned, "e", "takes") == {"store": True, "temperature": 0.4}
    assert tuning.settings_of(owned, "e", "other") == {"store": True}


def test_a_persons_own_words_go_into_every_conversation_of_theirs(
    ana: AbstractBaseUser, brief: Preset
) -> None:
    """Before what one conversation is about, and never into somebody else's."""
    Preferences.objects.create(user_id=ana.pk, instructions="I am sixty.")
    told = claimed(sent(ana, tuned=Tuning(brief))).prompt.system
    assert told.index("fitness coach") < told.index("I am sixty.") < told.index("Be brief.")
    assert "sixty" not in claimed(sent(person("eva"))).prompt.system
