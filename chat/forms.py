"""The composer's form: a message and a model, checked before any verb is called.

Takes POST data, the limit on characters and the choices of the moment; gives cleaned values or sentences. Text that was
refused stays in the form.
"""

from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import ValidationError
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from chat import attachments, catalogue
from chat.models import AttachmentKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.core.files.uploadedfile import UploadedFile
    from django.http import QueryDict

NOT_TAKEN = {
    "empty": gettext_lazy("%(name)s is empty."),
    "picture_too_large": gettext_lazy("%(name)s is too large: a picture may have %(limit)s at most."),
    "text_too_long": gettext_lazy("%(name)s is too long: a text file may have %(chars)s characters at most."),
    "unknown": gettext_lazy(
        "%(name)s cannot be sent: only text files (UTF-8) and pictures (PNG, JPEG, GIF, WebP) can."
    ),
}


class AskForm(forms.Form):
    """`text`, `model` (an `endpoint:model` value; without one the `fallback` is asked) and `files`, which
    `files_taken` has read when the form is valid."""

    text = forms.CharField(
        strip=False,
        error_messages={"required": gettext_lazy("Write something first.")},
    )
    model = forms.CharField(required=False, max_length=300)

    def __init__(
        self,
        data: "QueryDict",
        files: "Sequence[UploadedFile[Any]]" = (),
        *,
        max_chars: int,
        models: list[str],
        fallback: str,
        max_files: int = 0,
    ) -> None:
        super().__init__(data)
        self._uploaded = [each for each in files if each.name]
        self._max_files = max_files
        self.files_taken: list[attachments.Upload] = []
        self._max_chars = max_chars
        self._models = models
        self._fallback = fallback
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
            raise ValidationError(_("Write something first."))
        if len(text) > self._max_chars:
            over = len(text) - self._max_chars
            raise ValidationError(
                ngettext(
                    "This is %(over)s character over the limit of %(limit)s. Shorten it a little.",
                    "This is %(over)s characters over the limit of %(limit)s. Shorten it a little.",
                    over,
                )
                % {"over": over, "limit": self._max_chars}
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
        return cleaned

    @staticmethod
    def _take(uploaded: "UploadedFile[Any]") -> attachments.Upload:
        try:
            return attachments.read(uploaded.name or "", uploaded.read())
        except attachments.NotTaken as error:
            raise ValidationError(
                NOT_TAKEN[error.why]
                % {"name": error.name, "limit": filesizeformat(error.limit), "chars": error.limit}
            ) from error


class TitleForm(forms.Form):
    """A conversation's name."""

    title = forms.CharField(
        max_length=120, error_messages={"required": gettext_lazy("A name needs a letter.")}
    )
