"""The audit: every generation with its journal, for people with the permission to look. Nothing of it can be changed here.

Takes rows, gives Django's own admin pages. A state moves by `journal.py` alone, so nobody may add, change or delete
anything of a conversation, whatever their permissions; texts stand on detail pages only, never in lists. What an
administrator does decide (by which gate a model is shown) is kept with who, when, and what it was before.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth import get_user_model
from django.core.exceptions import ValidationError
from django.db import IntegrityError
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from chat import catalogue
from chat.models import (
    Checkpoint,
    Conversation,
    GatePolicy,
    Generation,
    JournalRow,
    Message,
    Preset,
    Subject,
)
from chat.providers.endpoints import ENDPOINTS

if TYPE_CHECKING:
    Base = admin.ModelAdmin[Any]
    FormBase = forms.ModelForm[GatePolicy]
    PresetFormBase = forms.ModelForm[Preset]
else:
    Base = admin.ModelAdmin
    FormBase = PresetFormBase = forms.ModelForm

NOTHING = "-"


class ReadOnly(Base):
    """Looking needs the model's view permission; the rest is refused to everybody, superusers included."""

    actions = None
    list_per_page, show_full_result_count = 50, False

    class Media:
        css = {"all": ["chat/css/audit.css"]}

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002 (Django passes it)
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False


def link(row: Model | None) -> SafeString | str:
    """The row's own page here."""
    if row is None:
        return NOTHING
    url = reverse(f"admin:chat_{type(row).__name__.lower()}_change", args=[row.pk])
    return format_html('<a href="{}">{}</a>', url, str(row))


def table(head: Iterable[Any], rows: Iterable[tuple[Any, ...]]) -> SafeString | str:
    """An HTML table of escaped cells; a cell that is empty says so."""
    body = [
        (format_html_join("", "<td>{}</td>", [(NOTHING if cell in {None, ""} else cell,) for cell in row]),)
        for row in rows
    ]
    if not body:
        return NOTHING
    return format_html(
        '<div class="audit" tabindex="0"><table><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>',
        format_html_join("", "<th>{}</th>", [(cell,) for cell in head]),
        format_html_join("", "<tr>{}</tr>", body),
    )


class AskedBy(admin.SimpleListFilter):
    """Whose replies: those who asked last, and whoever is looked at; a list of everybody would have no end."""

    title, parameter_name = _("user"), "user"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:  # noqa: ARG002
        lately = Generation.objects.exclude(user=None).order_by("-created").values_list("user", flat=True)
        people = get_user_model().objects.filter(pk__in=[*dict.fromkeys(lately[:500])][:15] + self.chosen)
        return [(str(person.pk), person.get_username()) for person in people.order_by("username")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Generation]) -> QuerySet[Generation]:  # noqa: ARG002
        return queryset.filter(user__in=self.chosen) if self.value() else queryset

    @property
    def chosen(self) -> list[int]:
        value = self.value() or ""  # of an address: it may be anything
        return [int(value)] if value.isdecimal() and len(value) < 19 else []


