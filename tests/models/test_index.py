"""The walls around the search index stand in the database."""

import pytest
from django.db import IntegrityError, transaction

from chat.models import Departure, IndexRow, Message
from tests.rows import person, sent

pytestmark = pytest.mark.django_db


def test_a_message_has_one_row() -> None:
    """A second one would be a second hit, and could outlive the first."""
    sent(person())
    row = IndexRow.objects.get()
    row.pk = None
    with pytest.raises(IntegrityError), transaction.atomic():
        row.save(force_insert=True)


def test_a_row_goes_with_its_message_and_a_departure_stays() -> None:
    """Whatever else forgets it, the index cannot hold what is gone."""
    sent(person())
    Message.objects.all().delete()
    assert (IndexRow.objects.count(), Departure.objects.count()) == (0, 1)
