"""The composer's form: a message and a model, checked before any verb is called.

Takes POST data, the limit on characters and the choices of the moment; gives cleaned values or sentences. Text that was
refused stays in the form.
"""

from typing import TYPE_CHECKING, Any, cast

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.template.defaultfilters import filesizeformat
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from chat import attachments, catalogue, flows
from chat.models import AttachmentKind, Preferences, Preset
from chat.planning import wants_plan
from chat.tuning import Tuning

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.core.files.uploadedfile import UploadedFile
    from django.db.models import QuerySet
    from django.http import QueryDict

# What a person may choose instead of numbers; the first leaves it to the model.
TEMPERATURES = (
    ("", gettext_lazy("as the model likes")),
    ("0", gettext_lazy("exact")),
    ("0.4", gettext_lazy("steady")),
    ("0.8", gettext_lazy("free")),
    ("1.2", gettext_lazy("bold")),
)
LENGTHS = (
    ("", gettext_lazy("as long as it takes")),
    ("300", gettext_lazy("short, up to 300 tokens")),
    ("1000", gettext_lazy("medium, up to 1,000 tokens")),
    ("4000", gettext_lazy("long, up to 4,000 tokens")),
)
PLAN_OF_NOTHING = gettext_lazy(
    "Write first what the plan is for: your goal, how many days a week, what you have at hand."
)
NAME_TAKEN = gettext_lazy("You have a preset of this name already.")
NOT_TAKEN = {
    "empty": gettext_lazy("%(name)s is empty."),
    "picture_too_large": gettext_lazy("%(name)s is too large: a picture may have %(limit)s at most."),
    "text_too_long": gettext_lazy("%(name)s is too long: a text file may have %(chars)s characters at most."),
    "unknown": gettext_lazy(
        "%(name)s cannot be sent: only text files (UTF-8) and pictures (PNG, JPEG, GIF, WebP) can."
    ),
}


class AskForm(forms.Form):
    """`text`, `model` (an `endpoint:model` value; without one the `fallback` is asked), `files`, which `files_taken` has
    read when the form is valid, and how the model is asked: `tuning`, None where the form does not say."""

    text = forms.CharField(
        strip=False,
        error_messages={"required": gettext_lazy("Write something first.")},
    )
    model = forms.CharField(required=False, max_length=300)
    preset = forms.ModelChoiceField(
        Preset.objects.none(),
        required=False,
        error_messages={
            "invalid_choice": gettext_lazy("This preset is no longer there. Choose another one.")
        },
    )
    temperature = forms.TypedChoiceField(choices=TEMPERATURES, coerce=float, empty_value=None, required=False)
    max_tokens = forms.TypedChoiceField(choices=LENGTHS, coerce=int, empty_value=None, required=False)

    def __init__(
        self,
        data: "QueryDict",
        files: "Sequence[UploadedFile[Any]]" = (),
        *,
        max_chars: int,
        models: list[str],
        fallback: str,
        max_files: int = 0,
        presets: "QuerySet[Preset] | None" = None,
    ) -> None:
        super().__init__(data)
        self._uploaded = [each for each in files if each.name]
        self._max_files = max_files
        self.files_taken: list[attachments.Upload] = []
        self._max_chars = max_chars
        self._models = models
        self._fallback = fallback
        if presets is not None:
            cast("forms.ModelChoiceField[Preset]", self.fields["preset"]).queryset = presets
        if data.get("flow") == "plan":
            self.fields["text"].error_messages["required"] = PLAN_OF_NOTHING
        # Django's own validator says "Null characters are not allowed"; a person deserves a sentence.
        self.fields["text"].validators = []

    def clean_text(self) -> str:
        """One kind of line end, no blank edges; too long, empty or with a NUL character is told."""
        text: str = self.cleaned_data["text"].replace("\r\n", "\n").replace("\r", "\n")
        if "\x00" in text:
            raise ValidationError(
                _("There is a NUL character in this text, which cannot be kept. Take it out first.")
            )
        text = text.strip()
        if not text:
            raise ValidationError(self.fields["text"].error_messages["required"])
        if len(text) > self._max_chars:
            over = len(text) - self._max_chars
            raise ValidationError(
                ngettext(
                    "This is %(over)s character over the limit of %(limit)s. Shorten it a little.",
                    "This is %(over)s characters over the limit of %(limit)s. Shorten it a little.",
                    over,
                )
                % {"over": _read(over), "limit": _read(self._max_chars)}
            )
        return text

    def clean_model(self) -> str:
        """One of the models that can be asked now."""
        value: str = self.cleaned_data["model"] or self._fallback
        if not self._models:
            raise ValidationError(_("No model can be asked at the moment."))
        if value not in self._models:
            raise ValidationError(_("This model cannot be asked at the moment. Choose another one."))
        return value

    def clean(self) -> dict[str, object]:
        """Every file is one that can be kept and that the chosen model can be shown."""
        cleaned = super().clean() or {}
        if len(self._uploaded) > self._max_files:
            raise ValidationError(
                ngettext(
                    "Only %(most)s file can go with one message; you chose %(got)s.",
                    "Only %(most)s files can go with one message; you chose %(got)s.",
                    self._max_files,
                )
                % {"most": self._max_files, "got": len(self._uploaded)}
            )
        self.files_taken = [self._take(each) for each in self._uploaded]
        pictured = any(each.kind == AttachmentKind.PICTURE for each in self.files_taken)
        endpoint, _colon, model = str(cleaned.get("model", "")).partition(":")
        if pictured and model and not catalogue.sees(endpoint, model):
            raise ValidationError(
                _("This model cannot see pictures. Choose another model, or send the message without them.")
            )
        if not catalogue.plans(endpoint, model) and self._is_for_plan(str(cleaned.get("text", ""))):
            raise ValidationError(
                _("This model is too small to make a training plan. Choose another one, or ask for less.")
            )
        if cleaned.get("temperature") is not None and model and not catalogue.tunable(endpoint, model):
            raise ValidationError(
                _("This model sets its temperature by itself. Leave that to it, or choose another model.")
            )
        return cleaned

    def _is_for_plan(self, text: str) -> bool:
        """By the button or in words, where this installation makes plans."""
        if flows.plans_of(flows.current(settings.SYSTEM_PROMPT, settings.MATERIAL)) is None:
            return False
        return self.data.get("flow") == "plan" or wants_plan(text)

    @property
    def tuning(self) -> Tuning | None:
        """How the model is to be asked, of a valid form; None where nothing was said, so that nothing changes."""
        if not {"preset", "temperature", "max_tokens"} & self.data.keys():
            return None
        told = self.cleaned_data
        return Tuning(told["preset"], told["temperature"], told["max_tokens"])

    @staticmethod
    def _take(uploaded: "UploadedFile[Any]") -> attachments.Upload:
        try:
            return attachments.read(uploaded.name or "", uploaded.read())
        except attachments.NotTaken as error:
            raise ValidationError(
                NOT_TAKEN[error.why]
                % {"name": error.name, "limit": filesizeformat(error.limit), "chars": _read(error.limit)}
            ) from error


