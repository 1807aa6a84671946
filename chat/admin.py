"""The audit: every generation with its journal, for people with the permission to look. Nothing of it can be changed here.

Takes rows, gives Django's own admin pages. A state moves by `journal.py` alone, so nobody may add, change or delete
anything of a conversation, whatever their permissions; texts stand on detail pages only, never in lists. What an
administrator does decide (by which gate a model is shown) is kept with who, when, and what it was before.
"""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db import IntegrityError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils import timezone
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

import chat.credentials  # noqa: F401 (its pages come along)
from chat import catalogue
from chat.audit import NOTHING, AskedBy, Base, Called, ReadOnly, link, table, timeline
from chat.models import (
    Checkpoint,
    Conversation,
    GatePolicy,
    Generation,
    JournalRow,
    Message,
    Preset,
    ToolCall,
)
from chat.providers.endpoints import ENDPOINTS

if TYPE_CHECKING:
    FormBase = forms.ModelForm[GatePolicy]
    PresetFormBase = forms.ModelForm[Preset]
else:
    FormBase = PresetFormBase = forms.ModelForm


@admin.register(Generation)
class GenerationAdmin(ReadOnly):
    """One attempt at one reply: how it stands, why, and each step that led there."""

    list_display = ("created", "state", "reason", "model", "user", "seconds", "attempt", "endpoint")
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
    texts = {("draft",): "checkpoint", ("calls", "calls_journal"): "toolcall"}
    fieldsets = (
        (None, {"fields": ("id", "state", "reason", "provider_reason", "detail", "retryable", "late")}),
        (_("What came of it"), {"fields": ("answer", "checks_made")}),
        (_("Step by step"), {"fields": ("journal", "version")}),
        (_("Draft (never a message)"), {"fields": ("draft",)}),
        (_("Tool calls (none was run)"), {"fields": ("calls", "calls_journal")}),
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

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:  # noqa: ARG002
        """The draft's text only for those who may see checkpoints, what was called only for those who may see calls."""
        hidden = [
            fields for fields, model in self.texts.items() if not request.user.has_perm(f"chat.view_{model}")
        ]
        return [each for each in self.fieldsets if each[1]["fields"] not in hidden]

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
        return timeline(row)

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

    @admin.display(description=_("calls"))
    def calls(self, row: Generation) -> SafeString | str:
        """What its model called, as far as it was whole, and what became of it."""
        head = (_("call"), _("reason"), _("provider's id"), _("characters"), _("arguments"))
        calls = row.tool_calls.order_by("position")
        return table(
            head,
            [(link(each), each.reason, each.call_id, each.arguments_chars, each.arguments) for each in calls],
        )

    @admin.display(description=_("their journal"))
    def calls_journal(self, row: Generation) -> SafeString | str:
        calls = row.tool_calls.order_by("position")
        return format_html_join("", "<p>{}</p>{}", [(each, timeline(each)) for each in calls]) or NOTHING

    @admin.display(description=_("tried again by"))
    def tried_again_by(self, row: Generation) -> SafeString | str:
        following = row.retries.order_by("number")
        return format_html_join(", ", "{}", [(link(each),) for each in following]) or NOTHING


@admin.register(ToolCall)
class ToolCallAdmin(ReadOnly):
    """What models asked for. No tool is offered yet, so each was refused; the arguments are on the row's own page."""

    list_display = ("created", "name", "state", "reason", "provider", "asked_model", "generation")
    list_filter = ("state", Called, "created")
    search_fields = ("id", "generation__id", "call_id", "name")
    date_hierarchy = "created"
    ordering = ("-created", "-position")
    list_select_related = ("generation",)
    fieldsets = (
        (None, {"fields": ("id", "state", "reason", "late")}),
        (
            _("What was asked for"),
            {"fields": ("name", "arguments", "arguments_chars", "call_id", "generation", "position")},
        ),
        (_("Step by step"), {"fields": ("journal", "version")}),
        (_("Times"), {"fields": ("created", "ended_at")}),
    )

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:  # noqa: ARG002
        return [name for _title, options in self.fieldsets for name in options["fields"]]

    @admin.display(description=_("provider"), ordering="generation__endpoint")
    def provider(self, row: ToolCall) -> str:
        return row.generation.endpoint

    @admin.display(description=_("model"), ordering="generation__model")
    def asked_model(self, row: ToolCall) -> str:
        return row.generation.model

    @admin.display(description=_("journal"))
    def journal(self, row: ToolCall) -> SafeString | str:
        return timeline(row)


@admin.register(JournalRow)
class JournalRowAdmin(ReadOnly):
    """All moves of all subjects, newest first; they outlive what they tell of."""

    list_display = (
        "at",
        "subject",
        "from_state",
        "trigger",
        "to_state",
        "reason",
        "actor",
        "sequence",
        "subject_id",
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

    list_display = ("created", "kind", "conversation_id", "id")
    list_filter = ("kind", "created")
    ordering = ("-created",)
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
