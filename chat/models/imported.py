"""A file of conversations that a person brought: what came of it, told while it is read and after."""

import uuid
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser


class ImportQuerySet(models.QuerySet["Import"]):
    def owned_by(self, user: "AbstractBaseUser | AnonymousUser") -> "ImportQuerySet":
        """A person's own."""
        return self.none() if user.pk is None else self.filter(user_id=user.pk)


class Import(models.Model):
    """One file, from its arrival to its report. The file itself is gone once it was read."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="imports")
    name = models.CharField(_("file"), max_length=200)
    size = models.PositiveBigIntegerField(_("bytes"))
    begun = models.DateTimeField(_("begun"), default=timezone.now)
    # Renewed while it is read: an old one without an end was interrupted.
    beat = models.DateTimeField(_("last sign of life"), default=timezone.now)
    ended = models.DateTimeField(_("ended"), null=True, blank=True)
    came = models.PositiveIntegerField(_("conversations that came"), default=0)
    messages = models.PositiveIntegerField(_("messages that came"), default=0)
    already = models.PositiveIntegerField(_("conversations that were there"), default=0)
    refused = models.PositiveIntegerField(_("conversations that were refused"), default=0)
    # The first of those, as [title, why]; what was left out inside of the others, as {why: how many}.
    refusals = models.JSONField(_("why they were refused"), default=list, blank=True)
    left_out = models.JSONField(_("what was left out"), default=dict, blank=True)
    # Why the file was not read, or not to its end.
    fault = models.CharField(_("fault"), max_length=40, blank=True)

    objects = ImportQuerySet.as_manager()

    class Meta:
        ordering = ["-begun"]
        verbose_name = _("import")
        verbose_name_plural = _("imports")

    def __str__(self) -> str:
        return f"import {self.pk}"
