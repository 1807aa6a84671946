"""Tool calls: what a model asked for, and how that stands. Choices and constraints are read off the state table."""

import uuid

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from chat.models.generation import Generation
from chat.states.toolcall import TOOL_CALL, State

CALL_FINALS = sorted(str(state) for state in TOOL_CALL.finals)
CALL_OPEN = sorted(str(state) for state in State if state not in TOOL_CALL.finals)


class ToolCall(models.Model):
    """One whole call of one reply, in the provider's words.

    `state` is written by `chat/journal.py` alone. `arguments` is text of somebody's conversation and goes with it; the row,
    and how long the arguments were, stay for the audit.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    generation = models.ForeignKey(Generation, models.CASCADE, related_name="tool_calls")
    position = models.PositiveIntegerField(_("place among the calls of its reply"))
    call_id = models.CharField(_("provider's id of the call"), max_length=200, blank=True)
    name = models.CharField(_("tool"), max_length=200)
    arguments = models.TextField(_("arguments, as they came"), blank=True)
    arguments_chars = models.PositiveIntegerField(_("length of the arguments, in characters"))

    state = models.CharField(
        _("state"), max_length=30, choices=[(str(s), str(s)) for s in State], default=str(TOOL_CALL.initial)
    )
    version = models.PositiveIntegerField(_("moves so far"), default=0)
    reason = models.CharField(_("reason"), max_length=40, blank=True)
    late = models.PositiveIntegerField(_("late triggers"), default=0)
    created = models.DateTimeField(_("created"), auto_now_add=True)
    ended_at = models.DateTimeField(_("ended"), null=True, blank=True)

    class Meta:
        ordering = ["created", "position"]
        verbose_name = _("tool call")
        verbose_name_plural = _("tool calls")
        constraints = [
            models.UniqueConstraint(fields=["generation", "position"], name="tool_call_position_once"),
            models.CheckConstraint(
                condition=Q(state__in=sorted(str(s) for s in State)), name="tool_call_state_known"
            ),
            models.CheckConstraint(
                condition=Q(state__in=CALL_OPEN, ended_at=None)
                | Q(state__in=CALL_FINALS, ended_at__isnull=False),
                name="tool_call_ended_iff_final",
            ),
        ]

    def __str__(self) -> str:
        return f"call {self.position + 1} of {self.name} ({self.state})"
