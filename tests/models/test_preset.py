"""A preset is its person's or everybody's, and has its name once."""

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import IntegrityError, transaction

from chat.models import Preset
from tests.rows import person

pytestmark = pytest.mark.django_db


def test_whose_they_are() -> None:
    ana, eva = person(), person("eva")
    mine = Preset.objects.create(user_id=ana.pk, name="Mine", text="a")
    ours = Preset.objects.create(name="Ours", text="b")
    hers = Preset.objects.create(user_id=eva.pk, name="Mine", text="c")
    found = [
        (list(Preset.objects.owned_by(who)), list(Preset.objects.offered_to(who)))
        for who in (ana, eva, AnonymousUser())
    ]
    assert found == [([mine], [mine, ours]), ([hers], [hers, ours]), ([], [])]


@pytest.mark.parametrize("everybody", [True, False])
def test_a_name_stands_once(*, everybody: bool) -> None:
    owner = None if everybody else person().pk
    Preset.objects.create(user_id=owner, name="Brief", text="a")
    with pytest.raises(IntegrityError), transaction.atomic():
        Preset.objects.create(user_id=owner, name="Brief", text="b")
