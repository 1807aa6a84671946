"""One row per person, that goes with them."""

from chat.models import Preferences
from tests.visitors import user


def test_preferences_go_with_their_person(db: None) -> None:
    ana = user("ana")
    Preferences.objects.create(user=ana, language="es")
    assert str(Preferences.objects.get()) == f"preferences of person {ana.pk}"
    ana.delete()
    assert Preferences.objects.count() == 0
