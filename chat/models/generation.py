"""Generations, their journal and their checkpoints. Choices and constraints are read off the state table."""

import uuid
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from chat.states.generation import GENERATION, State

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

USER = settings.AUTH_USER_MODEL  # the model below has a field of the name `settings`
FINALS = sorted(str(state) for state in GENERATION.finals)
LEASES_AHEAD = 10
UNFINISHED = sorted(str(state) for state in State if state not in GENERATION.finals)


class GenerationQuerySet(models.QuerySet["Generation"]):
    def owned_by(self, user: "AbstractBaseUser | AnonymousUser") -> "GenerationQuerySet":
        """What this person may see: their own, as long as its conversation stands."""
        if user.pk is None:
            return self.none()
        return self.filter(user_id=user.pk, conversation__user_id=user.pk, conversation__deleted=None)

    def unfinished(self) -> "GenerationQuerySet":
        return self.filter(state__in=UNFINISHED)

    def runnable(self) -> "GenerationQuerySet":
        """Those that a runner may take: queued ones, and ones that go on at their provider without a connection. A
        response id stands in an unfinished row only where the provider can be asked to go on by it."""
        open_there = ~Q(provider_response_id="") & Q(state__in=[str(State.received), str(State.buffered)])
        return self.filter(Q(state=str(State.queued)) | open_there)

    def leaseless(self, now: datetime) -> "GenerationQuerySet":
        """Those that nobody runs: the lease was never taken, was given back or has run out; or it ends so far from now that
        the clock must have been set back since, and who holds one renews it by the new clock."""
        far = now + LEASES_AHEAD * timedelta(seconds=settings.GYMNASIA.lease_s)
        return self.filter(Q(lease_until=None) | Q(lease_until__lt=now) | Q(lease_until__gt=far))


