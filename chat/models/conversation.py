"""Conversations and their messages. A message is whole by definition: nothing half ever becomes a row here."""

import uuid
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser


class ConversationQuerySet(models.QuerySet["Conversation"]):
    def owned_by(self, user: "AbstractBaseUser | AnonymousUser") -> "ConversationQuerySet":
        """What this person may see. Nobody, staff included, reads another person's conversation through the page; and one
        that was deleted is gone for its owner too, though it can still be brought back for a while."""
        return self.none() if user.pk is None else self.standing().filter(user_id=user.pk)

    def standing(self) -> "ConversationQuerySet":
        """Those that were not deleted."""
        return self.filter(deleted=None)


class Conversation(models.Model):
    """A tree of messages; `head` is the last message of the branch that is shown."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="conversations")
    title = models.CharField(_("title"), max_length=120)
    endpoint = models.CharField(_("provider"), max_length=40)
    model = models.CharField(_("model"), max_length=200)
    head = models.ForeignKey("Message", models.SET_NULL, null=True, blank=True, related_name="+")
    # Counts how often `head` moved; a message keeps the count of its own last turn as head (`headed`).
    moves = models.PositiveIntegerField(_("moves of the head"), default=0)
    # How its models are asked; empty where they may do as they like.
    preset = models.ForeignKey("Preset", models.SET_NULL, null=True, blank=True, related_name="+")
    temperature = models.FloatField(_("temperature"), null=True, blank=True)
    max_tokens = models.PositiveIntegerField(_("longest reply, in tokens"), null=True, blank=True)
    named = models.BooleanField(_("named by its person"), default=False)
    pinned = models.DateTimeField(_("pinned"), null=True, blank=True)
    archived = models.DateTimeField(_("archived"), null=True, blank=True)
    # Set, it is out of sight and out of the search; `chat/retention.py` takes it away for good a little later.
    deleted = models.DateTimeField(_("deleted"), null=True, blank=True)
    # Where it was imported from, and what it was called there: nothing comes twice.
    source = models.CharField(_("imported from"), max_length=120, blank=True)
    created = models.DateTimeField(_("created"), auto_now_add=True)
    updated = models.DateTimeField(_("updated"), auto_now=True)

    objects = ConversationQuerySet.as_manager()

    class Meta:
        ordering = ["-updated"]
        indexes = [
            models.Index(fields=["user", "-updated"], name="conversation_recent"),
            models.Index(fields=["deleted"], name="conversation_deleted", condition=Q(deleted__isnull=False)),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["user", "source"], condition=~Q(source=""), name="conversation_imported_once"
            )
        ]
        verbose_name = _("conversation")
        verbose_name_plural = _("conversations")

    def __str__(self) -> str:
        return self.title


class MessageKind(models.TextChoices):
    USER = "user", _("person")
    ANSWER = "answer", _("answer")
    # What a person made of an answer or a draft: their own words, never the model's.
    EDITED = "edited", _("edited by the person")


class Origin(models.TextChoices):
    """Where a message came into being."""

    HERE = "here", _("here")
    IMPORTED = "imported", _("imported")


class Message(models.Model):
    """What was said and is whole: by a person, or by a model whose generation was confirmed. An answer that was imported
    has no generation, and never claims that it was checked here; nor does what a person edited."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    conversation = models.ForeignKey(Conversation, models.CASCADE, related_name="messages")
    parent = models.ForeignKey("self", models.CASCADE, null=True, blank=True, related_name="children")
    kind = models.CharField(_("kind"), max_length=10, choices=MessageKind.choices)
    text = models.TextField(_("text"))
    reasoning = models.TextField(_("reasoning"), blank=True)
    # What the provider wants back unchanged with the next turn (signatures of reasoning): never shown, copied, indexed.
    # JSON as text: a provider compares it with what it sent, and a database's own JSON type may reorder it.
    carry = models.TextField(_("sent back to the provider"), blank=True)
    generation = models.OneToOneField(
        "Generation", models.SET_NULL, null=True, blank=True, related_name="message"
    )
    # The generation whose answer or draft a person edited into this.
    based_on = models.ForeignKey("Generation", models.SET_NULL, null=True, blank=True, related_name="edits")
    # When it was last the head, by the conversation's count: who comes back to a branch finds it where it was left.
    headed = models.PositiveIntegerField(_("last time as head"), default=0)
    origin = models.CharField(_("origin"), max_length=10, choices=Origin.choices, default=Origin.HERE)
    # What the file that it was imported from says of the model; "" for everything that was written here.
    origin_model = models.CharField(_("model, as imported"), max_length=200, blank=True)
    version = models.PositiveIntegerField(_("version"), default=1)
    created = models.DateTimeField(_("created"), default=timezone.now)

    class Meta:
        ordering = ["created"]
        verbose_name = _("message")
        verbose_name_plural = _("messages")
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=MessageKind.values), name="message_kind_known"),
            models.CheckConstraint(condition=~Q(text=""), name="message_not_empty"),
            models.CheckConstraint(condition=Q(origin__in=Origin.values), name="message_origin_known"),
            models.CheckConstraint(
                condition=Q(origin=Origin.HERE) | Q(generation=None),
                name="message_imported_without_generation",
            ),
            models.CheckConstraint(
                condition=~Q(kind=MessageKind.EDITED) | Q(generation=None),
                name="message_edited_without_generation",
            ),
        ]

    def __str__(self) -> str:
        return f"message {self.pk} ({self.get_kind_display()})"
