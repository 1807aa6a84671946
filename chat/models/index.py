"""The index that search reads: one row per message that can be found, and a row for each that left.

Rows hold the message's text folded (`chat/folding.py`), and which generation and version it was. On SQLite a full-text
table follows this one by triggers, on PostgreSQL an index of trigrams does; both are made by the migration.
"""

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from .conversation import Conversation, Message


class IndexRow(models.Model):
    """A message that can be found."""

    message = models.OneToOneField(Message, models.CASCADE, related_name="index_row")
    conversation = models.ForeignKey(Conversation, models.CASCADE, related_name="+")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    generation_id = models.UUIDField(_("generation"), null=True)
    version = models.PositiveIntegerField(_("version"))
    folded = models.TextField(_("folded text"))
    said = models.DateTimeField(_("said"))

    class Meta:
        ordering = ["-said", "-pk"]
        indexes = [models.Index(fields=["user", "-said"], name="index_of_a_person")]
        verbose_name = _("row of the search index")
        verbose_name_plural = _("rows of the search index")

    def __str__(self) -> str:
        return f"index row of message {self.message_id}, version {self.version}"


class Why(models.TextChoices):
    """Why a row left the index."""

    DELETED = "deleted", _("deleted")
    REPLACED = "replaced", _("replaced by another version")
    REINDEXED = "reindexed", _("found where it should not be")


class Departure(models.Model):
    """What left the index, when and why. Without text; it outlives what it tells of."""

    message_id = models.UUIDField(_("message"))
    conversation_id = models.UUIDField(_("conversation"))
    generation_id = models.UUIDField(_("generation"), null=True)
    version = models.PositiveIntegerField(_("version"))
    why = models.CharField(_("why"), max_length=20, choices=Why.choices)
    at = models.DateTimeField(_("when"), default=timezone.now)

    class Meta:
        ordering = ["at", "pk"]
        indexes = [models.Index(fields=["message_id"], name="departures_of_a_message")]
        verbose_name = _("departure from the search index")
        verbose_name_plural = _("departures from the search index")

    def __str__(self) -> str:
        return f"message {self.message_id}, version {self.version}: {self.why}"
