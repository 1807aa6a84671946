"""What the database itself says of plans."""

import pytest
from django.db import IntegrityError, transaction

from chat.models import Message, Plan
from tests.rows import ended, person, reading, sent

pytestmark = pytest.mark.django_db


def test_versions_count_from_one() -> None:
    ana = person()
    message = Message.objects.get(generation=ended(sent(ana), reading()))
    with pytest.raises(IntegrityError), transaction.atomic():
        Plan.objects.create(user_id=ana.pk, message=message, version=0, title="x", data={}, schema_version=1)
    kept = Plan.objects.create(
        user_id=ana.pk, message=message, version=1, title="x", data={}, schema_version=1
    )
    assert str(kept) == "plan 1"
    message.delete()
    assert not Plan.objects.exists()
