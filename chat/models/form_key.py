"""Which forms were sent already: a form that comes twice is answered with what came of it the first time."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _


class FormKey(models.Model):
    """One form that was sent, by a digest of its key and of what stood in it."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    digest = models.CharField(_("digest"), max_length=64)
    conversation = models.ForeignKey("Conversation", models.SET_NULL, null=True, blank=True, related_name="+")
    generation = models.ForeignKey("Generation", models.SET_NULL, null=True, blank=True, related_name="+")
    created = models.DateTimeField(_("created"), auto_now_add=True, db_index=True)

    class Meta:
        verbose_name = _("form that was sent")
        verbose_name_plural = _("forms that were sent")
        constraints = [models.UniqueConstraint(fields=["user", "digest"], name="form_sent_once")]

    def __str__(self) -> str:
        return f"form {self.digest[:12]}"
