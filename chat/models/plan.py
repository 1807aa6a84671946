"""Training plans: what a plan's reply became when it was confirmed, as data. It goes with its message."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class Plan(models.Model):
    """One version of a person's plan. Numbers count up over all of their conversations: the latest is the highest."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="plans")
    message = models.OneToOneField("Message", models.CASCADE, related_name="plan")
    generation = models.OneToOneField(
        "Generation", models.SET_NULL, null=True, blank=True, related_name="plan"
    )
    version = models.PositiveIntegerField(_("version"))
    title = models.CharField(_("title"), max_length=80)
    data = models.JSONField(_("plan"))
    schema_version = models.PositiveIntegerField(_("version of its schema"))
    created = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        ordering = ["-version"]
        verbose_name = _("training plan")
        verbose_name_plural = _("training plans")
        constraints = [
            models.UniqueConstraint(fields=["user", "version"], name="plan_version_once"),
            models.CheckConstraint(condition=Q(version__gte=1), name="plan_version_counts_from_one"),
        ]

    def __str__(self) -> str:
        return f"plan {self.version}"
