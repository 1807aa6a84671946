"""What models are told for a person: about them, and by their presets, each listed and changed by a plain form.

Presets for everybody are the administrators'."""

from django.contrib import messages
from django.contrib.auth.models import AbstractBaseUser
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from chat.forms import InstructionsForm, PresetForm, keep_preset
from chat.models import Preferences, Preset
from chat.views.answers import SeeOther
from chat.views.signed_out import unsent


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def instructions(request: HttpRequest) -> HttpResponse:
    """What every model is told about this person."""
    assert isinstance(request.user, AbstractBaseUser)  # noqa: S101 LoginRequiredMiddleware stands before every view
    row = Preferences.objects.filter(user_id=request.user.pk).first() or Preferences(user_id=request.user.pk)
    form = InstructionsForm(request.POST or None, instance=row)
    if request.method == "POST" and form.is_valid():
        # The other choices in this row may have been made meanwhile.
        Preferences.objects.update_or_create(
            user_id=request.user.pk, defaults={"instructions": form.cleaned_data["instructions"]}
        )
        return _saved(request)
    if text := unsent(request):
        form.initial["instructions"] = text
    return render(request, "chat/instructions.html", {"form": form}, status=400 if form.errors else 200)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def presets(request: HttpRequest) -> HttpResponse:
    """All that this person may choose, and a form for a new one."""
    assert isinstance(request.user, AbstractBaseUser)  # noqa: S101 LoginRequiredMiddleware stands before every view
    form = PresetForm(request.POST or None, instance=Preset(user_id=request.user.pk))
    if request.method == "POST" and keep_preset(form):
        return _saved(request)
    if text := unsent(request):
        form.initial["text"] = text
    offered = Preset.objects.offered_to(request.user)
    own = Preferences.objects.filter(user_id=request.user.pk).values_list("instructions", flat=True).first()
    context = {"form": form, "presets": offered, "instructions": own}
    return render(request, "chat/presets.html", context, status=400 if form.errors else 200)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def preset(request: HttpRequest, preset_id: int) -> HttpResponse:
    """One of the person's own, to be changed."""
    row = get_object_or_404(Preset.objects.owned_by(request.user), pk=preset_id)
    form = PresetForm(request.POST or None, instance=row)
    if request.method == "POST" and keep_preset(form):
        return _saved(request)
    if text := unsent(request):
        form.initial["text"] = text
    return render(
        request, "chat/preset.html", {"form": form, "preset": row}, status=400 if form.errors else 200
    )


@require_POST
def delete(request: HttpRequest, preset_id: int) -> HttpResponse:
    """Conversations that had it go on without it."""
    get_object_or_404(Preset.objects.owned_by(request.user), pk=preset_id).delete()
    return SeeOther(reverse("chat:presets"))


def _saved(request: HttpRequest) -> HttpResponse:
    messages.success(request, _("Saved."))
    return SeeOther(reverse("chat:presets"))