@admin.register(Generation)
class GenerationAdmin(ReadOnly):
    """One attempt at one reply: how it stands, why, and each step that led there."""

    list_display = ("created", "state", "reason", "endpoint", "model", "user", "attempt", "seconds")
    list_filter = (
        "state",
        ("reason", admin.AllValuesFieldListFilter),
        ("endpoint", admin.AllValuesFieldListFilter),
        ("model", admin.AllValuesFieldListFilter),
        AskedBy,
        "created",
    )
    search_fields = ("id", "user__username", "user__email", "provider_response_id")
    date_hierarchy = "created"
    ordering = ("-created",)
    list_select_related = ("user",)
    fieldsets = (
        (None, {"fields": ("id", "state", "reason", "provider_reason", "detail", "retryable", "late")}),
        (_("What came of it"), {"fields": ("answer", "checks_made")}),
        (_("Step by step"), {"fields": ("journal", "version")}),
        (_("Draft (never a message)"), {"fields": ("draft",)}),
        (_("For whom"), {"fields": ("user", "session", "conversation", "number", "parent")}),
        (
            _("Asked with"),
            {
                "fields": (
                    "flow",
                    "gate",
                    "gate_rule",
                    "prompt_version",
                    "endpoint",
                    "wire",
                    "model",
                    "settings",
                )
            },
        ),
        (
            _("What the provider said of itself"),
            {
                "fields": (
                    "provider_response_id",
                    "last_event",
                    "usage_input",
                    "usage_output",
                    "usage_reasoning",
                    "usage_cached_input",
                    "price_usd",
                )
            },
        ),
        (
            _("Attempts"),
            {
                "fields": (
                    "attempt",
                    "automatic_retries",
                    "requests",
                    "retry_of",
                    "continues",
                    "tried_again_by",
                )
            },
        ),
        (_("Stop"), {"fields": ("cancelled_by", "cancel_requested_at", "provider_cancel")}),
        (_("Runner"), {"fields": ("owner", "fence", "lease_until")}),
        (
            _("Times"),
            {
                "fields": (
                    "created",
                    "opened_at",
                    "first_event_at",
                    "first_text_at",
                    "ended_at",
                    "validated_at",
                    "confirmed_at",
                )
            },
        ),
    )

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """The draft's text only for those who may see checkpoints."""
        sections: Any = super().get_fieldsets(request, obj)
        if request.user.has_perm("chat.view_checkpoint"):
            return sections
        return [section for section in sections if section[1]["fields"] != ("draft",)]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:  # noqa: ARG002
        return [name for _title, options in self.fieldsets for name in options["fields"]]

    @admin.display(description=_("seconds"))
    def seconds(self, row: Generation) -> str:
        """From the click to the end, or until now."""
        return f"{((row.ended_at or timezone.now()) - row.created).total_seconds():.1f}"

    @admin.display(description=_("message"))
    def answer(self, row: Generation) -> SafeString | str:
        """The answer, if this generation became one: it does when, and only when, it is confirmed."""
        return link(Message.objects.filter(generation=row).first())

    @admin.display(description=_("checks"))
    def checks_made(self, row: Generation) -> SafeString | str:
        return table(
            (_("check"), _("verdict"), _("detail")),
            [
                (check["check"], _("passed") if check["passed"] else _("failed"), check.get("detail", ""))
                for check in row.checks
            ],
        )

    @admin.display(description=_("journal"))
    def journal(self, row: Generation) -> SafeString | str:
        """Every move, oldest first, and how long after the one before."""
        moves = JournalRow.objects.filter(subject=Subject.GENERATION, subject_id=row.pk).order_by("sequence")
        lines, before = [], row.created
        for move in moves:
            after_s = (move.at - before).total_seconds()
            before = move.at
            lines.append(
                (
                    move.sequence,
                    f"{move.at:%Y-%m-%d %H:%M:%S.%f}"[:-3],
                    f"+{after_s:.3f} s",
                    move.from_state,
                    move.trigger,
                    move.to_state,
                    move.actor,
                    move.reason,
                    move.detail,
                    move.fence,
                )
            )
        head = ("#", _("when"), _("after"), _("from"), _("trigger"), _("to"), _("who"), _("reason"))
        return table((*head, _("detail"), _("fence")), lines)

    @admin.display(description=_("draft as last saved"))
    def draft(self, row: Generation) -> SafeString | str:
        """What a page had shown of a reply that is no message; deleted when it becomes one."""
        saved = Checkpoint.objects.filter(pk=row.pk).first()
        if saved is None:
            return NOTHING
        lanes = (
            (_("answer"), saved.answer),
            (_("reasoning"), saved.reasoning),
            (_("refusal"), saved.refusal),
        )
        return table((_("part"), _("text")), [(name, text) for name, text in lanes if text])

    @admin.display(description=_("tried again by"))
    def tried_again_by(self, row: Generation) -> SafeString | str:
        following = row.retries.order_by("number")
        return format_html_join(", ", "{}", [(link(each),) for each in following]) or NOTHING


