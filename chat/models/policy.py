"""What an administrator has switched. The admin's own log keeps who did, when, and from what to what."""

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from chat.flows import Switch
from chat.streaming.gates import DEFAULT_CHARS, GATES, MOST_CHARS, SIZED, spell


class GatePolicyQuerySet(models.QuerySet["GatePolicy"]):
    def switch_for(self, endpoint: str, model: str) -> Switch | None:
        """The row that holds for this model: its own, or else its provider's."""
        rows = list(self.filter(endpoint=endpoint, model__in=["", model]).order_by("-model")[:1])
        return rows[0].switch if rows else None


class GatePolicy(models.Model):
    """By which gate the replies of a model are shown, from the next one on, whatever the flow says."""

    endpoint = models.CharField(_("provider"), max_length=40)
    model = models.CharField(
        _("model"), max_length=200, blank=True, help_text=_("Empty: every model of this provider.")
    )
    gate = models.CharField(_("gate"), max_length=20, choices=[(name, name) for name in GATES])
    chars = models.PositiveIntegerField(
        _("characters"),
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(MOST_CHARS)],
        help_text=_("For window and hold_first: how many are checked at a time, or held back at first."),
    )
    for_health = models.BooleanField(
        _("for health questions too"),
        default=False,
        help_text=_(
            "Otherwise those stay with the coach's own gate, which shows nothing before it is checked."
        ),
    )
    changed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, editable=False, related_name="+"
    )
    changed = models.DateTimeField(_("changed"), auto_now=True)

    objects = GatePolicyQuerySet.as_manager()

    class Meta:
        ordering = ["endpoint", "model"]
        verbose_name = _("gate of a model")
        verbose_name_plural = _("gates of models")
        constraints = [
            models.UniqueConstraint(fields=["endpoint", "model"], name="gate_policy_once"),
            models.CheckConstraint(condition=Q(gate__in=sorted(GATES)), name="gate_policy_gate_known"),
            models.CheckConstraint(
                condition=(
                    Q(gate__in=sorted(SIZED), chars__isnull=False, chars__gte=1, chars__lte=MOST_CHARS)
                )
                | (Q(chars=None) & ~Q(gate__in=sorted(SIZED))),
                name="gate_policy_size_where_it_counts",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.where}: {self.spelled}"

    def clean(self) -> None:
        """A gate with a size gets the usual one where none was said; one without a size refuses it."""
        if self.gate in SIZED:
            self.chars = DEFAULT_CHARS if self.chars is None else self.chars
        elif self.chars is not None:
            raise ValidationError(
                {"chars": _("Only window and hold_first count characters. Leave this empty for this gate.")}
            )

    @property
    def where(self) -> str:
        return f"{self.endpoint}:{self.model}" if self.model else self.endpoint

    @property
    def spelled(self) -> str:
        return spell(self.gate, self.chars)

    @property
    def switch(self) -> Switch:
        return Switch(self.spelled, self.for_health, self.where)