class TitleForm(forms.Form):
    """A conversation's name."""

    title = forms.CharField(
        max_length=120, error_messages={"required": gettext_lazy("A name needs a letter.")}
    )


class InstructionsForm(forms.ModelForm):  # type: ignore[type-arg] # it cannot be subscripted when it runs
    """What every model is told about a person, and how they want to be answered."""

    class Meta:
        model = Preferences
        fields = ("instructions",)

    def clean_instructions(self) -> str:
        return _bounded(self.cleaned_data["instructions"])


class PresetForm(forms.ModelForm):  # type: ignore[type-arg] # it cannot be subscripted when it runs
    """A person's own preset: a name that they have once, and what the model is told."""

    class Meta:
        model = Preset
        fields = ("name", "text")

    def clean_name(self) -> str:
        name = " ".join(str(self.cleaned_data["name"]).split())
        taken = Preset.objects.filter(user_id=self.instance.user_id, name=name).exclude(pk=self.instance.pk)
        if taken.exists():
            raise ValidationError(NAME_TAKEN, "taken")
        return name

    def clean_text(self) -> str:
        return _bounded(self.cleaned_data["text"])


def keep_preset(form: PresetForm) -> bool:
    """Save it; False where it is not valid, and where another tab has just saved one of this name. The second of two clicks
    finds the very same one there, and that is as good."""
    if form.is_valid():
        try:
            with transaction.atomic():
                form.save()
        except IntegrityError:
            form.add_error("name", ValidationError(NAME_TAKEN, "taken"))
        else:
            return True
    if form.instance.pk is not None or not form.has_error("name", "taken"):
        return False
    name, text = " ".join(form.data["name"].split()), form.cleaned_data.get("text")
    return Preset.objects.filter(user_id=form.instance.user_id, name=name, text=text).exists()


def _read(number: int) -> str:
    """As people of the language read it."""
    return number_format(number, 0, use_l10n=True, force_grouping=True)


def _bounded(text: str) -> str:
    """Words for a model go with every request: they are as long as a message may be, at most."""
    text = text.replace("\r\n", "\n").strip()
    longest = settings.GYMNASIA.max_message_chars
    if len(text) > longest:
        raise ValidationError(
            _("This has %(got)s characters; %(limit)s is the most.")
            % {"got": _read(len(text)), "limit": _read(longest)}
        )
    return text
