"""What a person sent along with a message: a text file or a picture, kept whole beside it and gone with it."""

import uuid
from typing import TYPE_CHECKING

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

NAME_CHARS = 200


class AttachmentQuerySet(models.QuerySet["Attachment"]):
    def owned_by(self, user: "AbstractBaseUser | AnonymousUser") -> "AttachmentQuerySet":
        """What this person may see: what hangs on a message of their own conversations, as long as these stand."""
        if user.pk is None:
            return self.none()
        return self.filter(message__conversation__user_id=user.pk, message__conversation__deleted=None)


class AttachmentKind(models.TextChoices):
    TEXT = "text", _("text")
    PICTURE = "picture", _("picture")


class Attachment(models.Model):
    """One file of one message, in the database: it comes and goes in the message's own transaction."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    message = models.ForeignKey("Message", models.CASCADE, related_name="attachments")
    position = models.PositiveSmallIntegerField(_("position"))
    kind = models.CharField(_("kind"), max_length=10, choices=AttachmentKind.choices)
    name = models.CharField(_("name"), max_length=NAME_CHARS)
    media_type = models.CharField(_("media type"), max_length=60)
    size = models.PositiveIntegerField(_("bytes"))
    text = models.TextField(_("text"), blank=True)
    data = models.BinaryField(_("picture"), null=True)

    objects = AttachmentQuerySet.as_manager()

    class Meta:
        ordering = ["position"]
        verbose_name = _("attachment")
        verbose_name_plural = _("attachments")
        constraints = [
            models.UniqueConstraint(fields=["message", "position"], name="attachment_position_once"),
            models.CheckConstraint(
                condition=Q(kind="text", data=None) | Q(kind="picture", text="", data__isnull=False),
                name="attachment_is_text_or_picture",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"
