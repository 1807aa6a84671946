"""A link belongs to its person, and leads somewhere only while all of it stands."""

import pytest
from django.contrib.auth import get_user_model
from django.utils import timezone

from chat import sharing
from chat.models import Conversation, Message, SharedLink
from tests.rows import conversation_of, ended, person, reading, sent

pytestmark = pytest.mark.django_db


def test_a_link_is_open_while_everything_stands() -> None:
    """Revoked, its conversation deleted, its person turned away: it leads nowhere. Its token is nobody's guess."""
    ana = person()
    conversation = conversation_of(ended(sent(ana), reading()))
    link = sharing.share(conversation, by=ana)
    assert len(link.token) == 32
    assert list(SharedLink.objects.open()) == [link]
    assert list(SharedLink.objects.owned_by(person("eva"))) == []
    Conversation.objects.update(deleted=timezone.now())
    assert not SharedLink.objects.open().exists()
    Conversation.objects.update(deleted=None)
    get_user_model().objects.filter(pk=ana.pk).update(is_active=False)
    assert not SharedLink.objects.open().exists()
    get_user_model().objects.filter(pk=ana.pk).update(is_active=True)
    Message.objects.filter(kind="answer").delete()
    assert not SharedLink.objects.exists()
