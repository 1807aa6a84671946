"""What a person may do with their account as a whole: end it.

Takes a person, gives nothing back: afterwards there is nobody. The rows of their generations survive, without text and
without them, for the audit.
"""

from allauth.usersessions.models import UserSession
from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction

from chat import conversations
from chat.models import Conversation


def delete(person: AbstractBaseUser) -> None:
    """Everything of theirs, in one transaction: replies that are being written are stopped in their name, open pages are
    sent away, sessions end everywhere."""
    with transaction.atomic():
        for conversation in Conversation.objects.owned_by(person):
            conversations.delete(conversation, by=person)
        for session in UserSession.objects.filter(user_id=person.pk):
            session.end()
        person.delete()