class Generation(models.Model):
    """One attempt at one reply: one opened connection to a provider. Its id exists before the connection does.

    `state` is written by `chat/journal.py` alone. The row outlives its conversation, without text, for the audit.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    conversation = models.ForeignKey(
        "Conversation", models.SET_NULL, null=True, blank=True, related_name="generations"
    )
    number = models.PositiveIntegerField(_("number in its conversation"))
    user = models.ForeignKey(USER, models.SET_NULL, null=True, blank=True, related_name="generations")
    # A fingerprint: the key itself would let whoever reads this row sign in as that person.
    session = models.CharField(_("session fingerprint"), max_length=64, blank=True)
    parent = models.ForeignKey("Message", models.SET_NULL, null=True, blank=True, related_name="generations")

    state = models.CharField(
        _("state"), max_length=20, choices=[(str(s), str(s)) for s in State], default=str(GENERATION.initial)
    )
    version = models.PositiveIntegerField(_("moves so far"), default=0)
    reason = models.CharField(_("reason"), max_length=40, blank=True)
    provider_reason = models.CharField(_("provider's own word"), max_length=200, blank=True)
    detail = models.TextField(_("detail"), blank=True)
    retryable = models.BooleanField(_("retryable"), null=True)
    late = models.PositiveIntegerField(_("late triggers"), default=0)
    checks = models.JSONField(_("checks"), default=list, blank=True)

    owner = models.CharField(_("runner"), max_length=80, blank=True)
    fence = models.PositiveIntegerField(_("fence"), default=0)
    lease_until = models.DateTimeField(_("lease until"), null=True, blank=True)

    flow = models.CharField(_("flow"), max_length=40, default="chat")
    # Chosen before the launch, from what the person wrote; a runner that takes over shows by the same gate.
    gate = models.CharField(_("gate"), max_length=40, default="immediate")
    gate_rule = models.CharField(_("why this gate"), max_length=300, blank=True)
    endpoint = models.CharField(_("provider"), max_length=40)
    wire = models.CharField(_("wire"), max_length=40, blank=True)
    model = models.CharField(_("model"), max_length=200)
    prompt_version = models.CharField(_("prompt version"), max_length=40, blank=True)
    settings = models.JSONField(_("settings"), default=dict, blank=True)

    provider_response_id = models.CharField(_("provider's response id"), max_length=200, blank=True)
    last_event = models.CharField(_("last accepted provider event"), max_length=200, blank=True)
    usage_input = models.PositiveBigIntegerField(_("tokens in"), null=True, blank=True)
    usage_output = models.PositiveBigIntegerField(_("tokens out"), null=True, blank=True)
    usage_reasoning = models.PositiveBigIntegerField(_("reasoning tokens"), null=True, blank=True)
    usage_cached_input = models.PositiveBigIntegerField(_("cached tokens in"), null=True, blank=True)

    price_usd = models.DecimalField(
        _("price in US dollars, by the lists"), max_digits=12, decimal_places=6, null=True, blank=True
    )

    attempt = models.PositiveIntegerField(_("attempt"), default=1)
    automatic_retries = models.PositiveIntegerField(_("automatic retries before this one"), default=0)
    retry_of = models.ForeignKey("self", models.SET_NULL, null=True, blank=True, related_name="retries")
    # The reply that came to a limit, and that this one goes on from: its draft was sent along, on a person's word.
    continues = models.ForeignKey("self", models.SET_NULL, null=True, blank=True, related_name="continued_by")
    requests = models.PositiveIntegerField(_("requests sent"), default=0)

    cancelled_by = models.ForeignKey(USER, models.SET_NULL, null=True, blank=True, related_name="+")
    cancel_requested_at = models.DateTimeField(_("stop asked for"), null=True, blank=True)
    provider_cancel = models.CharField(
        _("what the provider answered to the stop"), max_length=200, blank=True
    )

    created = models.DateTimeField(_("created"), auto_now_add=True)
    opened_at = models.DateTimeField(_("opened"), null=True, blank=True)
    first_event_at = models.DateTimeField(_("first event"), null=True, blank=True)
    first_text_at = models.DateTimeField(_("first text"), null=True, blank=True)
    ended_at = models.DateTimeField(_("ended"), null=True, blank=True)
    validated_at = models.DateTimeField(_("validated"), null=True, blank=True)
    confirmed_at = models.DateTimeField(_("confirmed"), null=True, blank=True)

    objects = GenerationQuerySet.as_manager()

    class Meta:
        ordering = ["created"]
        verbose_name = _("generation")
        verbose_name_plural = _("generations")
        indexes = [
            models.Index(fields=["lease_until"], name="generation_lease", condition=Q(state__in=UNFINISHED))
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=sorted(str(s) for s in State)), name="generation_state_known"
            ),
            models.CheckConstraint(
                condition=Q(state__in=UNFINISHED, ended_at=None)
                | Q(state__in=FINALS, ended_at__isnull=False),
                name="generation_ended_iff_final",
            ),
            models.CheckConstraint(
                condition=Q(state=str(State.confirmed), confirmed_at__isnull=False)
                | (~Q(state=str(State.confirmed)) & Q(confirmed_at=None)),
                name="generation_confirmed_has_time",
            ),
            models.UniqueConstraint(fields=["conversation", "number"], name="generation_number_once"),
            models.UniqueConstraint(
                fields=["conversation"],
                condition=Q(state__in=UNFINISHED),
                name="one_unfinished_generation_per_conversation",
            ),
        ]

    def __str__(self) -> str:
        return f"generation {self.number} ({self.state})"

    @property
    def is_final(self) -> bool:
        return self.state in GENERATION.finals


class Subject(models.TextChoices):
    """What has a state and therefore a journal."""

    GENERATION = "generation", _("generation")
    TOOL_CALL = "tool_call", _("tool call")


class JournalRow(models.Model):
    """One move of one subject. Rows are only ever added, and never hold prompt text or keys."""

    subject = models.CharField(_("subject"), max_length=20, choices=Subject.choices)
    subject_id = models.UUIDField(_("subject id"))
    sequence = models.PositiveIntegerField(_("sequence"))
    trigger = models.CharField(_("trigger"), max_length=40)
    from_state = models.CharField(_("from"), max_length=40)
    to_state = models.CharField(_("to"), max_length=40)
    actor = models.CharField(_("who"), max_length=80)
    reason = models.CharField(_("reason"), max_length=40, blank=True)
    detail = models.TextField(_("detail"), blank=True)
    fence = models.PositiveIntegerField(_("fence"), null=True, blank=True)
    at = models.DateTimeField(_("when"), auto_now_add=True)

    class Meta:
        ordering = ["subject", "subject_id", "sequence"]
        verbose_name = _("journal row")
        verbose_name_plural = _("journal")
        constraints = [
            models.UniqueConstraint(
                fields=["subject", "subject_id", "sequence"], name="journal_sequence_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.sequence}: {self.from_state} -{self.trigger}-> {self.to_state}"


class Checkpoint(models.Model):
    """The draft of one generation as it was last saved: kept apart from messages, purged by retention."""

    generation = models.OneToOneField(Generation, models.CASCADE, primary_key=True, related_name="checkpoint")
    seq = models.PositiveIntegerField(_("last paint"))
    answer = models.TextField(_("answer"), blank=True)
    reasoning = models.TextField(_("reasoning"), blank=True)
    refusal = models.TextField(_("refusal"), blank=True)
    at = models.DateTimeField(_("saved"), auto_now=True)

    class Meta:
        verbose_name = _("draft checkpoint")
        verbose_name_plural = _("draft checkpoints")

    def __str__(self) -> str:
        return f"checkpoint of {self.generation_id} at {self.seq}"
