"""A form counts once for its person, and says nothing of what stood in it."""

import pytest
from django.db import IntegrityError, transaction

from chat.models import FormKey
from tests.rows import person

pytestmark = pytest.mark.django_db


def test_a_form_counts_once_for_each_person() -> None:
    ana, ben = person(), person("ben")
    row = FormKey.objects.create(user_id=ana.pk, digest="a" * 64)
    FormKey.objects.create(user_id=ben.pk, digest="a" * 64)
    with pytest.raises(IntegrityError), transaction.atomic():
        FormKey.objects.create(user_id=ana.pk, digest="a" * 64)
    assert str(row) == "form aaaaaaaaaaaa"
