"""An import is its person's own."""

import pytest
from django.contrib.auth.models import AnonymousUser

from chat.models import Import
from tests.rows import person


@pytest.mark.django_db
def test_an_import_belongs_to_its_person_alone() -> None:
    """What somebody brought along, and how their conversations are called, is nobody else's."""
    ana, eva = person(), person("eva", is_staff=True, is_superuser=True)
    row = Import.objects.create(user_id=ana.pk, name="x.json", size=2)
    owned = Import.objects.owned_by
    assert (list(owned(ana)), list(owned(eva)), list(owned(AnonymousUser()))) == ([row], [], [])
