"""What a person has chosen for themselves, wherever they sign in."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _


class Preferences(models.Model):
    """One row per person who has chosen anything; who has none takes what their browser says."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, primary_key=True, related_name="preferences"
    )
    language = models.CharField(_("language"), max_length=10, blank=True)
    instructions = models.TextField(_("what every model is told about this person"), blank=True)

    class Meta:
        verbose_name = _("preferences")
        verbose_name_plural = _("preferences")

    def __str__(self) -> str:
        return f"preferences of person {self.user_id}"