@admin.register(JournalRow)
class JournalRowAdmin(ReadOnly):
    """All moves of all subjects, newest first; they outlive what they tell of."""

    list_display = (
        "at",
        "subject",
        "subject_id",
        "sequence",
        "from_state",
        "trigger",
        "to_state",
        "actor",
        "reason",
    )
    list_filter = ("subject", "trigger", "to_state", ("reason", admin.AllValuesFieldListFilter), "at")
    search_fields = ("subject_id", "actor")
    date_hierarchy = "at"
    ordering = ("-at", "-sequence")


@admin.register(Conversation)
class ConversationAdmin(ReadOnly):
    """Whose they are and when they were last touched; the title is on the detail page."""

    list_display = ("id", "user", "endpoint", "model", "created", "updated")
    list_filter = (("endpoint", admin.AllValuesFieldListFilter), "updated")
    search_fields = ("id", "user__username", "user__email")
    list_select_related = ("user",)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return [*super().get_readonly_fields(request, obj), "replies"]

    @admin.display(description=_("generations"))
    def replies(self, row: Conversation) -> SafeString | str:
        rows: QuerySet[Generation] = row.generations.order_by("number")
        return table((_("generation"), _("reason"), _("model")), [(link(g), g.reason, g.model) for g in rows])


@admin.register(Message)
class MessageAdmin(ReadOnly):
    """What was said and is whole; the text is on the detail page."""

    list_display = ("id", "kind", "conversation_id", "created")
    list_filter = ("kind", "created")
    search_fields = ("id", "conversation__id", "conversation__user__username")


class Decided(Base):
    """What administrators decide. Two who save the same at the same moment: the database lets one of them in, and the other
    one is told so instead of finding a broken page."""

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        try:
            return super().changeform_view(request, object_id, form_url, extra_context)
        except IntegrityError:
            sentence = _("Somebody else saved the same in this moment. Look at the list first.")
            self.message_user(request, sentence, messages.ERROR)
            return HttpResponseRedirect(request.path)


class PresetForm(PresetFormBase):
    """Its row has no person, so that Django itself does not look whether the name is taken."""

    class Meta:
        model = Preset
        fields = ("name", "text")

    def clean_name(self) -> str:
        name = " ".join(str(self.cleaned_data["name"]).split())
        if Preset.objects.filter(user=None, name=name).exclude(pk=self.instance.pk).exists():
            raise ValidationError(_("There is a preset of this name already."))
        return name


@admin.register(Preset)
class PresetAdmin(Decided):
    """The presets that everybody here may choose: made here and nowhere else. A person's own are theirs."""

    form = PresetForm
    list_display = ("name",)
    search_fields = ("name",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Preset]:
        return super().get_queryset(request).filter(user=None)


class GatePolicyForm(FormBase):
    """The provider is chosen among those that there are: a name that nobody has would switch nothing, silently."""

    endpoint = forms.ChoiceField(label=_("provider"))

    class Meta:
        model = GatePolicy
        fields = ("endpoint", "model", "gate", "chars", "for_health")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        names = [*catalogue.endpoints(), *(endpoint.name for endpoint in ENDPOINTS)]
        if self.instance.endpoint:
            names.append(self.instance.endpoint)
        self.fields["endpoint"].choices = [(name, name) for name in dict.fromkeys(names)]  # type: ignore[attr-defined]


@admin.register(GatePolicy)
class GatePolicyAdmin(Decided):
    """By which gate a model is shown, from the next reply on. Each change is logged with both values."""

    form = GatePolicyForm
    list_display = ("endpoint", "model", "spelled", "for_health", "changed", "changed_by")
    readonly_fields = ("changed", "changed_by")
    actions = None  # deleting one by one writes who did

    def save_model(self, request: HttpRequest, obj: GatePolicy, form: Any, change: Any) -> None:
        obj.changed_by_id = request.user.pk
        super().save_model(request, obj, form, change)

    def construct_change_message(
        self,
        request: HttpRequest,  # noqa: ARG002 (Django passes it)
        form: Any,
        formsets: Any,  # noqa: ARG002
        add: bool = False,  # noqa: FBT001, FBT002
    ) -> Any:
        """What it is now, and what each field was."""
        if add:
            return f"Added {form.instance}"
        was = ", ".join(f"{name} was {form.initial.get(name)!r}" for name in form.changed_data)
        return f"Now {form.instance}; {was or 'nothing changed'}"
