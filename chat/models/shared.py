"""Links by which somebody without an account may read a branch of a conversation, as it was when the link was made."""

import secrets
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from .conversation import Conversation, Message

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

TOKEN_BYTES = 24


def new_token() -> str:
    """192 bits: nobody guesses one."""
    return secrets.token_urlsafe(TOKEN_BYTES)


class SharedLinkQuerySet(models.QuerySet["SharedLink"]):
    def owned_by(self, user: "AbstractBaseUser | AnonymousUser") -> "SharedLinkQuerySet":
        """A person's own, revoked ones too."""
        return self.none() if user.pk is None else self.filter(user_id=user.pk)

    def open(self) -> "SharedLinkQuerySet":
        """Those that lead somewhere: not revoked, their conversation not deleted, their person may still come in."""
        return self.filter(revoked=None, conversation__deleted=None, user__is_active=True)


class SharedLink(models.Model):
    """`head` is the last message that is shown. Messages never change, so the branch up to it is a snapshot without a copy:
    what is deleted is gone from here too."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="shared_links")
    conversation = models.ForeignKey(Conversation, models.CASCADE, related_name="shared_links")
    head = models.ForeignKey(Message, models.CASCADE, related_name="+")
    token = models.CharField(_("token"), max_length=60, unique=True, default=new_token)
    title = models.CharField(_("title"), max_length=120)
    created = models.DateTimeField(_("created"), default=timezone.now)
    revoked = models.DateTimeField(_("revoked"), null=True, blank=True)

    objects = SharedLinkQuerySet.as_manager()

    class Meta:
        ordering = ["-created"]
        verbose_name = _("shared link")
        verbose_name_plural = _("shared links")

    def __str__(self) -> str:
        return f"shared link {self.pk}"
