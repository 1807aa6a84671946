"""The composer's form: a message and a model, checked before any verb is called.

Takes POST data, the limit on characters and the choices of the moment; gives cleaned values or sentences. Text that was
refused stays in the form.
"""

from typing import TYPE_CHECKING

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

if TYPE_CHECKING:
    from django.http import QueryDict


class AskForm(forms.Form):
    """`text` and `model` (an `endpoint:model` value); without a `model` field the `fallback` is asked."""

    text = forms.CharField(
        strip=False,
        error_messages={"required": gettext_lazy("Write something first.")},
    )
    model = forms.CharField(required=False, max_length=300)

    def __init__(self, data: "QueryDict", *, max_chars: int, models: list[str], fallback: str) -> None:
        super().__init__(data)
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


class TitleForm(forms.Form):
    """A conversation's name."""

    title = forms.CharField(
        max_length=120, error_messages={"required": gettext_lazy("A name needs a letter.")}
    )
