"""Words that a model is told beside the flow's own, under a name: a person's, or for everybody on this server."""

from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser


class PresetQuerySet(models.QuerySet["Preset"]):
    def owned_by(self, user: "AbstractBaseUser | AnonymousUser") -> "PresetQuerySet":
        """Those that this person made, and may change."""
        return self.none() if user.pk is None else self.filter(user_id=user.pk)

    def offered_to(self, user: "AbstractBaseUser | AnonymousUser") -> "PresetQuerySet":
        """Those that this person may choose: their own, and everybody's."""
        return self.none() if user.pk is None else self.filter(Q(user_id=user.pk) | Q(user=None))


class Preset(models.Model):
    """Without a person it is everybody's, and kept by the administrators."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, null=True, blank=True, related_name="presets"
    )
    name = models.CharField(_("name"), max_length=60)
    text = models.TextField(_("what the model is told"))

    objects = PresetQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        verbose_name = _("preset")
        verbose_name_plural = _("presets")
        constraints = [
            models.UniqueConstraint(fields=["user", "name"], name="preset_name_once"),
            models.UniqueConstraint(
                fields=["name"], condition=Q(user=None), name="preset_for_everybody_name_once"
            ),
        ]

    def __str__(self) -> str:
        return self.name
