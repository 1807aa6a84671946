"""A file is seen by the owner of its conversation alone, and is either text or a picture."""

from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import IntegrityError, transaction

from chat.models import Attachment, Message
from tests.rows import person, sent
from tests.test_attachments import CAT, NOTES

pytestmark = pytest.mark.django_db


def test_nobody_else_sees_it() -> None:
    ana, root = person(), person("root", is_superuser=True, is_staff=True)
    sent(ana, files=[CAT])
    owned = Attachment.objects.owned_by
    found = [len(owned(who)) for who in (ana, root, AnonymousUser())]
    assert found == [1, 0, 0]


@pytest.mark.parametrize(
    "changes",
    [
        {"kind": "picture", "data": None},
        {"kind": "picture", "text": "a", "data": b"a"},
        {"kind": "text", "data": b"a"},
        {"kind": "song"},
        {"position": 0},
    ],
)
def test_the_wall_stands_in_the_database(changes: dict[str, Any]) -> None:
    """Two at one place, something that is both or neither: whatever code does."""
    sent(person(), files=[NOTES])
    values = {"position": 1, "kind": "text", "name": "a", "media_type": "text/plain", "size": 1, **changes}
    with pytest.raises(IntegrityError), transaction.atomic():
        Attachment.objects.create(message=Message.objects.get(), **values)
